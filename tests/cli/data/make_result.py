#!/usr/bin/env python3
"""Write result.json beside this file: a made-up experiment with every kind of verdict, for tests of what is shown; and
result-passes.json: one with latency, system calls and disturbances, some of it not as `mallab ab` would write it."""
import json
import pathlib


def entry(name, version, ns, ratio, verdict, peak, peak_ratio, peak_verdict, failed=None):
    def ends(value):
        return (None, None) if value is None else (value * 0.98, value * 1.03)
    low, high = ends(ratio)
    peak_low, peak_high = ends(peak_ratio)
    return {
        "name": name, "version": version, "library": f"/lib/lib{name}.so", "environment": {}, "failed": failed,
        "time": {"steady_ns_per_op": ns, "ratio": ratio, "ratio_low": low, "ratio_high": high, "verdict": verdict},
        "resident": {"peak_bytes": peak, "peak_bytes_deviation": 0.0, "mean_bytes": peak and peak // 2,
                     "end_bytes": peak and peak // 4, "idle_bytes": None, "peak_ratio": peak_ratio,
                     "peak_ratio_low": peak_low, "peak_ratio_high": peak_high, "peak_verdict": peak_verdict,
                     "end_ratio": peak_ratio, "end_ratio_low": peak_low, "end_ratio_high": peak_high,
                     "end_verdict": peak_verdict},
        "warmup_ns": 1, "runs": []}


base = entry("glibc", "2.36", 21.5, 1.0, "same", 60_000_000, 1.0, "same")
floor = entry("none", None, 2.5, None, "undecided", None, None, "undecided")
del floor["resident"]
result = {
    "schema": "mallab-experiment/1", "mallab_version": "0.1.0", "created_unix_ns": 1, "baseline": "glibc",
    "rounds": 10, "rounds_asked": 12, "stopped": True, "seed": 4242, "resamples": 2000, "touch": None,
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
             entry("jemalloc", "5.3.0", 13.9, 0.65, "faster", 66_000_000, 1.1, "more"),
             entry("mimalloc", "2.0.9", 14.1, 0.66, "faster", 55_000_000, 0.92, "less"),
             entry("slow", "1.0", 61.0, 2.84, "slower", 60_100_000, 1.002, "same"),
             entry("unsure", None, 22.0, 1.02, "undecided", 60_000_000, 1.0, "undecided"),
             entry("broken", "9", None, None, "undecided", None, None, "undecided",
                   "killed by signal 11 (Segmentation fault): it said nothing")],
         "control": dict(base, time=dict(base["time"], ratio=1.004, ratio_low=0.99, ratio_high=1.012)),
         "floor": floor},
        {"name": "noise.wl", "digest": "11", "file_digest": "11", "ops": 999, "threads": 8, "duration_ns": 0,
         "live_peak_bytes": 1200, "rounds": 10,
         "candidates": [dict(base, resident=dict(base["resident"], peak_bytes=4096, mean_bytes=4096, end_bytes=0)),
                        entry("jemalloc", "5.3.0", 21.6, 1.005, "same", 8192, 2.0, "undecided")],
         "control": base, "floor": None}]}
result["workloads"][0]["candidates"][1]["runs"] = [{"substituted": ["reallocarray", "pvalloc"]}]
path = pathlib.Path(__file__).with_name("result.json")
path.write_text(json.dumps(result, indent=1) + "\n")


def passes(p99, p99_9, calls, system_calls):
    groups = [{"call": call, "count": count, "typical_ns": ns} for call, count, ns in calls]
    return {"latency": {"passes": 3, "floor_subtracted": True, "p99_ns": p99, "p99_9_ns": p99_9, "by_call": groups,
                        "runs": [{"clock_cost_ns": 20.85}]},
            "system_calls": system_calls}


workload = {"name": "web.wl", "digest": "00ff", "file_digest": "00ff", "ops": 1012345, "threads": 1,
            "duration_ns": 1_240_000_000, "live_peak_bytes": 52_300_000, "rounds": 10,
            "candidates": [
                dict(base, **passes(32.8, 2803, [("free", 5, 9.3), ("malloc", 7, 12.5), ("realloc", 2, 400.0),
                                                 ("calloc", 2, 30.0), ("valloc", 1, 1.0)],
                                    {"mmap": 1, "munmap": 0, "brk": 44, "total": 45}),
                     runs=[{"ops": 110, "binding": {"pin": "auto", "nice": -5, "nice_refused": "Permission denied"}}]),
                dict(entry("jemalloc", "5.3.0", 13.9, 0.65, "faster", 66_000_000, 1.1, "more"),
                     **passes(12.8, 170.2, [("free", 5, 9.3), ("malloc", 7, 5.5)], {"mmap": 0, "total": 0})),
                dict(entry("torn", "1\x1b[31m", 13.9, 0.65, "faster", 66_000_000, 1.1, "more"),
                     latency={"unavailable": "exit code 1:\x1b[31m it broke"},
                     system_calls={"unavailable": "seccomp user notification: Operation not permitted"}),
                dict(entry("odd", "1", 13.9, 0.65, "faster", 66_000_000, 1.1, "more"),
                     latency={"by_call": [3, {"call": 4}, {"call": "malloc", "typical_ns": "much"}], "p99_ns": []},
                     system_calls=[1, 2], runs=[{"ops": 110, "counters": [5]}])],
            "control": dict(base, latency=None, system_calls=None),
            "floor": dict(floor, latency=None)}
watched = dict(result, workloads=[workload], touch="page", disturbances=[
    {"kind": "governor", "when": "before", "value": 0, "unit": "processor",
     "text": "the frequency governor of processor 0 is powersave", "remedy": "set it to performance"},
    {"kind": "steal", "text": 7}])
path.with_name("result-passes.json").write_text(json.dumps(watched, indent=1) + "\n")
