# What a small workload holds, as text: calls, sizes with their bars, live figures.
i=0
while [ "$i" -lt 40 ]; do
    printf '7: malloc 0x%x %d\n' "$((4096 + i * 64))" "$((i / 8 * 20))"
    i=$((i + 1))
done >trace.txt
printf '8: memalign 0x9000 64 5000\n8: free 0x9000\n8: thread_done 0x0\n' >>trace.txt
"$MALLAB" convert -q --from android trace.txt
"$MALLAB" info --details trace.wl | sed '/^size/s/ [0-9].*//'
"$MALLAB" info trace.wl
