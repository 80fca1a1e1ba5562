for format in table md json; do
    "$MALLAB" compare --format "$format" "$DATA/gate-then.json" "$DATA/gate-now.json"
done
"$MALLAB" compare "$DATA/gate-few.json" "$DATA/gate-now.json" || echo "exit $?"
"$MALLAB" compare --any-workload "$DATA/gate-few.json" "$DATA/gate-now.json"
"$MALLAB" compare "$DATA/gate-now.json" || echo "exit $?"
"$MALLAB" compare "$DATA/gate-now.json" "$CASE/case.sh" || echo "exit $?"
