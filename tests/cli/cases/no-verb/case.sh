# Without a verb: how it is used, on stderr, and misuse.
"$MALLAB"
