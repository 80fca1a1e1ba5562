# The collector is killed: CMD goes on and its exit code passes; what was written before is told, shown and converted.
cat >command <<'END'
"$MALLAB_BUILD/tests/shim/shim_churn" 300000
until [ "$(cat out/shim_churn.*.fp | wc -c)" -gt 10000 ]; do sleep 0.01; done
collector=$(sed -n 's/.*"pid": \([0-9]*\),.*/\1/p' out/recording.json)
kill -9 "$collector"
"$MALLAB_BUILD/tests/shim/shim_churn" 1000
exit 7
END
"$MALLAB" record -o out -- sh command || echo "$?"
"$MALLAB" info out | grep '^complete\|^lost\|shim_churn\|^kind' | sed 's/recording, .*/recording/'
"$MALLAB" info --json out | grep '"recording_state"\|"complete": false,$' | sort -u
"$MALLAB" convert -q -o out.wl out
"$MALLAB" info out.wl | grep '^complete'

# Of nothing written nothing can be used. The shell alone reads, as processes that end are written.
cat >command <<'END'
while read -r key value; do
    [ "$key" != '"pid":' ] || collector=${value%,}
done <early/recording.json
kill -9 "$collector"
exit 8
END
"$MALLAB" record -o early -- sh command || echo "$?"
