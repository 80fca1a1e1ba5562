# Where nothing can be written: said before any work is done, exit code 1 (125 for a recording).
try() { "$MALLAB" "$@" && echo "accepted: $*" || echo "$?"; }
echo precious >taken
try report -o taken "$DATA/result.json"
try report -o absent/out "$DATA/result.json"
try ab -o taken whatever.wl
try ab -o absent/out whatever.wl
try ab -o absent/out -- true
try record -o absent/deep -- true
try record -o taken -- true
cat taken
"$MALLAB" report --format csv -f -o taken "$DATA/result.json"
head -c 8 taken; echo
ls
# Where the system refuses, whoever we are.
try report -o /sys/out "$DATA/result.json"
try record -o /sys/out -- true
