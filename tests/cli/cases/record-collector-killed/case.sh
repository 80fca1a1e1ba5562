# The collector is killed: CMD goes on and its exit code passes; what it left in shared memory is written at the end.
cat >command <<'END'
"$MALLAB_BUILD/tests/shim/shim_churn" 300000
until [ "$(cat out/shim_churn.*.fp | wc -c)" -gt 10000 ]; do sleep 0.01; done
collector=$(sed -n 's/.*"pid": \([0-9]*\),.*/\1/p' out/recording.json)
kill -9 "$collector"
"$MALLAB_BUILD/tests/shim/shim_churn" 1000
exit 7
END
"$MALLAB" record -o out -- sh command 2>said || echo "$?"
sed '/not whole/d' said >&2 # whether the calls after it found room in what there was is chance
"$MALLAB" info out | grep '^kind\|600,000' | sed 's/recording, .*/recording/'
"$MALLAB" info --json out | grep '"recording_state"' 
"$MALLAB" convert -q -o out.wl out
"$MALLAB" info out.wl | grep '^complete'

# Before anything was written. The shell alone reads, as processes that end are written.
cat >command <<'END'
while read -r key value; do
    [ "$key" != '"pid":' ] || collector=${value%,}
done <early/recording.json
kill -9 "$collector"
exit 8
END
"$MALLAB" record -o early -- sh command || echo "$?"
