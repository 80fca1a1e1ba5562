# Replay of what is no workload yet: what it is, and the command line that makes one of it.
try() { "$MALLAB" "$@" && echo "accepted: $*" || echo "$?"; }
printf '= Start\n+ 0x10 0x5\n- 0x10\n' >web.mtrace
printf '1: malloc 0x10 5\n' | gzip >ui.txt.gz
printf '100\n1\n1\n1\na 0 5\n' >old.rep
"$MALLAB" convert -q --to text -o some.txt web.mtrace
try replay web.mtrace
try replay ui.txt.gz
try replay old.rep
try replay some.txt
"$MALLAB" convert -q -o web.mtrace.wl web.mtrace
"$MALLAB" info --json web.mtrace.wl | grep -o '"ops": *[0-9]*'
ls
