# What is no file that can be read again, and what holds nothing: one line that says what to do.
try() { "$MALLAB" "$@" && echo "accepted: $*" || echo "$?"; }
mkdir dir
: >empty.wl
try ab -
try replay -
try ab dir
try replay dir
try convert dir
try info dir
try report dir
try ab empty.wl
try info empty.wl
: | try convert -o x.wl -
ls
