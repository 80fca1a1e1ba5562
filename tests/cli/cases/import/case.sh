# Other tools' traces: what is told on the way, defaults of names, what is refused and how.
printf 'x10 = malloc(16);\nfree(x10);\n' >one.log
"$MALLAB" convert --no-progress one.log 2>&1 | sed 's/ written to \(.*\) in .*/ written to \1/'
printf '7 7 malloc(16)=0x10\n8 8 malloc(5)=0x10\n8 9 free(0x10)\n' >two.trace
"$MALLAB" convert -q -o first.wl two.trace
"$MALLAB" convert -q -o second.wl --process 8 two.trace
"$MALLAB" convert -q -o third.wl --process 9 two.trace || echo "$?"
"$MALLAB" convert -q -o fourth.wl --process 8 one.log || echo "$?"
printf '1: malloc 0x10 5\n2: malloc 0x20 6\n2: thread_done 0x0\n2: malloc 0x30 6\n' >again.txt
"$MALLAB" convert -q -o fourth.wl --threads 7 again.txt || echo "$?"
"$MALLAB" info --details two.trace | grep 'processes\|lacks'
"$MALLAB" info --details second.wl | grep '^calls\|lacks'
gzip -c one.log | "$MALLAB" info --details - | grep '^file\|^size'
printf 'x10 = malloc(16);\nx20 = malloc(16\n' >bad.log
"$MALLAB" convert -o bad.wl bad.log || echo "$?"
"$MALLAB" info --from rep one.log || echo "$?"
printf 'v 10400 3\nX prog\ns 4 main\na 10 1\n+ 0\n' >interpreted
"$MALLAB" convert -o interpreted.wl interpreted || echo "$?"
printf 'x10 = malloc(16);\nfree(x' >cut.log
"$MALLAB" convert -q cut.log
ls
