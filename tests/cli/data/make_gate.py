#!/usr/bin/env python3
"""Write gate-then.json and gate-now.json beside this file: made-up results with runs, whose truth is known, for `mallab check`
and `mallab compare`. Noise is +-1 % around each figure. In gate-now.json, against glibc of the same run:
slim takes 10 % less time and memory, fat 20 % more of both, close 3 % more time, idle holds no runs, broken failed."""
import json
import pathlib

ROUNDS = 12
WOBBLE = (0.0, 0.004, -0.006, 0.01, -0.01, 0.002, -0.002, 0.007, -0.004, 0.005, -0.008, 0.001)


def runs(time, memory, shift):
    """Of each round; `shift` sets where in the wobble a candidate begins, so that no two move together."""
    made = []
    for i in range(ROUNDS):
        part = 1 + WOBBLE[(i + shift) % ROUNDS]
        bytes_ = round(memory * (1 + WOBBLE[(i * 5 + shift) % ROUNDS] / 5))
        made.append({"whole_ns_per_op": round(2.5 + time * part, 6), "faults_minor": round(memory / 4096),
                     "resident": {"peak_bytes": bytes_, "mean_bytes": bytes_ // 2, "end_bytes": bytes_ // 4,
                                  "idle_bytes": None}})
    return made


def entry(name, version, time, memory, shift, failed=None):
    return {"name": name, "version": version, "library": f"/lib/lib{name}.so", "environment": {}, "failed": failed,
            "time": {}, "resident": {}, "runs": [] if failed else runs(time, memory, shift)}


def result(scale, glibc_version, extra):
    floor = dict(entry("none", None, 0, 0, 0))
    del floor["resident"]
    return {
        "schema": "mallab-experiment/1", "mallab_version": "0.1.0", "created_unix_ns": 1, "baseline": "glibc",
        "rounds": ROUNDS, "rounds_asked": ROUNDS, "stopped": False, "seed": 7, "touch": "page",
        "machine": {"cpu": "Test CPU", "cpus": 2, "cores": 2, "architecture": "x86_64", "kernel": "6.1",
                    "libc": "glibc 2.36"},
        "missing": [],
        "workloads": [{
            "name": "web.wl", "digest": "00ff", "file_digest": "00ff", "ops": 1012345, "threads": 1,
            "duration_ns": 1_240_000_000, "live_peak_bytes": 52_300_000, "rounds": ROUNDS,
            "candidates": [entry("glibc", glibc_version, 20 * scale, 60_000_000, 0),
                           entry("slim", "1.0", 18 * scale, 54_000_000, 3)] + extra,
            "control": entry("glibc", glibc_version, 20 * scale, 60_000_000, 1), "floor": floor}]}


def write(name, value):
    pathlib.Path(__file__).with_name(name).write_text(json.dumps(value, separators=(",", ":")) + "\n")


write("gate-then.json", result(1.0, "2.36", [entry("fat", "0.9", 20, 60_000_000, 6)]))
now = result(1.02, "2.36", [entry("fat", "1.0", 24 * 1.02, 72_000_000, 6), entry("close", "1.0", 20.6 * 1.02, 60_000_000, 8),
                            entry("br<o>ke|n%", "9", 0, 0, 0, "killed by signal 11 (Segmentation fault): it said nothing")])
now["machine"]["kernel"] = "6.2"
write("gate-now.json", now)
few = json.loads(json.dumps(now))
for candidate in few["workloads"][0]["candidates"] + [few["workloads"][0]["control"], few["workloads"][0]["floor"]]:
    candidate["runs"] = candidate["runs"][:3]
few["workloads"][0]["name"] = "few.wl"
few["workloads"][0]["digest"] = "0f"
few["workloads"][0]["candidates"] = few["workloads"][0]["candidates"][:2]
few["machine"]["cpu"] = "Another CPU"
write("gate-few.json", few)
