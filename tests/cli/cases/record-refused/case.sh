# What cannot be recorded: one line and env(1)'s exit codes; the command does not run, no directory is made.
try() { "$MALLAB" record -o out -- "$@" && echo "accepted: $*" || echo "$?"; }
printf 'text\n' >text
printf '#!/nowhere/sh\n' >script; chmod +x script
mkdir directory
head -c 30 /bin/sh >stub; chmod +x stub
cp /bin/sh setuid; chmod u+s setuid
cp /bin/sh setgid; chmod g+s setgid
try nosuchprogram
try ./absent
try ''
try ./text
try ./script
try ./directory
try ./stub
try ./setuid -c 'echo ran'
try ./setgid -c 'echo ran'
ls
