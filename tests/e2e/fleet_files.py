"""A fleet of results as files, for tests: one real result, again for each host with figures of its own.
`fleet_files.py DIRECTORY COUNT [BASE.json]` fills a directory with results of very different sizes, every fourth of them compressed."""
import copy
import json
import math
import pathlib
import subprocess
import sys

BASE = pathlib.Path(__file__).parents[1] / "cli/data/gate-now.json"


def turned(entry, factor):
    """An entry whose times are so many times as long, in each run and in the figures."""
    for run in entry.get("runs", ()):
        run["whole_ns_per_op"] *= factor
        run["batch_ns"] = [None if one is None else round(one * factor) for one in run.get("batch_ns") or ()]
    for key in ("ratio", "ratio_low", "ratio_high", "steady_ns_per_op"):
        if entry.get("time", {}).get(key) is not None:
            entry["time"][key] *= factor


def result(number, base, rounds=None, label=None):
    """Of host `number`: candidates are faster or slower than on others by up to 10 %."""
    made = copy.deepcopy(base)
    (workload,) = made["workloads"] = made["workloads"][:1]
    made["created_unix_ns"] = made.get("created_unix_ns", 10 ** 18) + number
    workload.update(label=label or f"web{number}", file_digest=f"{number:016x}")
    for at, entry in enumerate(workload["candidates"]):
        if at > 0:
            turned(entry, math.exp(0.1 * math.sin(1.7 * number + at)))
        for key in ("runs", "memory_runs"):
            if rounds and entry.get(key):
                entry[key] = [entry[key][i % len(entry[key])] for i in range(rounds)]
    for entry in (workload["control"], workload.get("floor")):
        if rounds and entry and entry.get("runs"):
            entry["runs"] = [entry["runs"][i % len(entry["runs"])] for i in range(rounds)]
    if rounds:
        workload["rounds"] = rounds
    return made


def write(path, document):
    """Compressed where its name ends so."""
    text = json.dumps(document).encode()
    if path.suffix == ".zst":
        subprocess.run(["zstd", "-q", "-f", "-o", path], input=text, check=True)
    else:
        path.write_bytes(text)


def fill(directory, count, base=BASE, rounds=lambda number: None):
    base = json.loads(pathlib.Path(base).read_text())
    for number in range(count):
        ending = ".json.zst" if number % 4 == 3 else ".json"
        write(directory / f"web{number}{ending}", result(number, base, rounds(number)))


if __name__ == "__main__":
    fill(pathlib.Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:4], rounds=lambda number: int(2 * math.exp(math.log(15) * (number * 0.618 % 1))))
