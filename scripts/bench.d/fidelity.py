"""How far predictions and advice are from reality, for seven programs and ten of Debian: docs/fidelity.md is made from it. Each by
`mallab validate`, a service in a script that starts it, gives it work and stops it."""
import json
import pathlib
import random
import shutil
import subprocess

from debian import Debian, free_port
from programs import HERE, MALLAB, PYTHON_ENV, environment

MISSED = 0.05  # of the process: a gain that must not be missed
BARS = {"total": 0.03, "heap": 0.10}
SERVED = """(%(start)s) >/dev/null 2>&1 & server=$!; until %(ready)s; do sleep 0.02; done >/dev/null 2>&1
%(load)s >/dev/null 2>&1; kill $server; wait $server"""

SQL = """CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000)
INSERT INTO t SELECT x, printf('%d-%d', x * 7919 % 100003, x), x * 0.5 FROM n;
CREATE INDEX i ON t(b);
SELECT count(*), sum(c) FROM t JOIN (SELECT b AS d FROM t WHERE a % 3 = 0) ON b = d;
SELECT a % 1000 AS g, count(*), group_concat(b) FROM t GROUP BY g ORDER BY 2 LIMIT 3;"""

PYTHON = """
import json
everything = {}
for turn in range(3):
    text = json.dumps([{"id": i, "name": "n%d" % i, "tags": ["a%d" % (i % 7)] * 5, "value": i * 1.5} for i in range(20000)])
    everything[turn] = {item["name"]: item for item in json.loads(text)}
print(len(everything))
"""

RUBY = """
words = Hash.new { |hash, key| hash[key] = [] }
120000.times { |i| words["word#{i * 7919 % 5003}"] << "line #{i} of the text" }
text = words.sort.map { |word, lines| word + ": " + lines.join(", ") }.join("\\n")
puts text.scan(/word\\d+/).tally.size
"""


def c_source():
    """A file that keeps a compiler busy: 300 functions of the same kind, none of them the same."""
    chance = random.Random(1)
    lines = ["#include <stdio.h>", "#include <string.h>", "struct s { int a[8]; double d; char *p; };"]
    for i in range(300):
        terms = " + ".join(f"x->a[{chance.randrange(8)}] * {chance.randrange(999)}" for _ in range(6))
        lines.append(f"int f{i}(struct s *x, int n) {{ int r = 0; for (int i = 0; i < n; i++) {{ if (x->a[i & 7] > {i}) r += {terms};"
                     f" else r -= i * {chance.randrange(99)}; }} x->d += r; return r ^ (int)strlen(x->p); }}")
    return "\n".join(lines) + "\n"


class Outcome:
    """Peaks that met their bars, and advice beside reality, of one program or of all."""

    def __init__(self):
        self.peaks = {figure: [0, 0] for figure in BARS}
        self.advice = {"right": 0, "not shown": 0, "wrong": 0}
        self.missed = []

    def peak(self, figure, error):
        if error is not None:
            self.peaks[figure][0] += abs(error) <= BARS[figure]
            self.peaks[figure][1] += 1

    def advise(self, name, what, advice, gains):
        """advice: of the result. gains: candidate -> (gain, least gain that is shown, most), of the process. Returns a line, or None."""
        if advice["candidate"] is not None:
            self.advice[advice["shown"]] += 1
        mine = max(gains.get(advice["candidate"], (0,))[0], 0)
        best = max(gains, key=lambda candidate: gains[candidate][1], default=None)
        if best and best != advice["candidate"] and gains[best][1] > mine + MISSED:
            self.missed.append(f"{name}, {what}: {best} saves {100 * gains[best][0]:.1f} %")
            return f"missed: {best}, really {100 * gains[best][0]:.1f} % less ({100 * gains[best][1]:.1f} to {100 * gains[best][2]:.1f})"
        return None

    def summary(self):
        met = {figure: f"{met} of {all_}" for figure, (met, all_) in self.peaks.items()}
        return (f"peaks within 3 % in total {met['total']}, within 10 % of the heap {met['heap']}; advice right {self.advice['right']}, "
                f"not shown {self.advice['not shown']}, wrong {self.advice['wrong']}; gains above 5 % of the process missed {len(self.missed)}")


def gain_of(ratio, low, high):
    return 1 - ratio, 1 - high, 1 - low


