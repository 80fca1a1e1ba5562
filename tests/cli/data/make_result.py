#!/usr/bin/env python3
"""Write result.json beside this file: a made-up experiment with every kind of verdict, for tests of what is shown; and
result-passes.json: one with latency, system calls and disturbances, some of it not as `mallab ab` would write it;
result-rest.json: one with memory passes and a rest."""
import json
import pathlib


FLOOR_NS = 2.5
WEB_OPS = 1012345


def runs(ops, ns, spread, peak, rest=None, count=10, shift=0):
    """Of each round another figure, within `spread` of the middle, in an order by `shift`."""
    made = []
    for at in range(count):
        factor = 1 + spread * (((at * 7 + shift * at * at) % count) - (count - 1) / 2) / ((count - 1) / 2)
        made.append({"round": at + 1, "ops": ops, "whole_ns_per_op": round(FLOOR_NS + ns * factor, 4), "faults_minor": 1500 + at,
                     "resident": {"peak_bytes": round(peak * (1 + spread * (factor - 1))), "mean_bytes": peak // 2, "end_bytes": peak // 4,
                                  "idle_bytes": rest}})
    return made


def entry(name, version, ns, peak, spread=0.04, failed=None, ops=WEB_OPS):
    return {"name": name, "version": version, "library": f"/lib/lib{name}.so", "environment": {}, "failed": failed, "warmup_ns": 1,
            "runs": [] if failed else runs(ops, ns, spread, peak, shift=sum(map(ord, name)) % 7)}


base = entry("glibc", "2.36", 21.5, 60_000_000)
floor = dict(entry("none", None, 0, 0), library=None)
result = {
    "schema": "mallab-experiment/1", "mallab_version": "0.1.0", "created_unix_ns": 1, "baseline": "glibc",
    "rounds": 10, "rounds_asked": 12, "stopped": True, "seed": 4242, "touch": None,
    "warmup": {"runs_per_candidate": 1, "counted": False},
    "machine": {"cpu": "Test CPU \x1b[31m", "cpus": 2, "cores": 2, "memory_bytes": 8_000_000_000,
                "architecture": "x86_64", "kernel": "6.1", "libc": "glibc 2.36", "transparent_huge_pages": "madvise",
                "governor": None, "load_1_minute": 0.25, "virtual_machine": True},
    "missing": [{"name": "tcmalloc", "reason": "libtcmalloc.so.4 not found: apt install libgoogle-perftools4"}],
    "workloads": [
        {"name": "web.wl", "digest": "00ff", "file_digest": "00ff", "ops": 1012345, "threads": 1,
         "duration_ns": 1_240_000_000, "live_peak_bytes": 52_300_000, "rounds": 10,
         "candidates": [
             base,
             entry("jemalloc", "5.3.0", 13.9, 66_000_000),
             entry("mimalloc", "2.0.9", 14.1, 55_000_000),
             entry("slow", "1.0", 61.0, 60_020_000),
             entry("unsure", None, 24.0, 60_000_000, 0.2),
             entry("broken", "9", 0, 0, failed="killed by signal 11 (Segmentation fault): it said nothing")],
         "control": entry("glibc", "2.36", 21.6, 60_000_000),
         "floor": floor},
        {"name": "noise.wl", "digest": "11", "file_digest": "11", "ops": 999, "threads": 8, "duration_ns": 0,
         "live_peak_bytes": 1200, "rounds": 10,
         "candidates": [entry("glibc", "2.36", 21.5, 4096, ops=999), entry("jemalloc", "5.3.0", 21.6, 8192, ops=999)],
         "control": entry("glibc", "2.36", 21.5, 4096, ops=999), "floor": None}]}
result["workloads"][0]["candidates"][1]["runs"][0]["substituted"] = ["reallocarray", "pvalloc"]
path = pathlib.Path(__file__).with_name("result.json")
path.write_text(json.dumps(result, indent=1) + "\n")


def passes(p99, p99_9, calls, system_calls):
    one = {"clock_cost_ns": 20.85, "p99_ns": p99, "p99_9_ns": p99_9,
           "by_call": [{"call": call, "count": count, "mean_ns": ns} for call, count, ns in calls]}
    return {"latency": {"runs": [one] * 3}, "system_calls": system_calls}


workload = {"name": "web.wl", "digest": "00ff", "file_digest": "00ff", "ops": 1012345, "threads": 1,
            "duration_ns": 1_240_000_000, "live_peak_bytes": 52_300_000, "rounds": 10,
            "candidates": [
                dict(base, **passes(32.8, 2803, [("free", 5, 9.3), ("malloc", 7, 12.5), ("realloc", 2, 400.0),
                                                 ("calloc", 2, 30.0), ("valloc", 1, 1.0)],
                                    {"mmap": 1, "munmap": 0, "brk": 44, "total": 45})),
                dict(entry("jemalloc", "5.3.0", 13.9, 66_000_000),
                     **passes(12.8, 170.2, [("free", 5, 9.3), ("malloc", 7, 5.5)], {"mmap": 0, "total": 0})),
                dict(entry("torn", "1\x1b[31m", 13.9, 66_000_000),
                     latency={"unavailable": "exit code 1:\x1b[31m it broke"},
                     system_calls={"unavailable": "seccomp user notification: Operation not permitted"}),
                dict(entry("odd", "1", 13.9, 66_000_000),
                     latency={"runs": [{"by_call": [3, {"call": 4}, {"call": "malloc", "mean_ns": "much"}], "p99_ns": []}, 7]},
                     system_calls=[1, 2], runs=[{"ops": 110, "counters": [5]}])],
            "control": base, "floor": floor}
workload["candidates"][0]["runs"][0]["binding"] = {"pin": "auto", "nice": -5, "nice_refused": "Permission denied"}
watched = dict(result, workloads=[workload], touch="page", disturbances=[
    {"kind": "governor", "when": "before", "value": 0, "unit": "processor",
     "text": "the frequency governor of processor 0 is powersave", "remedy": "set it to performance"},
    {"kind": "steal", "text": 7}])
path.with_name("result-passes.json").write_text(json.dumps(watched, indent=1) + "\n")


def resting(name, ns, peak, rest):
    made = dict(entry(name, "1.0", ns, peak, 0.005), library=None)
    made["runs"] = runs(1_000_000, ns, 0.01, peak, count=8, shift=sum(map(ord, name)) % 7)
    made["memory_runs"] = runs(1_000_000, ns, 0.0005, peak, rest, count=3)
    return made


workload = {"name": "web.wl", "digest": "00ff", "file_digest": "00ff", "ops": 1_000_000, "threads": 1, "duration_ns": 2_000_000_000,
            "live_peak_bytes": 50_000_000, "rounds": 8, "memory_rounds": 3,
            "process": {"ended": "running"},
            "candidates": [resting("glibc", 20, 60_000_000, 15_000_000), resting("fast", 12, 66_000_000, 14_500_000),
                           resting("small", 20, 45_000_000, 2_000_000), resting("worse", 30, 70_000_000, 60_000_000)],
            "control": resting("glibc", 20, 60_000_000, 15_000_000), "floor": floor}
at_rest = dict(result, workloads=[workload], rounds=8, rounds_asked=8, stopped=False, touch="page", memory_rounds_asked=3,
               memory_idle_ms=60000, missing=[])
path.with_name("result-rest.json").write_text(json.dumps(at_rest, indent=1) + "\n")
