# What goes in comes out.
"$MALLAB" report --json "$DATA/result.json" >again.json
"$MALLAB" report again.json >table
"$MALLAB" report "$DATA/result.json" | cmp - table
