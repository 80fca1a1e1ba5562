# What was nearly right is answered with what was meant; what is no result, with what it is.
try() { "$MALLAB" "$@" || echo "exit $?"; }
try report --formt=md x.json
try convert --ouput x y
try record --pa
try help docter
try --verbos
: >empty.json
try report empty.json
printf 'MALLABWL then' >work.wl
try report work.wl
try compare work.wl work.wl
printf '{"schema": "mallab-ex' >cut.json
try report cut.json
mkdir results recording
: >recording/recording.json
try report results
try report recording
try ab -o absent/result.json work.wl
# A command where a recording is named: what was understood, and what to type. One that makes no call: why, and what helps.
"$MALLAB" ab true || echo "$?"
"$MALLAB" ab nosuchcommand || echo "$?"
"$MALLAB" ab -q -- true || echo "$?"
