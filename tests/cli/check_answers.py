#!/usr/bin/env python3
"""The options that verbs share mean the same in each that has them: -o with an empty name, a file that is there (with and without -f), a
directory, a directory that is not there or cannot be written, and '-'; --color, --format, --keep and their like with values
that are none. The verbs and their options are those of their help, so that a new verb is in here or fails."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("MALLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2])).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "e2e"))
from installed import installed
BUILD = installed(pathlib.Path(os.environ.get("MALLAB_BUILD", SOURCE / "build")).resolve(), SOURCE)
DATA = SOURCE / "tests/cli/data"
# What each verb with -o is given besides; DONE: it is quick enough to be run to its end.
QUICK = ["-n", "1", "-a", "glibc"]
OPERANDS = {
    "ab": QUICK + ["web.wl"],
    "confirm": ["-n", "1", "-a", "glibc,glibc+nocache", "--", "true"],
    "tune": ["--time-budget", "1s", "-a", "glibc+nocache", "-b", "glibc", "web.wl"],
    "convert": ["web.mtrace"],
    "report": [DATA / "result.json"],
    "compare": [DATA / "gate-then.json", DATA / "gate-now.json"],
    "sites": ["sites.fp"],
    "leaks": ["sites.fp"],
    "flame": ["sites.fp"],
    "record": ["--", "true"],  # DIR, of which there is always another: not of this table but for '' and -
}
DONE = ("ab", "confirm", "tune", "convert", "report", "compare", "sites", "leaks")
KEEPS_IN_DIRECTORY = ("ab", "confirm", "tune")
problems = []


def check(condition, text):
    if not condition:
        problems.append(text)


def mallab(*arguments, as_nobody=False):
    command = [BUILD / "mallab", *arguments]
    if as_nobody and os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                          timeout=60)


def said(verb, answer):
    """Its lines on stderr without the verb's name."""
    return [line.removeprefix(f"mallab {verb}: ") for line in answer.stderr.splitlines()]


def refused(verb, arguments, code, text, **how):
    answer = mallab(verb, *arguments, **how)
    lines = said(verb, answer)
    check(answer.returncode == code, f"{verb} {arguments}: exit {answer.returncode}, not {code}: {answer.stderr!r}")
    check(lines[:1] == [text], f"{verb} {arguments}: {lines[:1]}, not {text!r}")
    check(answer.stdout == "", f"{verb} {arguments}: says on stdout {answer.stdout[:80]!r}")
    check((len(lines) == 2 and "mallab help" in lines[1]) if code == 2 else len(lines) == 1,
          f"{verb} {arguments}: not one line: {lines}")


def ended_well(answer):
    """A sanitizer serves malloc itself (gcc's from a library, clang's from the program), so that ab's runs fail; what is
    given out of them is the same."""
    sanitized = re.search(r"wrong allocator: malloc comes from '[^']*(lib[at]san|/mallab-replay-glibc')", answer.stderr)
    return answer.returncode == (1 if sanitized else 0)


def check_output(verb):
    operands = OPERANDS[verb]
    refused(verb, ["-o", "", *operands], 2, "--output takes a name, or - for stdout, not ''")
    if verb == "record":
        what = "recording"
        refused(verb, ["-o", "-", *operands], 2, f"-o takes a directory: a {what} does not go to stdout")
        return
    pathlib.Path("taken").write_text("precious\n")
    refused(verb, ["-o", "taken", *operands], 1, "'taken' exists already: choose another name, or add --force")
    check(pathlib.Path("taken").read_text() == "precious\n", f"{verb}: 'taken' was changed")
    refused(verb, ["-o", "absent/out", *operands], 1,
            "cannot write 'absent/out': there is no directory 'absent'; make it first")
    refused(verb, ["-f", "-o", "pipe", *operands], 1,
            "cannot write 'pipe': it is no regular file, and would be replaced by one; '-o - >pipe' writes to it")
    if verb not in KEEPS_IN_DIRECTORY:
        refused(verb, ["-f", "-o", "folder", *operands], 1, "cannot write 'folder': it is a directory: name a file in it")
    if NOBODY_CAN_RUN:
        refused(verb, ["-o", "locked/out", *operands], 1, "cannot write 'locked/out': Permission denied; choose another directory", as_nobody=True)
    check(os.listdir("locked") == [] and not pathlib.Path("absent").exists(), f"{verb}: something was written")
    if verb not in DONE:
        return
    done = mallab(verb, "-f", "-o", "taken", *operands)
    check(ended_well(done) and pathlib.Path("taken").read_bytes()[:9] != b"precious\n", f"{verb} -f: {done.stderr}")
    piped = mallab(verb, "-o", "-", *operands)
    check(ended_well(piped) and piped.stdout != "", f"{verb} -o -: {piped.stderr}")
    check(not pathlib.Path("-").exists(), f"{verb} -o -: made a file of that name")
    if verb in KEEPS_IN_DIRECTORY:  # one answer, not the table behind it too
        check(json.loads(piped.stdout)["schema"].startswith("mallab-experiment/"), f"{verb} -o -: no JSON")
        kept = mallab(verb, "-o", "folder", *operands)
        check(len(os.listdir("folder")) == 1 and "kept as 'folder/" in kept.stderr, f"{verb} -o DIR: {kept.stderr}")


