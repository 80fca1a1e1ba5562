# A file that is not there: one line with its name, exit code 3.
try() { "$MALLAB" "$@" && echo "accepted: $*" || echo "$?"; }
try info absent.fp
try convert absent.fp
try replay absent.wl
try ab absent.wl
try report absent.json
ls
