"$MALLAB" recrod -- true
