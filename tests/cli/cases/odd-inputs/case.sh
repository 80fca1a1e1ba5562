# What is empty, cut off, another's or nothing at all is named as the user named it, once, with the reason and a remedy.
try() { "$MALLAB" "$@" && echo "accepted: $*" || echo "$?"; }
nobody() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
printf '= Start\n' >silent.mtrace
printf '= Start\n+ 0x10 0x5\n- 0x10\n' >web.mtrace
: >empty.wl
mkdir dir none
"$MALLAB" convert -q -o web.wl web.mtrace
head -c 100 web.wl >cut.wl
try convert -q -o silent.wl silent.mtrace
try replay -a none --promises web.wl
try replay silent.wl
try ab silent.mtrace
try replay empty.wl
try replay dir
try replay cut.wl
# without a place to work in
TMPDIR=/absent try ab web.mtrace
try ab --keep web.wl web.mtrace
# no candidates
MALLAB_ALLOCATORS="$PWD/none" try replay web.wl
# another's
chmod 755 .
chmod 000 web.wl
mkdir private
echo '{}' >private/recording.json
chmod 000 private/recording.json
nobody "$MALLAB" info web.wl || echo "$?"
nobody "$MALLAB" replay web.wl || echo "$?"
nobody "$MALLAB" record --control private --status || echo "$?"
# a limit on files stands for a full disk
chmod 644 web.wl
(trap '' XFSZ; ulimit -f 1; "$MALLAB" report --json -o long.json "$DATA/result-passes.json") || echo "$?"
ls
