# Outputs go to regular files, through symbolic links; a pipe or a device is never replaced by a file.
try() { "$MALLAB" "$@" && echo "accepted: $*" || echo "$?"; }
printf '= Start\n+ 0x10 0x5\n- 0x10\n' >web.mtrace
mkfifo pipe
try convert -q -f -o pipe web.mtrace
try convert -q -o pipe web.mtrace
try report -f -o pipe "$DATA/result.json"
test -p pipe && echo "still a pipe"
mkdir elsewhere
echo old >elsewhere/real.wl
ln -s elsewhere/real.wl link.wl
try convert -q -o link.wl web.mtrace
try convert -q -f -o link.wl web.mtrace
test -L link.wl && "$MALLAB" info --verify elsewhere/real.wl | grep -c legal
echo old >elsewhere/table
ln -s elsewhere/table table
try report -f -o table "$DATA/result.json"
test -L table && grep -c jemalloc elsewhere/table
ln -s nowhere dangling.wl
try convert -q -f -o dangling.wl web.mtrace
try convert -q -o '' web.mtrace
try report -o '' "$DATA/result.json"
try ab -o '' web.mtrace
try info -dash.wl
try convert -q -f -o elsewhere web.mtrace
ls . elsewhere
