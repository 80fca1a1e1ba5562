# A recording is looked at while it goes on; then copies of it with what may happen to them.
mkfifo end
"$MALLAB" record -q -o out -- sh -c '"$MALLAB_BUILD/tests/shim/shim_churn" 300000 || exit 1; read -r line <end; exit 7' &
job=$!
trap 'kill "$job"' EXIT
until [ -e out/recording.json ] && [ "$(cat out/*.fp 2>cat-errors | wc -c)" -gt 10000 ]; do
    kill -0 "$job"
    sleep 0.01
done
show() { "$MALLAB" info --details "$1" | grep '^complete\|^lost'; }
show out
"$MALLAB" info --json out | grep '"recording_state"\|"collector_pid"\|"unfinished_why"'
"$MALLAB" convert -q -o now.wl out
cp -R out copy
show copy
echo '{"schema": "mallab-recording/1", "proc' >copy/recording.json
show copy
rm copy/recording.json
show copy
: >copy/empty.1.fp
ln -s ../nowhere copy/link.1.fp
show copy
rm copy/*.fp
: >copy/empty.1.fp
"$MALLAB" info copy || echo "$?"
cp out/recording.json copy
"$MALLAB" info copy || echo "$?"
"$MALLAB" convert copy || echo "$?"
# The same, where it is written: its collector has not come so far.
mkdir moved
mv out/*.fp moved
"$MALLAB" info out || echo "$?"
"$MALLAB" convert out || echo "$?"
mv moved/* out
trap - EXIT
echo >end
wait "$job" || echo "$?"
show out
