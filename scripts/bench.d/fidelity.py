"""How far predictions and advice are from reality, for seven programs and ten of Debian: docs/fidelity.md is made from it. `mallab ab`
predicts, `mallab confirm` runs the program itself under each candidate; a service in a script that starts it, gives it work and stops it."""
import json
import pathlib
import random
import shutil
import statistics
import subprocess

from debian import Debian, free_port
from programs import HERE, MALLAB, PYTHON_ENV, environment

MISSED = 0.05  # of the process: a gain that must not be missed
PEAK = 0.03  # of the real one: how far a predicted peak may be from it
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
    """Peaks that met their bar, and advice beside reality, of all programs."""

    def __init__(self):
        self.peaks = [0, 0]
        self.advice = {"right": 0, "not shown": 0, "wrong": 0}
        self.missed = []

    def peak(self, error):
        self.peaks[0] += abs(error) <= PEAK
        self.peaks[1] += 1

    def advise(self, name, what, candidate, real):
        """candidate: that the replays advise, or None. real: candidate -> (verdict, gain, least gain that is shown)."""
        if candidate in real:
            word = {"faster": "right", "less": "right", "slower": "wrong", "more": "wrong"}.get(real[candidate][0], "not shown")
            self.advice[word] += 1
        mine = max(real[candidate][1], 0) if candidate in real else 0
        best = max(real, key=lambda other: real[other][2], default=None)
        if best and best != candidate and real[best][2] > mine + MISSED:
            self.missed.append(f"{name}, {what}: {best} saves {100 * real[best][1]:.1f} %")

    def summary(self):
        return (f"peaks within {100 * PEAK:.0f} % in total {self.peaks[0]} of {self.peaks[1]}; advice right {self.advice['right']}, not shown "
                f"{self.advice['not shown']}, wrong {self.advice['wrong']}; gains above {100 * MISSED:.0f} % of the program missed {len(self.missed)}")


class Predicted:
    """What `mallab ab` says that a program would take under each candidate."""

    def __init__(self, result, startup):
        self.startup = startup
        workload = result["workloads"][0]
        self.verdict, self.candidates = workload["verdict"] or {}, {one["name"]: one for one in workload["candidates"]}
        process = workload["process"]
        self.calls_ns = (process["cpu_user_ns"] + process["cpu_system_ns"]) * (workload["share"].get("time") or 0)
        self.baseline = result["baseline"]

    def advised(self, what):
        answer = self.verdict.get(what) or {}
        return answer.get("candidate") if answer.get("answer", "take") == "take" else None  # older ones named nobody else

    def saved_ns(self, name):
        """In calls, less what its start takes, where the verdict knows that."""
        ratio, start = self.candidates[name]["time"].get("ratio"), self.candidates[name].get("start")
        knows_starts = "answer" in (self.verdict.get("time") or {})
        return None if ratio is None else (1 - ratio) * self.calls_ns - ((start or {}).get("more_cpu_ns") or 0) * knows_starts

    def held_bytes(self, name):
        """By the heap at its peak, and by what the candidate takes in a program that never calls it, its libraries too."""
        resident = self.candidates[name]["resident"]
        if resident.get("peak_bytes") is None:
            return None
        return resident["peak_bytes"] - (resident.get("own_start_bytes") or 0) + self.startup(self.candidates[name])

    def peak_bytes(self, name, real_baseline):
        """The real program's under the baseline, and what the replays differ by."""
        held = [self.held_bytes(one) for one in (name, self.baseline)]
        return None if None in held or real_baseline is None else real_baseline + held[0] - held[1]


def percent(share):
    return "-" if share is None else f"{100 * share:+.1f} %"


def range_of(figure):
    ratios = [figure[key] for key in ("ratio", "ratio_low", "ratio_high")]
    return "-" if None in ratios else f"{percent(ratios[0] - 1)} ({100 * (ratios[1] - 1):+.1f} to {100 * (ratios[2] - 1):+.1f})"