class Fidelity:
    def __init__(self, report, workshop, rounds, options):
        self.report, self.rounds, self.touch, self.only = report, rounds, options.touch, options.only
        self.place = pathlib.Path(workshop.place)
        self.debian = Debian(self.place)
        self.outcome = Outcome()
        if options.install:
            self.debian.install(report.note)

    def known(self):
        """The seven that were always here, as Debian.programs has its ten."""
        for name, text in (("busy.c", c_source()), ("work.py", PYTHON), ("work.rb", RUBY)):
            (self.place / name).write_text(text)
        python = {"/usr/bin/python3": "python3"}
        yield "sqlite3", {"sqlite3": "sqlite3"}, {"command": ["sqlite3", ":memory:", SQL]}
        yield "python3", python, {"command": ["/usr/bin/python3", self.place / "work.py"], "env": PYTHON_ENV}
        yield "python3, its own arenas", python, {"command": ["/usr/bin/python3", self.place / "work.py"], "env": {"PYTHONHASHSEED": "0"}}
        yield "gcc (cc1)", {"gcc": "gcc"}, {"command": ["gcc", "-O2", "-c", self.place / "busy.c", "-o", "/dev/null"], "process": "cc1"}
        yield "ruby", {"ruby": "ruby"}, {"command": ["ruby", self.place / "work.rb"]}
        yield "redis-server", {"redis-server": "redis-server", "redis-benchmark": "redis-tools"}, {
            "command": [HERE / "redis-session", free_port()], "process": "redis-server"}
        yield "C++, 4 threads", {"g++": "g++"}, {"before": ["g++", "-O2", "-std=c++17", "-pthread", "-o", self.place / "workers", HERE / "workers.cc"],
                                                "command": [self.place / "workers"]}

    def validated(self, name, *arguments, env=None):
        """(result, what was printed); result None, with a note, where there is none."""
        kept = self.place / "fidelity.json"
        done = subprocess.run([str(c) for c in [MALLAB, "validate", "-q", "-n", self.rounds, "--seed", 1, "-f", "-o", kept, *arguments]],
                              env=environment(env), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if not kept.exists():
            self.report.note(f"fidelity: {name}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no result'}")
            return None, ""
        result = json.loads(kept.read_text())
        kept.unlink()
        return result, done.stdout.rstrip()

    def say_advice(self, name, what, advice, gains):
        line = self.outcome.advise(name, what, advice, gains)
        if line:
            self.report.say(f"            {line}")

    def keep_peaks(self, name, candidate, errors):
        for figure, error in errors.items():
            self.outcome.peak(figure, error)
            if error is not None:
                self.report.keep(f"fidelity/{name}/{candidate}/peak_{figure}", [abs(error)], "of real", BARS[figure])

    def program(self, name, command, process=None, env=None):
        options = ["--process", process] if process else []
        options += ["--touch", self.touch] if self.touch else []
        result, shown = self.validated(name, *options, "--", *command, env=env)
        if result is None:
            return
        self.report.say(f"\n{name}\n{shown}")
        times, peaks = {}, {}
        for one in result["candidates"]:
            if one["failed"] is not None or one["real"]["peak_total_bytes"] is None:
                self.report.note(f"fidelity: {name}: {one['name']} failed: {one['failed']}")
            else:
                self.keep_peaks(name, one["name"], {"total": one["error"]["peak_total"], "heap": one["error"]["peak_heap"]})
        for one in result["confirmed"]:
            for gains, key in ((times, "time"), (peaks, "peak")):
                ratios = [one[key][k] for k in ("ratio", "ratio_low", "ratio_high")]
                if not one["control"] and one["failed"] is None and None not in ratios:
                    noise = one["verdict"][key] in (None, "undecided", "same")
                    gains[one["candidate"]] = gain_of(ratios[0], *((min(ratios[1], 1), max(ratios[2], 1)) if noise else ratios[1:]))
        for key, gains in (("time", times), ("peak", peaks)):
            self.say_advice(name, key, result["validation"]["advice"][key], gains)

    def all(self):
        for name, needed, how in (*self.known(), *self.debian.programs()):
            missing = [f"{program} (apt install {package})" for program, package in needed.items() if not shutil.which(program)]
            if self.only and not any(word in name for word in self.only):
                continue
            if missing:
                self.report.note(f"fidelity: no {', '.join(missing)}: {name} is left out")
                continue
            if "before" in how:
                subprocess.run([str(c) for c in how["before"]], check=True, stdout=subprocess.DEVNULL)
            if "start" in how:
                self.program(name, ["sh", "-c", SERVED % how], how["process"], how.get("env"))
            else:
                self.program(name, how["command"], how.get("process"), how.get("env"))
        for line in self.outcome.missed:
            self.report.say(f"missed      {line}")
        self.report.say(f"\nin all      {self.outcome.summary()}")
        for kind, count in self.outcome.advice.items():
            self.report.keep(f"fidelity/advice {kind}", [count], "verdicts", 0 if kind == "wrong" else None)
        self.report.keep("fidelity/gains missed", [len(self.outcome.missed)], "above 5 %", 0)
