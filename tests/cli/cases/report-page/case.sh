# A page tells the program itself from the replay's calls, no change is negated twice, and an axis that is logarithmic says so.
python3 - "$DATA/result.json" <<'END'
import json, sys
def figure(unit, ratio):
    return {f"baseline_{unit}": 1e8, "ratio": ratio, "ratio_low": ratio - .01, "ratio_high": ratio + .01,
            f"baseline_samples_{unit}": [1e8] * 9, f"samples_{unit}": [ratio * 1e8] * 9}
def one(name, ratio, verdict, control=False):
    return {"candidate": name, "control": control, "runs": 9, "time": figure("ns", ratio),
            "peak": {**figure("bytes", 1), "bytes": 1e8}, "verdict": {"time": verdict, "peak": "same"}}
result = json.load(open(sys.argv[1]))
result["workloads"] = result["workloads"][:1]
result["confirmed"] = [one("mimalloc", .95, "faster"), one("glibc", 1, "same", True)]
result["confirmation"] = {"command": ["./job"], "timed_by": "wait4", "runs": 18, "run_ns": 1e8, "elapsed_ns": 2e9}
json.dump(result, open("result", "w"))
END
"$MALLAB" report --format html -o page.html result
sed -n '/<div class="advice">/,/<\/div>/p; s/.*<p class="explain">\(.*logarithmic.*\)<\/p>/\1/p' page.html
grep -o '"words":"[^"]*"' page.html
