"$MALLAB" report --details "$DATA/result-passes.json"
