# The recorder's mallab: what it records it can read; it says where the other verbs are, and that it reads no traces.
recorder=$MALLAB_BUILD/mallab-recorder
"$recorder" help
"$recorder" --complete ''
"$recorder" record --quiet -o recording -- ls / >/dev/null
"$recorder" info --json recording | grep -m 1 -o '"complete": true'
"$recorder" ab recording || echo "exit $?"
"$recorder" recrod || echo "exit $?"
printf "= Start\n@ /bin/x:[0x1] + 0x10 0x20\n" >heap.mtrace
"$recorder" info heap.mtrace
