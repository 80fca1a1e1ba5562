"$MALLAB" report "$DATA/result.json"