class Fidelity:
    def __init__(self, report, workshop, rounds, options, then=None):
        """then: another build, whose predictions are held against the same reality."""
        self.report, self.rounds, self.only = report, rounds, options.only
        self.place = pathlib.Path(workshop.place)
        self.workshop, self.startups = workshop, {}
        self.debian = Debian(self.place)
        self.mallabs = {"now": MALLAB} | ({"then": then / "mallab"} if then else {})
        self.outcomes = {which: Outcome() for which in self.mallabs}
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

    def startup(self, candidate):
        """Bytes that true(1) takes under it at most."""
        library = candidate["library"] if "libc.so" not in candidate["library"] else ""
        if library not in self.startups:
            env = {**candidate["environment"], "LD_PRELOAD": library}
            self.startups[library] = statistics.median(self.workshop.measured(["true"], env)["peak_kb"] * 1024 for _ in range(5))
        return self.startups[library]

    def answer(self, name, verb, *arguments, env=None, mallab=MALLAB):
        """What a verb prints as JSON; None, with a note, where it fails altogether."""
        done = subprocess.run([str(c) for c in (mallab, verb, "-q", "-n", self.rounds, "--seed", 1, "--json", *arguments)],
                              env=environment(env), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.stdout:
            return json.loads(done.stdout)
        self.report.note(f"fidelity: {name}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no result'}")
        return None

    def row(self, name, which, predicted, one):
        """A candidate's line: both figures beside what they were to be."""
        candidate = one["candidate"]
        saved, peak = predicted.saved_ns(candidate), predicted.peak_bytes(candidate, one["peak"]["baseline_bytes"])
        time = None if saved is None or not one["time"]["baseline_ns"] else -saved / one["time"]["baseline_ns"]
        error = None if peak is None or not one["peak"]["bytes"] else peak / one["peak"]["bytes"] - 1
        if error is not None:
            self.outcomes[which].peak(error)
            self.report.keep(f"fidelity/{'' if which == 'now' else 'then/'}{name}/{candidate}/peak", [abs(error)], "of real", PEAK)
        peaks = ["-" if size is None else f"{size / 1e6:.1f}" for size in (peak, one["peak"]["bytes"])]
        self.report.say(f"  {candidate if which == 'now' else '  then':21} {percent(time):>8} {range_of(one['time']):>27}   {peaks[0]:>7} {peaks[1]:>7} {percent(error):>9}")

    def program(self, name, command, process=None, env=None):
        options = ["--process", process] if process else []
        results = {which: self.answer(name, "ab", *options, "--", *command, env=env, mallab=mallab) for which, mallab in self.mallabs.items()}
        real = all(results.values()) and self.answer(name, "confirm", "--", *command, env=env)
        if not real:
            return
        predictions = {which: Predicted(result, self.startup) for which, result in results.items()}
        self.report.say(f"\n{name:23} time to be {'is (95 %)':>21}   peak, MB to be      is     error")
        gains = {"time": {}, "peak": {}}
        for one in real["confirmed"]:
            if one["control"]:
                continue
            if one["failed"] is not None or any(one["candidate"] not in predicted.candidates for predicted in predictions.values()):
                self.report.note(f"fidelity: {name}: {one['candidate']} failed: {one['failed'] or 'it was not replayed'}")
                continue
            for which, predicted in predictions.items():
                self.row(name, which, predicted, one)
            for what in gains:
                if one[what]["ratio"] is not None and one[what]["ratio_high"] is not None:
                    gains[what][one["candidate"]] = (one["verdict"][what], 1 - one[what]["ratio"], 1 - one[what]["ratio_high"])
        for which, predicted in predictions.items():
            for what, found in gains.items():
                self.outcomes[which].advise(name, what, predicted.advised(what), found)

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
        for which, outcome in self.outcomes.items():
            for line in outcome.missed:
                self.report.say(f"missed, {which}  {line}")
            self.report.say(f"\nin all, {which}  {outcome.summary()}")
            for kind, count in outcome.advice.items():
                self.report.keep(f"fidelity/{which}: advice {kind}", [count], "verdicts", 0 if kind == "wrong" and which == "now" else None)
            self.report.keep(f"fidelity/{which}: gains missed", [len(outcome.missed)], "of them", 0 if which == "now" else None)
