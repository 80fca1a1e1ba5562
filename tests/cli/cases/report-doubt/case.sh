# A noisy machine: which program it was, no verdict on time; memory is still spoken of.
python3 - "$DATA/result.json" >doubt.json <<'EOF'
import json, sys
result = json.load(open(sys.argv[1]))
result["workloads"] = [w for w in result["workloads"] if w["name"] == "noise.wl"]
workload = result["workloads"][0]
workload.update(program="python3", processes=3, events_share=0.914)
workload["control"]["time"].update(ratio_low=0.93, ratio_high=1.08)
json.dump(result, sys.stdout)
EOF
"$MALLAB" report doubt.json
