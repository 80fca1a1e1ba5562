# What --control and --memory are given by mistake; and the answer about a recording that has ended.
try() { "$MALLAB" record "$@" || echo "$?"; }
mkdir empty
printf 'text\n' >file
try --control nowhere --status
try --control file --pause
try --control empty --end
try --json -- echo ran
try --memory 1 -- echo ran
try --memory 100T -- echo ran
try -q -o out --memory 256K -- "$MALLAB_BUILD/tests/shim/shim_churn" 1000
try --control out --pause
try --control out --status | sed 's/after [0-9.]* ms/after a while/; s/, [0-9.]* kB;/, some;/'
try --control out --status --json | grep '"\(schema\|state\|events\|complete\)"'
