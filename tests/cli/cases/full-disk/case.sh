# stdout that cannot be written is a failure with its reason, not a silence, however long the answer is.
try() { "$MALLAB" "$@" >/dev/full && echo "accepted: $*" || echo "$?"; }
printf '= Start\n+ 0x10 0x5\n- 0x10\n' >web.mtrace
"$MALLAB" convert -q -o web.wl web.mtrace
try report "$DATA/result.json"
try report --json "$DATA/result.json"
try help
try help ab
try info web.wl
try info --json web.wl
try compare --json "$DATA/gate-then.json" "$DATA/gate-now.json"
try check --budget 'time<=+90%' "$DATA/gate-now.json"
try allocators
cp "$DATA/../../golden/valid/sites.fp" .
chmod 644 sites.fp
try sites sites.fp
try leaks sites.fp
try convert --to text -o - web.wl
