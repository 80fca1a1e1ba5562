# A trace through pipes to a workload and on: '-' on both sides; an existing file is kept without --force.
trace() { printf '7: malloc 0x1000 %s\n7: calloc 0x2000 4 8\n8: realloc 0x3000 0x1000 64\n8: free 0x3000\n7: free 0x2000\n' "$1"; }
trace 16 | "$MALLAB" convert -q --from android -o - - >piped.wl
trace 16 | "$MALLAB" convert -q --from android -o named.wl -
cmp piped.wl named.wl
trace 32 | "$MALLAB" convert -q --from android -o named.wl - || echo "$?"
cmp piped.wl named.wl
trace 32 | "$MALLAB" convert -q --force --from android -o named.wl -
cmp -s piped.wl named.wl || echo replaced
trace 16 >trace.txt
"$MALLAB" convert -q trace.txt
cmp piped.wl trace.wl
ls
