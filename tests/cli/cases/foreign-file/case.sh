# Files of another kind: one line with the name, exit code 3, nothing left behind.
try() { "$MALLAB" "$@" && echo "accepted: $*" || echo "$?"; }
printf '%s\n' 'not ours at all' >text
printf '{"schema": "other/1"}\n' >other.json
printf '{"schema": "mallab-experiment/99"}\n' >newer.json
printf '{"schema": "mallab-experiment/1"}\n' >hollow.json
try info text
try convert text
try replay text
try ab text
try report text
try report other.json
try report newer.json
try report hollow.json
try info newer.json
try replay "$DATA/result.json"
try ab "$DATA/result.json"
ls
# Each kind of ours, given to a verb that reads another: what it is, and what to do with it.
"$MALLAB" compare --json "$DATA/gate-then.json" "$DATA/gate-now.json" >compared.json || echo "$?"
printf '= Start\n+ 0x10 0x5\n- 0x10\n' >web.mtrace
"$MALLAB" convert -q -o web.wl web.mtrace
"$MALLAB" info --json web.wl >info.json
try convert "$DATA/result.json"
try convert compared.json
try convert other.json
try convert web.wl
try report compared.json
try check --budget 'time<=+3%' compared.json
try compare "$DATA/result.json" info.json
try report web.wl
try info compared.json
try top web.wl