def check_values(verb, options):
    operands = OPERANDS.get(verb, ["x"])
    bad = {
        "--color": ("sometimes", r"--color takes 'auto', 'always' or 'never', not 'sometimes'"),
        "--format": ("pdf", r"--format takes 'table'(, '(md|csv|json|html)')* or '(json|html|csv)', not 'pdf'"),
        "--timeout": ("0", r"--timeout takes a time such as 90s or 5m, not '0'"),
        "--limit": ("much", r"--limit takes a size such as 64M or 1\.5G, not 'much'"),
        "--max-memory": ("much", r"--max-memory takes a size such as .*"),
        "--seed": ("0x10", r"--seed takes a number from 0 to 2\^53 - 1, not '0x10'"),
        "--rounds": ("0", r"--rounds takes a number from 1 to 1000, not '0'"),
        "--keep": ("", r"--keep takes the name of a directory, not ''"),
        "--keep-windows": ("", r"--keep-windows takes a number of windows, not ''"),
    }
    for option, (value, pattern) in bad.items():
        if option not in options:
            continue
        answer = mallab(verb, option, value, *operands)
        lines = said(verb, answer)
        check(answer.returncode == 2 and len(lines) == 2 and re.fullmatch(pattern, lines[0]),
              f"{verb} {option} {value!r}: exit {answer.returncode}, {lines}")
    for option in ("--json", "--force", "--quiet", "--details"):
        if option in options:
            answer = mallab(verb, f"{option}=yes", *operands)
            check(answer.returncode == 2 and said(verb, answer)[0] == f"option '{option}=yes' takes no value",
                  f"{verb} {option}=yes: {answer.stderr!r}")


def check_help_lines(verb, text):
    """The same words for the same option, but for what is behind a comma."""
    lines = {"--force": r"replace ((each )?FILE|OUT) when it exists",
             "--help": r"print this help",
             "--color": r"auto, always or never(, for \w+( \w+)?)? \[auto\]"}
    for option, pattern in lines.items():
        found = re.search(rf"^ +(?:-\w, )?{option}(?: [A-Z]+)? +(.*)$", text, re.M)
        check(found is None or re.fullmatch(pattern, found[1]), f"{verb}: help of {option} is {found and found[1]!r}")


place = tempfile.mkdtemp(prefix="mallab-answers-")
NOBODY_CAN_RUN = mallab("--version", as_nobody=True).returncode == 0
if not NOBODY_CAN_RUN:
    print(f"another user cannot run {BUILD}/mallab: a directory that cannot be written is not tried")
try:
    os.chdir(place)
    os.chmod(place, 0o755)
    pathlib.Path("web.mtrace").write_text("= Start\n+ 0x10 0x5\n- 0x10\n")
    shutil.copyfile(DATA.parents[1] / "golden/valid/sites.fp", "sites.fp")
    os.chmod("sites.fp", 0o644)  # a tarball's may be writable to its group
    os.mkfifo("pipe")
    os.mkdir("locked")
    os.chmod("locked", 0o555)
    check(mallab("convert", "-q", "-o", "web.wl", "web.mtrace").returncode == 0, "there is no workload to begin with")
    verbs = re.findall(r"^  ([a-z]+)  ", mallab("help").stdout, re.M)
    for one in verbs:
        shutil.rmtree("folder", ignore_errors=True)
        os.mkdir("folder")
        text = mallab("help", one, "--all").stdout
        of_verb = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", text, re.M))
        check("--output" not in of_verb or one in OPERANDS, f"{one} has --output: tell this test how it is called")
        if "--output" in of_verb:
            check_output(one)
        check_values(one, of_verb)
        check_help_lines(one, text)
finally:
    os.chdir("/")
    shutil.rmtree(place)
for problem in problems:
    print(problem)
print(f"{len(verbs)} verbs, {len(problems)} problems")
sys.exit(1 if problems else 0)
