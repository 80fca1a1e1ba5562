# The keys that scripts may rely on (DESIGN: info --json).
printf '7: malloc 0x1000 16\n7: malloc 0x2000 100\n7: free 0x1000\n' >trace.txt
"$MALLAB" info --json --from android trace.txt >info.json
"$MALLAB" convert -q --from android trace.txt
"$MALLAB" info --json trace.wl >workload.json
for file in info.json workload.json; do
    for key in schema kind events threads processes duration_ns requested_bytes live_peak_bytes live_peak_objects complete; do
        grep "^  \"$key\":" "$file"
    done
    grep -c '"events_by_call": {\|"lost": {\|"bytes_per_event": ' "$file"
done
