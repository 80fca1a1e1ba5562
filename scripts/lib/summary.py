#!/usr/bin/env python3
"""Name every test that was skipped or failed, with its reason: summary.py WORK STEP...

Reads what `meson test` leaves in WORK/STEP/meson-logs/testlog.json and the lines of WORK/skipped.
Prints only: the exit status of scripts/test comes from the steps themselves."""
import json
import pathlib
import sys


def reasons(test):
    """A test that is skipped prints why last; one that skips a part of itself prints a line "skipped WHAT: WHY"."""
    lines = (test.get("stdout", "").strip() or test.get("stderr", "").strip()).splitlines()
    named = [line[len("skipped "):] for line in lines if line.startswith("skipped ")]
    if test["result"] == "SKIP":
        return named or lines[-1:] or ["no reason printed"]
    return named


def main():
    work = pathlib.Path(sys.argv[1])
    counts = {}
    notes = []
    for step in sys.argv[2:]:
        log = work / step / "meson-logs" / "testlog.json"
        if not log.exists():
            continue
        for line in log.read_text(errors="replace").splitlines():
            test = json.loads(line)
            counts[test["result"]] = counts.get(test["result"], 0) + 1
            notes += [f"skipped  {step}: {test['name']}: {why}" for why in reasons(test)]
            if test["result"] not in ("OK", "SKIP", "EXPECTEDFAIL"):
                notes.append(f"{test['result'].lower():8} {step}: {test['name']}")
    notes += [f"skipped  {line}" for line in (work / "skipped").read_text().splitlines()]
    print("tests: " + (", ".join(f"{n} {kind.lower()}" for kind, n in sorted(counts.items())) or "none run"))
    for note in notes:
        print(note)


main()
