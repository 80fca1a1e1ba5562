# A recording that has ended: one frame, as text and as JSON. What is none, or is damaged, is told, and where.
"$MALLAB" record -q -o out -- "$MALLAB_BUILD/tests/shim/shim_churn" 1000
"$MALLAB" top out
echo
"$MALLAB" top --sort live out/recording.json | tail -n 2
"$MALLAB" top --json out >json
tr ',' '\n' <json | grep '"schema"\|"state"\|"ended"\|"events"\|"left_objects"\|"threads"' | sed -n 1,6p
echo "$(wc -l <json) line"
"$MALLAB" top --process "$(sed -n 's/.*"pid": \([0-9]*\),.*/\1/p' out/recording.json)" --once out | grep '^processes'
"$MALLAB" top --process 1 out || echo "$?"
cp -R out early
sed 's/"processes": \[/"collector": {"pid": 1, "start_ticks": 5}, "processes": [/' out/recording.json >early/recording.json
"$MALLAB" top early | grep 'shim_churn:\|^note'
rm early/recording.json
"$MALLAB" top early | grep 'shim_churn:\|^note'
mkdir empty
"$MALLAB" top empty || echo "$?"
"$MALLAB" top nowhere || echo "$?"
"$MALLAB" top json || echo "$?"
for file in early/*.fp; do
    printf 'XXXX' | dd of="$file" bs=1 seek=400 conv=notrunc 2>dd-said
    mv "$file" early/churn.fp
done
"$MALLAB" top early || echo "$?"
