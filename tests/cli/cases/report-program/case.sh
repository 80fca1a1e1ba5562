# Beside the whole process: what matters of it, what does not, and what is not like the program.
python3 - "$DATA/result.json" <<'EOF'
import json, sys
result = json.load(open(sys.argv[1]))
workload = result["workloads"][0]
result["workloads"] = [workload]
workload.update(program="node", processes=5, events_share=0.61, memory_rounds=3)
for start, entry in zip((5e6, 5.3e6, 5e6, 9e6), workload["candidates"]):
    entry["memory_runs"] = [{"resident": dict(run["resident"], start_bytes=start, idle_bytes=start * 3)} for run in entry["runs"][:3]]
workload["control"]["memory_runs"] = workload["candidates"][0]["memory_runs"]
workload["runs_on"] = {"name": "glibc", "version": "2.36", "how": "libc"}
for name, cpu, rss, anon, frees in (("much", 0.4e9, 180e6, 150e6, 0), ("little", 3.3e9, 180e6, 150e6, 0),
                                    ("nothing", 33e9, 9e9, 8e9, 0), ("unlike", 0.02e9, 60e6, 20e6, 90000)):
    workload["process"] = {"cpu_user_ns": cpu, "cpu_system_ns": 0, "faults_minor": 30000, "rss_peak_bytes": rss,
                           "rss_anon_peak_bytes": anon}
    workload["unseen_frees"] = frees
    json.dump(result, open(name, "w"))
# Killed before anybody looked: nothing is known of the whole. Of starts it is: what a preload costs all five.
del workload["process"]
for cost, entry in zip((0, 1_400_000, 160_000, 4_200_000), workload["candidates"]):
    entry["start"] = {"cpu_ns": 1_000_000 + cost, "more_cpu_ns": cost}
json.dump(result, open("killed", "w"))
EOF
for name in much little nothing unlike; do
    "$MALLAB" report "$name" | if [ $name = much ]; then cat; else sed -n '2p; /^VERDICT/,/^resolution/p'; fi
    echo
done
"$MALLAB" report --details killed | sed -n '2p; /^noise/p; /^failed/p'
echo
"$MALLAB" report --format md much | head -n 8
