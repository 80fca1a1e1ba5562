# stdout that cannot be written is a failure, not a silence.
"$MALLAB" report "$DATA/result.json" >/dev/full || echo "$?"
"$MALLAB" help >/dev/full || echo "$?"
