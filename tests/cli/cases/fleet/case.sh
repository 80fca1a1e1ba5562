# What many workloads say together, of a directory of results: shown. Its document is no result.
python3 "$CASE/make.py"
for format in table md; do
    "$MALLAB" report --together --format "$format" now
done
"$MALLAB" report --together --format csv few || echo "exit $?"
"$MALLAB" report --together --details --expect web-0,web-3,web-5 few || echo "exit $?"
"$MALLAB" check --budget 'fleet:time<=-2%' now/0.json || echo "exit $?"
"$MALLAB" check --budget 'time<=+3%' now || echo "exit $?"
"$MALLAB" compare now few || echo "exit $?"
"$MALLAB" report --together --json now > fleet.json
"$MALLAB" report fleet.json || echo "exit $?"
