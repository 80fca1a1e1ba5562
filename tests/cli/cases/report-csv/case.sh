# Two results: one heading.
"$MALLAB" report --format csv "$DATA/result.json" - <"$DATA/result.json"
