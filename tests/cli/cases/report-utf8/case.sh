# With a UTF-8 locale the spread has its sign; colour only when asked for.
LC_ALL=C.UTF-8 "$MALLAB" report --details --color always "$DATA/result.json" | head -n 39
