#!/usr/bin/env python3
"""The first screen of one workload has at most 14 lines of 78 columns, whatever its result is: results that the suite has and those
published, with four candidates, as they are and with all that adds words: the whole process, a confirmation that shows, refutes or
ran out of time, many threads, a recording that is not whole, few calls, few rounds, a limit, noise. With --details nothing is lost."""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("MALLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2])).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "e2e"))
from installed import installed
BUILD = installed(pathlib.Path(os.environ.get("MALLAB_BUILD", SOURCE / "build")).resolve(), SOURCE)
FILES = [SOURCE / "tests/cli/data" / name for name in ("result.json", "result-rest.json", "result-passes.json", "gate-now.json", "gate-few.json")]
FILES += sorted((SOURCE / "docs/published").glob("*.json"))
LINES, COLUMNS = 14, 78


def one(result, number):
    """That workload alone, with four candidates."""
    result = copy.deepcopy(result)
    workload = result["workloads"][number]
    result["workloads"], result["missing"] = [workload], []
    workload["candidates"] = workload["candidates"][:4]
    return result


def process(result, cpu=0.4e9, rss=180e6, **more):
    workload = result["workloads"][0]
    workload.update(program="node", runs_on={"name": workload["candidates"][0]["name"], "version": "2.36-9+deb12u13", "how": "libc"})
    workload["process"] = {"cpu_user_ns": cpu, "cpu_system_ns": 0, "faults_minor": 30000, "rss_peak_bytes": rss,
                           "rss_anon_peak_bytes": .9 * rss, **more}


def confirm(result, ratio=2.95, runs=8, verdict="slower", peak="same", looks=9):
    """Under each candidate: the program itself takes `ratio` times as long."""
    process(result)
    def figure(unit, base, times, count):
        return {f"baseline_{unit}": base, "ratio": times, "ratio_low": times * .97, "ratio_high": times * 1.04,
                f"baseline_samples_{unit}": [base] * count, f"samples_{unit}": [base * times] * count}
    def under(name, times, control=False):
        return {"candidate": name, "control": control, "runs": runs, "time": figure("ns", 4e8, times, runs),
                "peak": {**figure("bytes", 64.8e6, .97, looks), "bytes": 62.6e6},
                "verdict": {"time": "same" if control else verdict, "peak": "same" if control else peak}}
    names = [entry["name"] for entry in result["workloads"][0]["candidates"]]
    result["confirmed"] = [under(name, ratio) for name in names[1:]] + [under(names[0], 1, True)]
    result["confirmation"] = {"command": ["node", "server.js"], "timed_by": "hyperfine", "runs": 50, "run_ns": 4e8, "elapsed_ns": 2e10}


def noisy(result):
    for entry in [*result["workloads"][0]["candidates"][1:], result["workloads"][0]["control"]]:
        for at, run in enumerate(entry["runs"]):
            run["whole_ns_per_op"] = 20 * (1 + at % 3)
    result["disturbances"] = [{"kind": "others", "text": "other programs took 54 % of CPU"}]


def set_workload(**members):
    return lambda result: result["workloads"][0].update(members)


CHANGES = {
    "as it is": lambda result: None,
    "of a process": process,
    "malloc matters little": lambda result: process(result, 33e9, 9e9),
    "unlike the program": lambda result: process(result, 0.004e9, 8e6),
    "one of many processes": lambda result: (process(result), set_workload(processes=21, events_share=.61)(result)),
    "refuted": confirm,
    "confirmed": lambda result: confirm(result, .76, verdict="faster", peak="less"),
    "not shown": lambda result: confirm(result, .99, verdict="undecided"),
    "out of time": lambda result: confirm(result, .8, 3, "undecided", "undecided", 1),
    "died in it": lambda result: (confirm(result), result["confirmed"][0].update(failed="the service ended by signal 11 (Segmentation fault) before its load did")),
    "many threads": set_workload(threads=1024),
    "on one thread": lambda result: (result.update(one_thread=True), set_workload(threads=1024)(result)),
    "not whole": set_workload(complete=False, lost_calls=123456789, incomplete_why="it was ended by SIGKILL while the collector wrote its last block of calls"),
    "frees past any preload": set_workload(complete=True, unseen_frees=90000),
    "few calls": set_workload(ops=1),
    "noise": noisy,
    "a limit": lambda result: result.update(limit_bytes=512 << 20, limit_by="cgroup"),
}
problems = []


def screen(result, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(result, file)
        file.flush()
        return subprocess.run([BUILD / "mallab", "report", *options, file.name], capture_output=True, text=True, check=True).stdout


def look(name, result):
    lines = screen(result).splitlines()
    wide = [line for line in lines if len(line) > COLUMNS]
    if len(lines) > LINES or wide:
        problems.append(f"{name}: {len(lines)} lines, {len(wide)} too wide\n" + "\n".join(lines))
    if not any(line.startswith("VERDICT ") for line in lines):
        problems.append(f"{name}: no verdict\n" + "\n".join(lines))
    details = " ".join(screen(result, "--details").split())
    for line in lines[lines.index("") + 1:-1]:
        if line[12:].strip() not in details:
            problems.append(f"{name}: --details lacks {line!r}")


count = 0
for path in FILES:
    whole = json.loads(path.read_text())
    for number in range(len(whole["workloads"])):
        for change, act in CHANGES.items():
            made = one(whole, number)
            act(made)
            look(f"{path.name}, {made['workloads'][0]['name']}, {change}", made)
            count += 1
print("\n".join(problems) or f"{count} screens")
sys.exit(1 if problems or count < 50 else 0)
