"$MALLAB" --version
