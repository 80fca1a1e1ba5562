# Options of passes, processors and priority: each misuse is one line and a hint, exit code 2, nothing on stdout.
try() { "$MALLAB" "$@" && echo "accepted: $*" || echo "$?"; }
try replay --latency --syscalls x
try replay --syscalls --check x
try replay --pin some x
try replay --pin 3-1 x
try replay --pin 1023 x
try replay --nice 20 x
try ab --pin '' x
try ab --pin 0, x
try ab --nice -21 x
try ab --nice ' 3' x
try ab --latency=yes x
