# Whether a file may be executed: workloads, texts, traces; damaged ones are told with their place, exit code 3.
printf '%s\n' '7: malloc 0x1000 16' '8: realloc 0x3000 0x1000 64' '8: free 0x3000' >trace
"$MALLAB" convert -q --from android -o a.wl trace
"$MALLAB" convert -q --to text a.wl
for file in a.wl a.txt trace; do
    "$MALLAB" info --verify "$file"
done
"$MALLAB" info --verify --json a.wl | sed -n '/"verify"/,$p'
# The end, then the window's payload.
size=$(wc -c <a.wl)
head -c $((size - 1)) a.wl >cut.wl
"$MALLAB" info --verify cut.wl >said || echo "$?"
sed '/^offset/s/ [0-9]*$/ .../' said
{ head -c 330 a.wl; printf 'XXXX'; tail -c +335 a.wl; } >hit.wl
"$MALLAB" info --verify --json hit.wl | sed -n '/"verify"/,$p' | sed '/offset_bytes/s/: [0-9]*/: .../'
sed 's/free 1/free 2/' a.txt >dead.txt
"$MALLAB" info --verify dead.txt >said || echo "$?"
sed '/^offset/s/ [0-9]*$/ .../' said
"$MALLAB" info --verify none.wl || echo "$?"
"$MALLAB" info --verify --salvage a.wl || echo "$?"
"$MALLAB" info --verify "$DATA/result.json" || echo "$?"
# What is cut is legal as far as it goes, and says that it is cut.
"$MALLAB" info --verify "$DATA/../../golden/valid/no-trailer.fp"
