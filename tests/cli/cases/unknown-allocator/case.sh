# An unknown name: one line that lists the known ones, exit code 2. A missing library: exit code 1 and what to install.
printf "1: malloc 0x1000 16\n1: free 0x1000\n" | "$MALLAB" convert -q --from android -o x.wl -
export MALLAB_ALLOCATORS="$DATA/allocators"
try() { "$MALLAB" "$@" && echo "accepted: $*" || echo "$?"; }
try replay -a nosuch x.wl
try ab -a plain,nosuch x.wl
try ab -b nosuch x.wl
try ab -a none x.wl
try ab -a , x.wl
try replay -a absent x.wl
try ab -a absent x.wl
try replay -a ./nowhere.so x.wl
try ab -a ./nowhere.so x.wl
