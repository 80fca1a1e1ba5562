# Who allocates, of a footprint whose files are nowhere; what has no call stacks is told.
# A tarball's files can be written to by their group, which recordings must not be.
for name in v4-sites v1-calls; do
    cp "$DATA/../../golden/valid/$name.fp" .
    chmod 644 "$name.fp"
done
fp=v4-sites.fp
"$MALLAB" sites "$fp"
"$MALLAB" sites --by module --sort allocations --top 2 "$fp"
"$MALLAB" sites --format csv --top 2 "$fp"
"$MALLAB" leaks --stacks "$fp"
"$MALLAB" leaks --at 50% --top 1 "$fp"
"$MALLAB" leaks --budget 200 "$fp" >leaks.txt || echo "$?"
"$MALLAB" sites v1-calls.fp || echo "$?"
"$MALLAB" sites --by colour "$fp" || echo "$?"
"$MALLAB" leaks || echo "$?"
"$MALLAB" leaks no-such || echo "$?"
