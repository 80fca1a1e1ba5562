# A small trace with two threads as text, byte for byte; text back to the same workload.
printf '%s\n' '7: malloc 0x1000 16 1000 1010' '7: calloc 0x2000 4 8 1100 1110' '7: memalign 0x4000 64 100 1200 1210' \
    '8: realloc 0x3000 0x1000 64 1300 1310' '8: realloc 0x5000 0x0 24 1400 1410' '8: free 0x3000 1500 1510' \
    '7: free 0x2000 1600 1610' '7: free 0x0 1700 1710' '8: thread_done 0x0' >trace
"$MALLAB" convert -q --from android -o a.wl trace
"$MALLAB" convert -q --to text -o - a.wl | sed 's/^meta mallab_version=.*/meta mallab_version=/'
"$MALLAB" convert -q --to text a.wl
"$MALLAB" convert -q -o b.wl a.txt
"$MALLAB" convert -q -o c.wl a.wl
cmp a.wl b.wl
cmp a.wl c.wl
gzip -c a.txt | "$MALLAB" convert -q -o - - | cmp a.wl -
"$MALLAB" convert -q --from android --to text -o trace.txt trace
cmp trace.txt a.txt
"$MALLAB" convert -q --to text a.wl || echo "$?"
"$MALLAB" convert -q -f --to text --json a.wl | sed -n '/"export"/,/}/p'
printf 'mallab-workload-text 1\nthread 0 1\n0 free 1\nend 0\n' >bad.txt
"$MALLAB" convert -q bad.txt || echo "$?"
"$MALLAB" convert -q --to text -o no/where.txt a.wl || echo "$?"
"$MALLAB" convert -q --to text -o - a.wl >/dev/full || echo "$?"
ls
