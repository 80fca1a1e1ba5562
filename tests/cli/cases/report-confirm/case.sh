# The program itself alone: a verdict in plain words with the table's numbers; of a service a hint with its options, also where that was
# recorded alone. Sizes are offered that a user could want. One recording cannot know that the program differs from run to run. What `ab` knew of the
# command's length its report knows, too.
python3 - "$DATA/result.json" <<'EOF'
import json, sys
def figure(unit, baseline, own, ratio, low, high, runs):
    return {f"baseline_{unit}": baseline, "ratio": ratio, "ratio_low": low, "ratio_high": high,
            f"baseline_samples_{unit}": [baseline] * runs, f"samples_{unit}": [own] * runs}
def one(name, time, peak, verdicts, control=False, **more):
    return {"candidate": name, "control": control, "runs": 9, "time": figure("ns", *time, 9),
            "peak": {**figure("bytes", *peak, 9), "bytes": peak[1]}, "verdict": dict(zip(("time", "peak"), verdicts)), **more}
result = json.load(open(sys.argv[1]))
workloads = result["workloads"][:1]
result["workloads"] = []
result["confirmed"] = [
    one("jemalloc", (117e6, 110e6, .97, .88, 1.06), (13.3e6, 18.7e6, 1.417, 1.40, 1.43), ("same", "more")),
    one("mimalloc", (117e6, 89e6, .76, .71, .84), (13.3e6, 13.4e6, 1.01, .99, 1.03), ("faster", "same"), library="/l/libmimalloc.so.2",
        environment={"MIMALLOC_PURGE_DELAY": "0"}),
    one("glibc", (114e6, 114e6, 1, .99, 1.01), (13.2e6, 13.2e6, 1, .99, 1.01), ("same", "same"), True)]
result["confirmation"] = {"start": "./server -p 1; rm -rf x", "load": "./load", "stop": "./stop", "timed_by": "service", "runs": 40,
                          "run_ns": 1e8, "elapsed_ns": 4e9}
json.dump(result, open("service", "w"))
result["confirmed"][0] = {"candidate": "jemalloc", "failed": "it ended with exit code 3", "runs": 0}
result["confirmed"][1]["verdict"]["time"] = "undecided"
result["confirmation"] = {"command": ["./job", "a b"], "timed_by": "wait4", "runs": 40, "run_ns": 1e8, "elapsed_ns": 4e9}
json.dump(result, open("command", "w"))
result["confirmed"] = [one("jemalloc", (117e6, 110e6, .97, .3, 3.1), (13.3e6, 18.7e6, 1.417, 1.40, 1.43), ("undecided", "more")),
                       one("glibc", (114e6, 114e6, 1, .3, 3), (13.2e6, 13.2e6, 1, .99, 1.01), ("same", "same"), True)]
json.dump(result, open("spread", "w"))
result.update(workloads=workloads, command_ns=460e6)
del result["confirmed"], result["confirmation"]
json.dump(result, open("ab", "w"))
workloads[0]["process"] = {"ended": "exit 0", "ran_ns": 2e9, "cpu_user_ns": 1e8, "cpu_system_ns": 1e8}
json.dump(result, open("waiting", "w"))
workloads[0]["process"]["ended"] = "signal 15"
json.dump(result, open("ended", "w"))
EOF
"$MALLAB" report service
"$MALLAB" report --format md service
"$MALLAB" report command
"$MALLAB" report --details ab | sed -n '/^confirm/,/^[^ ]/p'
"$MALLAB" report --details waiting | sed -n '/^confirm/,/^[^ ]/p'
"$MALLAB" report --details ended | sed -n '/^confirm/,/^[^ ]/p'
"$MALLAB" compare ab service || echo "exit $?"
