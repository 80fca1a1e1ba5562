# What cannot be written is told by a name that the user knows, and with a remedy that is one.
awk 'BEGIN { srand(1); for (i = 1; i < 60000; i++) printf "1: malloc 0x%x%04x %d\n", i, rand() * 65536, rand() * 65536 }' >long.txt
mkdir out
(trap '' XFSZ; ulimit -f 8; "$MALLAB" convert -q --to text -o out/long.txt long.txt) || echo "$?"
(trap '' XFSZ; ulimit -f 8; TMPDIR="$PWD/out" "$MALLAB" convert -q --to text -o - long.txt) || echo "$?"
# a reader that has had enough, where SIGPIPE is ignored
(trap '' PIPE; "$MALLAB" convert -q --to text -o - long.txt || echo "$?" >code) | true
cat code
# where the cause says it all no remedy is put behind it
printf 'mallab-workload-text 9\n' >newer.txt
"$MALLAB" convert newer.txt || echo "$?"
"$MALLAB" convert --from mtrace -o empty.wl /dev/null || echo "$?"
"$MALLAB" convert -q long.txt
gzip -k long.wl
"$MALLAB" convert -o packed.wl long.wl.gz || echo "$?"
ls . out
