# The collector is killed: COMMAND goes on and its exit code passes; what it left in shared memory is written at the end.
cat >command <<'END'
"$MALLAB_BUILD/tests/shim/shim_churn" 300000
tries=0
until [ "$(cat out/shim_churn.*.fp | wc -c)" -gt 10000 ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 3000 ] || exit 9 # a run whose program is missing ends, too
    sleep 0.01
done
collector=$(sed -n 's/.*"pid": \([0-9]*\),.*/\1/p' out/recording.json)
kill -9 "$collector"
"$MALLAB_BUILD/tests/shim/shim_churn" 1000
exit 7
END
"$MALLAB" record -o out -- sh command 2>said || echo "$?"
# Whether the calls after it found room in what there was is chance; as is whether the command still runs when its
# death is seen, which is then said at once (tests/e2e/test_stops.py).
sed '/not whole/d; /ended early/d' said >&2
"$MALLAB" info --details out | grep '^file\|600,000' | sed 's/recording .*/recording/'
"$MALLAB" info --json out | grep '"recording_state"' 
"$MALLAB" convert -q -o out.wl out
"$MALLAB" info --details out.wl | grep '^complete'

# Before anything was written. The shell alone reads, as processes that end are written.
cat >command <<'END'
while read -r key value; do
    [ "$key" != '"pid":' ] || collector=${value%,}
done <early/recording.json
kill -9 "$collector"
exit 8
END
"$MALLAB" record -o early -- sh command 2>said || echo "$?"
sed '/ended early/d' said >&2
