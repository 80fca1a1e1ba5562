# Damaged traces: refused, and what of them converts with --salvage is told by convert, and by info of the workload.
printf '= Start\n+ 0x10 0x5\n+ 0x20 5\n\000\001junk\n< 0x10\n- 0x90\n> 0x30 0x6\n- 0x30\n= End\n' >torn.mtrace
"$MALLAB" convert -q torn.mtrace || echo "$?"
ls
"$MALLAB" convert --salvage torn.mtrace 2>&1 | sed 's/ written to \(.*\) in .*/ written to \1/'
"$MALLAB" info --details torn.mtrace.wl | grep 'complete\|lost\|left out\|irregular\|repaired'
"$MALLAB" info --json torn.mtrace.wl | tr -d ' \n' | grep -o '"lost":{[^}]*}\|"lost_known":[a-z]*\|"torn_reallocs":[0-9]*'
# of a packed one as much as can be unpacked
awk 'BEGIN { srand(1); for (i = 1; i < 30000; i++) printf "1: malloc 0x%x%04x %d\n", i, rand() * 65536, rand() * 65536 }' >long.txt
gzip -c long.txt | head -c 200000 >cut.gz
"$MALLAB" info cut.gz >/dev/null || echo "$?"
"$MALLAB" info --details --salvage cut.gz | grep 'complete\|lost\|left out\|more'
"$MALLAB" info --details --salvage - <cut.gz | grep '^file'
# nothing to salvage
head -c 100000 "$MALLAB" >garbage
"$MALLAB" convert --salvage -o out.wl garbage || echo "$?"
"$MALLAB" convert --salvage --from mtrace -o out.wl garbage || echo "$?"
ls
