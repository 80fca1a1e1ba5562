# Other tools' traces: what is told on the way, defaults of names, what is refused and how.
printf '= Start\n+ 0x10 0x10\n- 0x10\n' >one.log
"$MALLAB" convert one.log 2>&1 | sed 's/ written to \(.*\) in .*/ written to \1/'
# of any other, a line of awk makes the text (docs/importing.md)
printf 'malloc 7f10 16\nmalloc 7f40 5\nfree 7f10\nmalloc 7f10 9\nfree 99\n' |
    awk 'BEGIN { print "mallab-workload-text 1\nthread 0 1 main" }
        $1 == "malloc" { print 0, $1, id[$2] = ++n, $3 }
        $1 == "free" { print 0, $1, id[$2] + 0; delete id[$2] } END { print "end 0" }' >any.txt
"$MALLAB" convert -q -o any.wl any.txt
"$MALLAB" info --details any.wl | grep '^calls\|live at end'
"$MALLAB" convert -q -o fourth.wl --process 8 one.log || echo "$?"
gzip -c one.log | "$MALLAB" info --details - | grep '^file\|^size'
printf '= Start\n+ 0x10 0x10\n+ 0x20\n' >bad.log
"$MALLAB" convert -o bad.wl bad.log || echo "$?"
"$MALLAB" info --from rep one.log || echo "$?"
printf 'v 10400 3\nX prog\ns 4 main\na 10 1\n+ 0\n' >interpreted
"$MALLAB" convert -o interpreted.wl interpreted || echo "$?"
printf '= Start\n+ 0x10 0x10\n- 0' >cut.log
"$MALLAB" convert -q cut.log
ls
