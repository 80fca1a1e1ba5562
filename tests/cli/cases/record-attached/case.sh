# What --attach-to and --memory are given by mistake; and the answer about a recording that has ended.
try() { "$MALLAB" record "$@" || echo "$?"; }
mkdir empty
printf 'text\n' >file
try --attach-to nowhere --status
try --attach-to file --stop
try --attach-to empty --end
try --json -- echo ran
try --memory 1 -- echo ran
try --memory 100T -- echo ran
try -q -o out --memory 256K -- "$MALLAB_BUILD/tests/shim/shim_churn" 1000
try --attach-to out --stop
try --attach-to out --status | sed 's/after [0-9.]* ms/after a while/; s/, [0-9.]* kB;/, some;/'
try --attach-to out --status --json | grep '"\(schema\|state\|events\|complete\)"'
