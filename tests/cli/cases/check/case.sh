code() { "$@" && echo "exit 0" || echo "exit $?"; }
code "$MALLAB" check --budget 'time<=+3%,rss-peak<=+5%,slim:rss-peak<=64MiB' "$DATA/gate-now.json"
code "$MALLAB" check --budget 'slim:time<=+3%,slim:rss-peak<=64MiB' "$DATA/gate-now.json"
code "$MALLAB" check --budget 'close:time<=+3%' "$DATA/gate-now.json"
code "$MALLAB" check --inconclusive pass --budget 'close:time<=+3%' "$DATA/gate-now.json"
code "$MALLAB" check --inconclusive fail --budget 'close:time<=+3%' "$DATA/gate-now.json"
code "$MALLAB" check --budget 'time<=+3%' "$DATA/gate-few.json"
code "$MALLAB" check --baseline "$DATA/gate-then.json" --budget 'time<=+5%' "$DATA/gate-now.json"
cat > budget <<'RULES'
time<=+3%
fat:time<=+50%
close:time<=+50%
br<o>ke|n%:time<=+1000% # a name may be any
RULES
code "$MALLAB" check --budget budget "$DATA/gate-now.json"
