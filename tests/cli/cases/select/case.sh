# Parts of a small trace: what convert says of them, what info then shows, and what is not there.
i=0
while [ "$i" -lt 60 ]; do
    printf '%d: malloc 0x%x %d %d %d\n' "$((7 + i % 3))" "$((4096 + i * 64))" "$((i + 1))" "$((i * 1000000))" "$((i * 1000000 + 50))"
    [ "$((i % 4))" -ne 3 ] || printf '7: free 0x%x %d %d\n' "$((4096 + i * 64 - 128))" "$((i * 1000000 + 100))" "$((i * 1000000 + 120))"
    i=$((i + 1))
done >trace.txt
say() { "$MALLAB" "$@" 2>&1 | sed 's/, [0-9.]* bytes each, written to/ in/; s/ in [0-9.]* [mu]*s\( (.*\)\{0,1\}$//'; }
say convert -o section.wl --from-time 20ms --to-time 40ms trace.txt
say convert -o parts.wl --from-time 50% --head 5 trace.txt
for workload in section parts; do
    "$MALLAB" info --details "$workload.wl" | grep -E '^(selected|inherited|irregular|calls|memory|live at|   +[0-9]*: )'
done
"$MALLAB" info --json --head 7 trace.txt | grep -A 8 -E '"selection"'
"$MALLAB" convert -o none.wl --from-time 2m trace.txt || echo "$?"
"$MALLAB" info --head 1 parts.wl || echo "$?"
ls
