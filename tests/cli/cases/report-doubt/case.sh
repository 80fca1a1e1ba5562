# A noisy machine: which program it was, no verdict on time; memory is still spoken of.
python3 - "$DATA/result.json" >doubt.json <<'EOF'
import json, math, sys
result = json.load(open(sys.argv[1]))
result["workloads"] = [w for w in result["workloads"] if w["name"] == "noise.wl"]
workload = result["workloads"][0]
workload.update(program="python3", processes=3, events_share=0.914)
for number, entry in enumerate((*workload["candidates"], workload["control"])):
    for at, run in enumerate(entry["runs"]):
        run["whole_ns_per_op"] *= 1 + .2 * math.sin((3 + number) * at)
json.dump(result, sys.stdout)
EOF
"$MALLAB" report doubt.json
