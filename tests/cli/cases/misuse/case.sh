# Each misuse: one line and a hint, exit code 2, nothing on stdout.
try() { "$MALLAB" "$@" && echo "accepted: $*" || echo "$?"; }
try help nonsense
try help ab record
try record
try record -o
try record --max-size 12Q -- true
try record --max-size 0 -- true
try record --duration soon -- true
try record --on-full stop -- true
try convert
try convert a b
try convert --from elf x
try convert --to elf x
try convert --process 0 x
try convert -
try convert --json -o - x
try info
try info a b
try report --color sometimes x
try replay
try replay --promises --latency x
try replay --clock virtual x
try ab
try ab --
try ab -n 0 x
try ab -n 1001 x
try ab -n -3 x
try ab --seed 0x10 x
try ab --seed 9007199254740992 x
try ab --timeout 0 x
try ab --json=yes x
try report
try report --format pdf x
try report --json a b
try allocators all
try top
try top a b
try top --interval 10ms x
try top --interval soon x
try top --count 0 x
try convert --from-time soon x
try convert --to-time 0 x
try convert --head 0 x
try convert --from-time 5s --to-time 5s x
try ab --head ten x
try ab --limit 0 x
try replay --limit 8M --limit-by hand x
try ab --limit-by cgroup x
try ab --limit-in /x x
try ab --limit 8M --limit-by data --limit-in /x x
try ab --decide 'time<=3 apples' x
try ab --decide /nowhere x
try ab --decide 'time<=+2%' -n 7 x
try ab --baseline old.json x
try ab --time-budget soon x
try ab --duration 1s x
try ab --pid 1 -- true
try flame -o a.svg x
try ab --confirm x.wl
try ab --confirm=fast -- true
try confirm
try confirm --start true
try confirm --start true --load true -- true
try confirm --stop true
