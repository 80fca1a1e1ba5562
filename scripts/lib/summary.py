#!/usr/bin/env python3
"""Name every test that was skipped or failed, with its reason: summary.py WORK STEP...

Reads what `meson test` leaves in WORK/STEP/meson-logs/testlog.json and the lines of WORK/skipped.
Prints only: the exit status of scripts/test comes from the steps themselves."""
import json
import pathlib
import sys


def last_line(test):
    """The reason of a skip is the last thing a test prints."""
    text = (test.get("stdout", "") + test.get("stderr", "")).strip()
    return text.splitlines()[-1] if text else "no reason printed"


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
            if test["result"] == "SKIP":
                notes.append(f"skipped  {step}: {test['name']}: {last_line(test)}")
            elif test["result"] not in ("OK", "EXPECTEDFAIL"):
                notes.append(f"{test['result'].lower():8} {step}: {test['name']}")
    notes += [f"skipped  {line}" for line in (work / "skipped").read_text().splitlines()]
    print("tests: " + (", ".join(f"{n} {kind.lower()}" for kind, n in sorted(counts.items())) or "none run"))
    for note in notes:
        print(note)


main()
