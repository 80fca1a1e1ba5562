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
