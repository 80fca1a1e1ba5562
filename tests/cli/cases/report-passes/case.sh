"$MALLAB" report "$DATA/result-passes.json"
