# A bound below which nothing could be kept is refused, before anything runs; the least one keeps something.
"$MALLAB" record --max-size 511K -o out -- echo ran || echo "$?"
ls
"$MALLAB" record -q --max-size 512K -o out -- "$MALLAB_BUILD/tests/shim/shim_churn" 1000000
"$MALLAB" info --json out | grep '^  "events"'
test "$(cat out/*.fp | wc -c)" -le 524288
