# Which candidates nothing beats, and who keeps least at rest: as a table, Markdown and CSV.
"$MALLAB" report "$DATA/unbeaten.json"
"$MALLAB" report --format md "$DATA/unbeaten.json"
"$MALLAB" report --format csv "$DATA/unbeaten.json" | cut -d, -f3,31-
