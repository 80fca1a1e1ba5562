# --trust-owner takes a user that there is, by name or number; what is not believed is refused with the remedy.
"$MALLAB" record -q -o run -- "$MALLAB_BUILD/tests/shim/shim_churn" 10
"$MALLAB" info --details --trust-owner root run | grep '^complete'
"$MALLAB" info --trust-owner 0 --json run | grep '"kind"'
"$MALLAB" info --trust-owner nobody-at-all run || echo "$?"
"$MALLAB" top --trust-owner 12x run || echo "$?"
chmod g+w run
"$MALLAB" info run || echo "$?"
"$MALLAB" record -o run -- true || echo "$?"
chmod g-w run
ln -s run link
"$MALLAB" info link || echo "$?"
"$MALLAB" info --details link/ | grep '^complete'
ln run/*.fp second
"$MALLAB" convert -o a.wl run || echo "$?"
ls -d run link second
