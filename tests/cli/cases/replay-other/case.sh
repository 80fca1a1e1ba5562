# Replay of what is no workload yet: it is converted first, and nothing of that stays.
try() { "$MALLAB" "$@" >answer || echo "$?"; grep -o '"ops":[0-9]*' answer | head -1; }
printf '= Start\n+ 0x10 0x5\n- 0x10\n' >web.mtrace
printf '1: malloc 0x10 5\n' | gzip >ui.txt.gz
printf '100\n1\n1\n1\na 0 5\n' >old.rep
mkdir group tmp
export TMPDIR="$PWD/tmp"
"$MALLAB" convert -q --to text -o some.txt web.mtrace
"$MALLAB" convert -q -o group/one.wl web.mtrace
"$MALLAB" convert -q -o group/other.wl web.mtrace
for file in web.mtrace ui.txt.gz old.rep some.txt group; do try replay -a none --json "$file"; done
ls tmp
