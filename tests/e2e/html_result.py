"""Results for tests of the HTML report: every section filled, of any length, with names that would be markup."""
import math

HOSTILE = "</script><img src=x onerror=\"window.broken=1\"><!--<b>&amp;\u2028'`${1}"


def latency(scale, with_runs=True):
    low = [10 * 1.3 ** i for i in range(40)]
    counts = [int(200_000 * math.exp(-i / 3)) + 1 for i in range(40)]
    shown = {"histogram": {"low_ns": [v * scale for v in low], "high_ns": [1.3 * v * scale for v in low], "count": counts},
             "map": {"over": "time", "steps": 100, "span_ns": 10 ** 10, "row_low_ns": [2 ** (4 + i / 2) for i in range(30)],
                     "cells": [[step, row, int(1 + 900 * math.exp(-abs(row - 5 - 3 * math.sin(step / 9)))) // 1]
                               for step in range(100) for row in range(2, 20)]}}
    calls = [{"call": call, "count": count, "typical_ns": 12 * scale, "p99_9_ns": 4000 * scale} for call, count in (("free", 900_000), ("malloc", 950_000))]
    return {"passes": 3, "by_call": calls, "floor_subtracted": True, "p50_ns": 15 * scale, "p90_ns": 30 * scale, "p99_ns": 120.0 * scale, "p99_9_ns": 4100.0 * scale,
            "runs": [shown] if with_runs else []}


def waste(live, factor):
    sample = {"resident_bytes": int(live * factor), "live_bytes": live, "rounding_bytes": int(live * .05), "metadata_bytes": int(live * .03),
              "cached_bytes": None if factor > 1.3 else int(live * (factor - 1.1)), "rest_bytes": int(live * .02)}
    return {"peak": sample, "end": dict(sample, live_bytes=live // 3)}


def entry(name, at, windows):
    live = 50_000_000
    factor = (1.12, 1.35, 1.2, 1.5, 1.05)[at % 5]
    ratio = (1.0, 0.72, 0.98, 1.31, 0.85)[at % 5]
    verdicts = ("same", "faster", "same", "slower", "undecided"), ("same", "more", "undecided", "more", "less")
    curve = [int(live * factor * (1 - math.exp(-5 * i / windows)) * (1 + .1 * math.sin(i * 40 / windows + at))) for i in range(windows)]
    return {"name": name, "version": f"{at}.2", "library": f"/lib/{name}.so", "environment": {"MALLOC_CONF": "a:b"} if at else {}, "failed": None,
            "time": {"steady_ns_per_op": 22 * ratio, "ratio": ratio, "ratio_low": ratio * .96, "ratio_high": ratio * 1.05, "verdict": verdicts[0][at % 5]},
            "resident": {"peak_bytes": int(live * factor), "peak_bytes_deviation": 0, "mean_bytes": int(live * factor * .7),
                         "end_bytes": int(live * factor * .4), "idle_bytes": int(live * factor * .3), "peak_ratio": factor / 1.12,
                         "peak_ratio_low": factor / 1.14, "peak_ratio_high": factor / 1.10, "peak_verdict": verdicts[1][at % 5]},
            "waste": waste(live, factor), "system_calls": {"total": 5 + at, "mmap": 5, "brk": at}, "failure": None,
            "latency": latency(ratio), "warmup_ns": 1,
            "runs": [{"faults_minor": 12000 + 500 * at, "whole_ns_per_op": 22 * ratio * (1 + .001 * turn), "resident": {"peak_bytes": int(live * factor)},
                      "samples": {"resident_bytes": curve if turn == 0 else []}} for turn in range(10)]}


def floor():
    made = entry("none", 0, 2)
    made["time"].update(steady_ns_per_op=2.1)
    for run in made["runs"]:
        run["whole_ns_per_op"] = 2.1
    return made


def result(names, windows=3000, workload="web.wl", full=True):
    entries = [entry(name, at, windows) for at, name in enumerate(names)]
    made = {"name": workload, "program": "web", "digest": "1", "file_digest": "1", "ops": 1_900_000, "threads": 7, "duration_ns": 10 ** 10,
            "live_peak_bytes": 50_000_000, "rounds": 10, "complete": True, "candidates": entries, "control": entry(names[0], 0, 2), "floor": floor(),
            "samples": {"time_ns": [int(10 ** 10 * (i + 1) / windows) for i in range(windows)],
                        "live_bytes": [int(50_000_000 * (1 - math.exp(-5 * i / windows))) for i in range(windows)]}}
    whole = {"schema": "mallab-experiment/1", "mallab_version": "0.1.0", "created_unix_ns": 1_700_000_000_000_000_000, "baseline": names[0],
             "rounds": 10, "rounds_asked": 10, "stopped": False, "seed": 42, "resamples": 2000, "touch": "page",
             "machine": {"cpu": "Test CPU", "cpus": 2, "cores": 2, "memory_bytes": 8 * 10 ** 9, "architecture": "x86_64", "kernel": "6.1", "libc": "glibc 2.36",
                         "transparent_huge_pages": "madvise", "governor": None, "load_1_minute": .25, "virtual_machine": True},
             "missing": [{"name": "tbbmalloc", "reason": "not installed"}], "workloads": [made]}
    if full:
        whole["disturbances"] = [{"kind": "load", "text": "other work takes a third of the processors", "remedy": "stop it"}]
    else:
        for one in entries:
            del one["waste"], one["latency"]
    return whole


DAY = 86400 * 10 ** 9


def days(count, names=("glibc", "jemalloc", "tcmalloc")):
    """Results of as many nights: jemalloc gets slower in the middle, when its version changes, and tcmalloc takes more memory later, and gets other settings;
    mallab and the machine's kernel change too. What moves does so beyond any doubt, what does not repeats within its interval."""
    made = []
    for day in range(count):
        one = result(list(names), windows=2, full=False)
        one["created_unix_ns"] += day * DAY
        one["machine"]["name"] = "ci"
        one["machine"]["kernel"] = "6.1" if day < count * 3 // 4 else "6.2"
        one["mallab_version"] = "0.1.0" if day < count // 4 else "0.2.0"
        workload = one["workloads"][0]
        wobble = 1 + .004 * math.sin(day * 1.7)
        for at, entry in enumerate(workload["candidates"]):
            slower = 1.2 if at == 1 and day >= count // 2 else 1.0
            larger = 1.25 if at == 2 and day >= count * 2 // 3 else 1.0
            if at == 1 and day >= count // 2:
                entry["version"] = "5.3.1"
            if at == 2 and day >= count * 5 // 6:
                entry["environment"] = {"TCMALLOC_RELEASE_RATE": "10", "A": "1"}
            larger *= 1 + .002 * math.sin(day + at)
            for run in entry["runs"]:
                run["whole_ns_per_op"] *= slower * (wobble if at else 1)
                run["resident"]["peak_bytes"] = int(run["resident"]["peak_bytes"] * larger)
        made.append(one)
    return made
