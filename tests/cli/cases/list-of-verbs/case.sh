"$MALLAB" help
