# Who allocates, of a footprint whose files are nowhere; what has no call stacks is told.
# A tarball's files can be written to by their group, which recordings must not be.
for name in sites calls; do
    cp "$DATA/../../golden/valid/$name.fp" .
    chmod 644 "$name.fp"
done
fp=sites.fp
"$MALLAB" sites "$fp"
"$MALLAB" sites --by module --sort allocations --top 2 "$fp"
"$MALLAB" leaks --stacks "$fp"
"$MALLAB" leaks --at 50% --top 1 "$fp"
"$MALLAB" leaks --tolerate 200 "$fp" >leaks.txt || echo "$?"
"$MALLAB" sites calls.fp || echo "$?"
"$MALLAB" sites --by colour "$fp" || echo "$?"
"$MALLAB" leaks || echo "$?"
"$MALLAB" leaks no-such || echo "$?"
"$MALLAB" leaks --at 90s --top 0 "$fp" >leaks.txt
"$MALLAB" leaks --since 4s --at 2s "$fp" || echo "$?"
"$MALLAB" leaks --since 90s "$fp" || echo "$?"
"$MALLAB" sites --head 1 "$fp"
# a block is damaged
printf '\377\376' | dd of="$fp" bs=1 seek=600 conv=notrunc 2>dd.txt
"$MALLAB" sites "$fp" || echo "$?"
"$MALLAB" sites --salvage "$fp"
"$MALLAB" leaks --salvage "$fp"
"$MALLAB" flame --salvage -o out.html "$fp"
grep -o 'damaged: left out: damaged_blocks, up to [0-9]* calls' out.html
