"$MALLAB" report --format md "$DATA/result.json"
