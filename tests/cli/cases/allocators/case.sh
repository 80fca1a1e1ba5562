# The list: found, missing with its package, settings, a damaged file left out with a warning.
export MALLAB_ALLOCATORS="$DATA/allocators"
"$MALLAB" allocators | sed 's#/[^ ]*/libc[.]so[.]6#LIBC#; s/ 2[.][0-9]* / 2.xx /'
"$MALLAB" allocators --json 2>/dev/null | grep -c '"name"'
"$MALLAB" allocators --json 2>/dev/null | grep -c '"found": true'
MALLAB_ALLOCATORS=absent "$MALLAB" allocators || echo "$?"
