# Words that earlier versions took: one line that says what to do instead, exit code 2, nothing on stdout.
try() { "$MALLAB" "$@" && echo "accepted: $*" || echo "$?"; }
try plan x
try cell --index 3 plan
try collect x
try pack x
try validate -- true
try help validate
try record --sample 1/100 -- true
try record --sample=1/100 -- true
try ab --sites -- true
try ab --cost x.wl
try sites --without parse x
try convert --without-site=parse x
try flame --allocators glibc r.json
# Behind the command's first word they are the command's own.
"$MALLAB" record -q -o recording -- env echo --sample
for option in --pin=2 '--nice 5' --progress '--touch full' '--idle 0' --no-syscalls --until=2% '--resolve 2%' '--memory-rounds 0' '--commit r77'; do
    try ab $option x
done
try replay --syscalls x
try replay --idle 5s x
try replay --idle-with calls x
try convert --no-progress x
for option in '--baseline glibc' '--label nightly' --check; do
    try ab $option x
done
try confirm --baseline=glibc -- true
try replay --check x
try record --keep 12 -- true
try record --control x --stop
try record --control x --start
try record --timeout 1s --pid 1
try leaks --budget 1M x
try record --order stamps -- true
