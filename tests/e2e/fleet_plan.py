"""What tests of a plan's engines share: plans of tiny cells, and what became of them."""

import json
import os
import pathlib
import signal

import lab

MALLAB = lab.BUILD / "mallab"
FLEET = lab.SOURCE / "scripts/fleet"


def small_plan(test, workloads, blocks=1, ops=20_000, candidates="glibc,jemalloc"):
    """A plan in test.place: cells of some tenths of a second, for any machine however busy. Returns its directory."""
    inputs = []
    for number in range(workloads):
        path = test.place / f"{number}.wl"
        lab.run([lab.PROGRAMS / "replay_workload", path, 1, ops, number + 1]).check_returncode()
        inputs.append(f"host{number}={path}")
    test.mallab("plan", "-o", "plan", "-a", candidates, "-n", 1, "--memory-rounds", 0, "--machine", "any", "--load", 100,
                "--blocks", blocks, *inputs)
    return test.place / "plan"


def results(plan):
    """{cell: its result}; a torn one fails to be read."""
    return {int(path.stem): json.loads(path.read_text()) for path in (plan / "cells").glob("*.json")}


def numbers(ranges):
    """`3,17-20` as a set."""
    pairs = [part.split("-") for part in ranges.split(",") if part]
    return {cell for pair in pairs for cell in range(int(pair[0]), int(pair[-1]) + 1)}


def workload_of(plan, cell):
    """The file that a cell is of."""
    rows = [line.split("\t") for line in (plan / "manifest.tsv").read_text().splitlines()]
    return plan / next(row[2] for row in rows if row[0] == str(cell))


def words_of(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


def is_cell(pid):
    """Whether a process is `mallab cell` itself, not what it started nor the shell around it, and in the middle: it has started
    something, so it has looked whether there is a result already."""
    try:
        return (os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "mallab" and words_of(pid)[1:2] == [b"cell"]
                and pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_bytes() != b"")
    except OSError:  # it has ended
        return False


def signal_to(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def stop_cell(pid):
    """SIGSTOP, and wait until it stands. The number of its cell; None where it ended before."""
    try:
        number = int(words_of(pid)[3])
        os.kill(pid, signal.SIGSTOP)
        state = "R"
        while state not in "TZX":
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return number if state == "T" else None
    except (OSError, IndexError):
        return None
