"""Fleets for tests (docs/schema/mallab-fleet-1.schema.json): of any number of hosts, with known worst and best ones.
`fleet_result.py COUNT [SHIFT]` prints one; tests/cli/data/fleet-*.json are of it."""
import json
import math
import sys

NAMES = ["glibc", "jemalloc", "tcmalloc"]
MIDDLE = {"jemalloc": .93, "tcmalloc": .88}  # of time; each host is off by up to 15 %, one in 25 loses with tcmalloc


def difference(ratio, verdicts, spread=.02):
    word = verdicts[0] if ratio * (1 + spread) < 1 else verdicts[1] if ratio * (1 - spread) > 1 else "undecided"
    return {"ratio": ratio, "ratio_low": ratio * (1 - spread), "ratio_high": ratio * (1 + spread), "error": spread / 2, "verdict": word}


def entry(at, number, shift):
    if at == 0:
        nothing = {"ratio": None, "ratio_low": None, "ratio_high": None, "error": None, "verdict": "undecided"}
        return {"time": nothing, "peak": dict(nothing), "cpu_ns": 10 ** 9, "peak_bytes": 50_000_000, "mean_bytes": 30_000_000}
    name = NAMES[at]
    ratio = MIDDLE[name] * math.exp(.15 * math.sin(number * 1.7 + at)) * shift
    if name == "tcmalloc" and number % 25 == 3:
        ratio = 1.3
    peak = 1 + .2 * math.sin(number * 2.3 + at)
    return {"time": difference(ratio, ("faster", "slower")), "peak": difference(peak, ("less", "more")), "cpu_ns": int(10 ** 9 * ratio),
            "peak_bytes": int(50_000_000 * peak), "mean_bytes": int(30_000_000 * peak)}


def host(number, count, names, shift):
    return {"label": f"web-{number:04d}", "workload": "x.wl", "file_digest": f"{number:016x}", "program": "web" if number % 3 else "queue",
            "machine": "Test CPU, 2 cpus, x86_64", "share": 1 / count, "results": 2, "of": {"time": "process", "memory": "process"},
            "entries": [entry(at, number, shift) for at in range(len(names))]}


def mean_of(hosts, at, key):
    logs = [math.log(one["entries"][at][key]["ratio"]) for one in hosts]
    mean = sum(logs) / len(logs)
    spread = math.sqrt(sum((one - mean) ** 2 for one in logs) / (len(logs) - 1))
    return mean, 2.1 * spread / math.sqrt(len(logs))


def change(hosts, at, key, words):
    mean, half = mean_of(hosts, at, key)
    verdicts = [one["entries"][at][key]["verdict"] for one in hosts]
    known = len(hosts) >= 5
    word = words[0] if known and mean + half < 0 else words[1] if known and mean - half > 0 else "undecided"
    return {"ratio": math.exp(mean), "ratio_low": math.exp(mean - half) if known else None, "ratio_high": math.exp(mean + half) if known else None,
            "p_corrected": .001,
            "n_eff": float(len(hosts)), "verdict": word, "workloads": len(hosts),
            **{kind: verdicts.count(kind) for kind in (*words, "same", "undecided")}}


def total(hosts, at, key, unit):
    before, now = (sum(one["entries"][which][key] for one in hosts) for which in (0, at))
    return {f"baseline_{unit}": before, f"saved_{unit}": before - now, "ratio": now / before, "workloads": len(hosts)}


def candidate(hosts, at, names):
    if at == 0:
        return {"name": names[0], "ratio": None, "peak": {"ratio": None}, "peaks": total(hosts, 0, "peak_bytes", "bytes"),
                "means": total(hosts, 0, "mean_bytes", "bytes"), "largest_bytes": 50_000_000}
    losers = [{"label": one["label"], "workload": one["workload"], "file_digest": one["file_digest"], "ratio": one["entries"][at]["time"]["ratio"],
               "ratio_low": one["entries"][at]["time"]["ratio_low"], "ratio_high": one["entries"][at]["time"]["ratio_high"], "p_value": .001}
              for one in hosts if one["entries"][at]["time"]["ratio"] > 1.2]
    return {"name": names[at], **change(hosts, at, "time", ("faster", "slower")), "peak": change(hosts, at, "peak", ("less", "more")),
            "cpu": total(hosts, at, "cpu_ns", "ns"), "peaks": total(hosts, at, "peak_bytes", "bytes"), "means": total(hosts, at, "mean_bytes", "bytes"),
            "largest_bytes": 60_000_000, "doubtful": 0, "losers": losers}


def fleet(count, names=NAMES, shift=1.0, first=0):
    """Hosts `first` to first + count - 1."""
    hosts = [host(number, count, names, shift) for number in range(first, first + count)]
    return {"baseline": names[0], "machines": ["Test CPU, 2 cpus, x86_64"],
            "of": {"time": "process", "memory": "process"}, "loser_limit": .01, "workloads": count,
            "n_eff": float(count), "candidates": [candidate(hosts, at, names) for at in range(len(names))], "hosts": hosts}


def document(inside, missing=()):
    """As `mallab report --together --json` has it."""
    return {"schema": "mallab-fleet/1", "mallab_version": "0.1.0", "fleet": inside, "missing": list(missing), "mixed": [], "left_out": []}


if __name__ == "__main__":
    print(json.dumps(document(fleet(int(sys.argv[1]), shift=float(sys.argv[2]) if len(sys.argv) > 2 else 1.0))))
