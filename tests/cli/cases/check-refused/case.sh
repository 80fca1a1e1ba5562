refused() { "$MALLAB" check "$@" && echo "exit 0" || echo "exit $?"; }
refused "$DATA/gate-now.json"
refused --budget 'time<=+3%'
refused --budget 'time<=+3%,tine<=+3%' "$DATA/gate-now.json"
refused --budget absent "$DATA/gate-now.json"
printf 'time<=+3%%\nrss<=+3%%\n' > wrong
refused --budget wrong "$DATA/gate-now.json"
refused --budget 'p99<=+5%' "$DATA/gate-now.json"
refused --budget 'rss-idle<=1MB' "$DATA/gate-now.json"
refused --budget 'absent:time<=+5%' "$DATA/gate-now.json"
refused --budget 'time<=+3%' wrong
refused --budget 'time<=+3%' --baseline wrong "$DATA/gate-now.json"
refused --budget 'time<=+3%' --baseline "$DATA/gate-few.json" "$DATA/gate-now.json"
refused --budget 'time<=+3%' --any-workload --baseline "$DATA/gate-few.json" "$DATA/gate-now.json"
refused --budget 'time<=+3%' --inconclusive maybe "$DATA/gate-now.json"
refused --budget 'time<=+3%' --format csv "$DATA/gate-now.json"
refused --budget 'time<=+3%' --junit - "$DATA/gate-now.json"
refused --budget 'slim:time<=+3%' --junit wrong "$DATA/gate-now.json"
refused --budget 'slim:time<=+3%' --md no/where.md "$DATA/gate-now.json"
