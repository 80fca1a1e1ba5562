# What many workloads say together, as kept by `mallab report --together --json`: shown, and held against budgets.
for format in table md; do
    "$MALLAB" report --format "$format" "$DATA/fleet-now.json"
done
"$MALLAB" report --format csv "$DATA/fleet-few.json" || echo "exit $?"
"$MALLAB" report --details "$DATA/fleet-few.json"
"$MALLAB" check --budget 'fleet:time<=-2%,fleet:jemalloc:peak<=+60%,fleet:losers<=1' "$DATA/fleet-now.json" || echo "exit $?"
"$MALLAB" check --budget 'fleet:time<=-10%' "$DATA/fleet-now.json" || echo "exit $?"
"$MALLAB" check --budget 'fleet:time<=-40%,fleet:losers<=0' "$DATA/fleet-now.json" || echo "exit $?"
printf 'fleet:time<=-2%%\nfleet:peak<=+3%%\nfleet:losers<=0\n' > budget
"$MALLAB" check --budget budget --junit junit.xml "$DATA/fleet-few.json" || echo "exit $?"
cat junit.xml
sed 's/"losers_share": [0-9.]*/"losers_share": null/g' "$DATA/fleet-now.json" > unknown.json
"$MALLAB" check --budget 'fleet:losers<=10%' unknown.json || echo "exit $?"
"$MALLAB" check --budget 'time<=+3%' "$DATA/fleet-now.json" || echo "exit $?"
"$MALLAB" check --budget 'fleet:time<=+3%' "$DATA/gate-now.json" || echo "exit $?"
"$MALLAB" check --budget 'fleet:other:time<=+3%' "$DATA/fleet-now.json" || echo "exit $?"
"$MALLAB" compare "$DATA/gate-now.json" "$DATA/fleet-now.json" || echo "exit $?"
sed 's/mallab-fleet\/1/mallab-fleet\/2/' "$DATA/fleet-few.json" > newer.json
"$MALLAB" report newer.json || echo "exit $?"
sed 's/"entries": \[{/"entries": [{"failed": "a"}, {/' "$DATA/fleet-few.json" > more.json
"$MALLAB" report more.json || echo "exit $?"
