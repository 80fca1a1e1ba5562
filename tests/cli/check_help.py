#!/usr/bin/env python3
"""Help and man pages agree and fit: every verb has both, every option of --help is in the man page and the other way
round, completion offers exactly these, and only words that they take, lines fit 80 columns, --help and -h exit 0, an
unknown option exits 2 with a hint. The list of verbs fits a screen of 24 lines, the help of a verb two; `--all` has all options."""
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("MALLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("MALLAB_BUILD", SOURCE / "build"))
OPTION = re.compile(r"(?<![\w-])(--?[a-zA-Z][a-z-]*)")
problems = []


def mallab(*arguments):
    return subprocess.run([BUILD / "mallab", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def check(condition, text):
    if not condition:
        problems.append(text)


def options_of_help(text):
    """Those at the beginning of a line: the list of options, not the examples."""
    return {word for line in text.splitlines() if re.match(r" +-", line)
            for word in re.findall(r"(?:^ +|, )(--?[a-zA-Z][a-z-]*)", line)}


def options_of_page(text):
    plain = re.sub(r"\\f[BIRP]", "", text.replace(r"\-", "-"))
    heads = re.findall(r"^\.TP\n\.B[IR]? ?(.*)$", plain, re.M)
    return {word for head in heads if head.lstrip().startswith("-") for word in OPTION.findall(head)}


listing = mallab("help").stdout
verbs = re.findall(r"^  ([a-z]+)  ", listing, re.M)
check(len(verbs) >= 7, f"only {verbs} in the list of verbs")
check(len(listing.splitlines()) <= 24, f"the list of verbs has {len(listing.splitlines())} lines: a screen has 24")
check(mallab("--help").stdout == listing and mallab("-h").stdout == listing, "'mallab --help' is not 'mallab help'")
page = (SOURCE / "docs/man/mallab.1").read_text()
check({"--version", "--help", "-h"} <= options_of_page(page), "mallab.1 lacks an option of mallab")
entries = 0
for verb in verbs:
    check(f"mallab\\-{verb}" in page, f"mallab.1 does not name mallab-{verb}(1)")
    answers = [mallab("help", verb), mallab(verb, "--help"), mallab(verb, "-h")]
    text = answers[0].stdout
    for answer in answers:
        check(answer.returncode == 0 and answer.stdout == text and answer.stderr == "", f"{verb}: help differs or fails")
    for line in listing.splitlines() + text.splitlines():
        check(len(line) <= 80, f"{verb}: longer than 80 columns: {line}")
    check(text.startswith(f"usage: mallab {verb}"), f"{verb}: help does not begin with its usage")
    check("example: mallab " in text and "exit codes: " in text, f"{verb}: help lacks an example or the exit codes")
    check(len(text.splitlines()) <= 48, f"{verb}: help has {len(text.splitlines())} lines: two screens have 48")
    whole = mallab("help", verb, "--all").stdout
    check(all(len(line) <= 80 for line in whole.splitlines()), f"{verb}: --all is longer than 80 columns")
    left_out = len(re.findall(r"^  (?:-\w, |    )--", whole, re.M)) - len(re.findall(r"^  (?:-\w, |    )--", text, re.M))
    told = re.search(rf"^'mallab help {verb} --all' has (1 more option|\d+ more options)\.$", text, re.M)
    check(int(told[1].split()[0]) == left_out if told else left_out == 0, f"{verb}: help does not say that --all has {left_out} more")
    check(told is None or f"mallab help {verb} --all" not in whole, f"{verb}: --all names itself")
    entries += len(re.findall(r"^  (?:-\w, |    )--", whole, re.M))
    check(options_of_help(text) <= options_of_help(whole), f"{verb}: --all lacks an option of the help")
    of_help, of_page = options_of_help(whole), options_of_page((BUILD / f"docs/man/mallab-{verb}.1").read_text())
    check(len(of_help) >= 2, f"{verb}: no options found in help")
    check(of_help == of_page, f"{verb}: options differ between help and man page: {sorted(of_help ^ of_page)}")
    for option in of_help:
        # A prefix of one option must not be taken for another by accident: each is accepted as it stands.
        answer = mallab(verb, option, "--help")
        check("unknown option" not in answer.stderr, f"{verb}: {option} is in the help, but refused")
        words = mallab("--complete", verb, option, "").stdout.splitlines()
        for word in (line.split("\t")[0] for line in words if ":nospace" not in words and line[0] != ":"):
            answer = mallab(verb, option, word, "--help")
            check(answer.returncode == 0, f"{verb} {option}: completion offers '{word}', which is refused: {answer.stderr!r}")
    offered = {line.split("\t")[0] for line in mallab("--complete", verb, "-").stdout.splitlines()}
    check(offered == of_help, f"{verb}: options differ between help and completion: {sorted(offered ^ of_help)}")
    for wrong in ("--no-such-option", "-Z"):
        answer = mallab(verb, wrong)
        check(answer.returncode == 2 and answer.stdout == "", f"{verb} {wrong}: exit {answer.returncode}")
        lines = answer.stderr.splitlines()
        check(len(lines) == 2 and wrong in lines[0] and ("'mallab help' lists" if verb == "help" else f"mallab help {verb}") in lines[1],
              f"{verb} {wrong}: not one line and a hint: {answer.stderr!r}")
formats = [line.split("\t")[0] for line in mallab("--complete", "convert", "--from", "").stdout.splitlines()]
check(len(formats) >= 9, f"only the formats {formats} are offered for convert --from")
for name in formats:
    check(re.search(rf"^ {{25}}{re.escape(name)} +\S", mallab("help", "convert", "--all").stdout, re.M), f"convert's help lacks {name}")
    escaped = name.replace("-", r"\-")
    check(re.search(rf"^\.BR? .*\b{re.escape(escaped)}\b", (BUILD / "docs/man/mallab-convert.1").read_text(), re.M),
          f"mallab-convert.1 does not name the format {name}")
    check(name in ("footprint", "recording", "workload", "text") or f"| `{name}` |" in (SOURCE / "docs/importing.md").read_text(),
          f"docs/importing.md has no row for {name}")
for path in sorted((SOURCE / "docs/man").glob("*.1")):
    check(path.stem == "mallab" or path.stem.split("-", 1)[1] in verbs, f"{path.name}: no such verb")
for problem in problems:
    print(problem)
print(f"{len(verbs)} verbs, {entries} options, {len(problems)} problems")
sys.exit(1 if problems else 0)
