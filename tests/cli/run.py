#!/usr/bin/env python3
"""Command lines tested as files: run each case's case.sh and compare what it prints with the files beside it.

A case is a folder in cases/ with case.sh (run by sh -eu in an empty directory) and, where they are not empty or
0, stdout, stderr and exit. Variables: MALLAB (the program), CASE (the case's folder), DATA (files that cases share),
MALLAB_BUILD. In what is printed these paths become @MALLAB_BUILD@, @SOURCE@ and @PLACE@ (the empty directory).
A line of an expected file may be a pattern: '~' and a regular expression that the whole line must match.

  run.py CASE...             run these cases (default: all)
  run.py --rewrite CASE...   write what is printed into the files; look at the difference before committing it
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("MALLAB_SOURCE", HERE.parents[1])).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "e2e"))
from installed import installed
BUILD = installed(pathlib.Path(os.environ.get("MALLAB_BUILD", SOURCE / "build")).resolve(), SOURCE)
STREAMS = ("stdout", "stderr", "exit")


def run(case):
    """What the case prints and returns, paths replaced: {stream: text}."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="mallab-cli-")).resolve()
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("MALLAB_", "LC_", "MALLOC")) and key not in ("LANG", "LD_PRELOAD", "NO_COLOR")}
    os.umask(0o022)  # what others may write to is not believed
    environment.update(MALLAB=str(BUILD / "mallab"), CASE=str(case), DATA=str(HERE / "data"), LC_ALL="C",
                       MALLAB_BUILD=str(BUILD), TERM="dumb")
    try:
        result = subprocess.run(["sh", "-eu", str(case / "case.sh")], cwd=place, env=environment, timeout=120,
                                stdin=subprocess.DEVNULL, capture_output=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    seen = {"stdout": result.stdout, "stderr": result.stderr, "exit": b"%d\n" % result.returncode}
    for name, text in seen.items():
        text = text.decode("utf-8", "backslashreplace")
        for path, word in ((place, "@PLACE@"), (BUILD, "@MALLAB_BUILD@"), (SOURCE, "@SOURCE@")):
            text = text.replace(str(path), word)
        seen[name] = text
    return seen


def expected(case, stream):
    path = case / stream
    return path.read_text() if path.exists() else "0\n" if stream == "exit" else ""


def agrees(seen, wanted):
    seen, wanted = seen.splitlines(True), wanted.splitlines(True)
    return len(seen) == len(wanted) and all(
        re.fullmatch(want[1:].rstrip("\n"), line.rstrip("\n")) if want.startswith("~") else line == want
        for line, want in zip(seen, wanted))


def rewrite(case, seen):
    for stream in STREAMS:
        path = case / stream
        if seen[stream] == ("0\n" if stream == "exit" else ""):
            path.unlink(missing_ok=True)
        elif not agrees(seen[stream], expected(case, stream)):
            path.write_text(seen[stream])


def main(arguments):
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    rewriting = arguments[:1] == ["--rewrite"]
    names = arguments[rewriting:] or sorted(path.parent.name for path in (HERE / "cases").glob("*/case.sh"))
    failures = 0
    for name in names:
        case = HERE / "cases" / name
        seen = run(case)
        if rewriting:
            rewrite(case, seen)
            continue
        wrong = [stream for stream in STREAMS if not agrees(seen[stream], expected(case, stream))]
        failures += bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {name}")
        for stream in wrong:
            print(f"--- {name}/{stream}, expected:\n{expected(case, stream)}--- seen:\n{seen[stream]}---")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
