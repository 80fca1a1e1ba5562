# Who keeps least at rest: as a table, Markdown and CSV.
"$MALLAB" report "$DATA/result-rest.json"
"$MALLAB" report --format md "$DATA/result-rest.json"
"$MALLAB" report --format csv "$DATA/result-rest.json" | cut -d, -f3,30-
