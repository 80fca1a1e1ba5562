# A recording that has ended: one frame, as text and as JSON. What is none, or is damaged, is told.
"$MALLAB" record -q --max-size 1M -o out -- "$MALLAB_BUILD/tests/shim/shim_churn" 1000
"$MALLAB" top out
echo
"$MALLAB" top out/recording.json | tail -n 2
cp -R out long
sed -i 's/^  "duration_ns": .*/  "duration_ns": 20000000000,/' long/recording.json
"$MALLAB" top long | sed -n 2p
"$MALLAB" top --json out >json
tr ',' '\n' <json | grep '"schema"\|"state"\|"ended"\|"events"\|"max_size_bytes"\|"threads"\|_known"' | sed -n 1,6p
echo "$(wc -l <json) line"
cp -R out early
sed 's/"processes": \[/"collector": {"pid": 1, "start_ticks": 5}, "processes": [/' out/recording.json >early/recording.json
"$MALLAB" top early | head -n 2
"$MALLAB" top --json early | tr ',' '\n' | grep '"state"\|_known"'
rm early/recording.json
for none in early nowhere json; do
    "$MALLAB" top "$none" || echo "$?"
done
echo '{"schema": "mallab-recording/1", "proc' >early/recording.json
"$MALLAB" top early || echo "$?"
