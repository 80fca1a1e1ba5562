# Every format, byte for byte, of a small trace with two threads; text back to the same workload; what is lost is told.
printf '%s\n' '7: malloc 0x1000 16 1000 1010' '7: calloc 0x2000 4 8 1100 1110' '7: memalign 0x4000 64 100 1200 1210' \
    '8: realloc 0x3000 0x1000 64 1300 1310' '8: realloc 0x5000 0x0 24 1400 1410' '8: free 0x3000 1500 1510' \
    '7: free 0x2000 1600 1610' '7: free 0x0 1700 1710' '8: thread_done 0x0' >trace
"$MALLAB" convert -q --from android -o a.wl trace
for format in text csv; do
    echo "-- $format"
    "$MALLAB" convert -q --to "$format" -o - a.wl | sed 's/^meta mallab_version=.*/meta mallab_version=/'
done
"$MALLAB" convert -q --to text a.wl
"$MALLAB" convert -q -o b.wl a.txt
"$MALLAB" convert -q -o c.wl a.wl
cmp a.wl b.wl
cmp a.wl c.wl
gzip -c a.txt | "$MALLAB" convert -q -o - - | cmp a.wl -
"$MALLAB" convert -q --from android --to csv -o trace.csv trace 2>/dev/null
"$MALLAB" convert -q --to csv -o text.csv a.txt 2>/dev/null
cmp trace.csv text.csv
"$MALLAB" convert -q --to csv a.wl
"$MALLAB" convert -q --to csv a.wl || echo "$?"
"$MALLAB" convert -q -f --to csv --json a.wl | sed -n '/"export"/,/}/p'
printf 'mallab-workload-text 1\nthread 0 1\n0 free 1\nend 0\n' >bad.txt
"$MALLAB" convert -q bad.txt || echo "$?"
"$MALLAB" convert -q --to csv -o no/where.csv a.wl || echo "$?"
"$MALLAB" convert -q --to csv -o - a.wl >/dev/full || echo "$?"
ls
