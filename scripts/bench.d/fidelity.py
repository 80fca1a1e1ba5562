"""How far predictions and advice are from reality, for seven programs and ten of Debian: docs/fidelity.md is made from it. A program that
ends by itself: `mallab validate`, whose result has the verdict of `ab` too. A service: `ab` of its recording beside `confirm`."""
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import time

from debian import Debian, free_port
from programs import HERE, MALLAB, PYTHON_ENV, environment

WORTH = 0.01  # of the process: a smaller saving is told not to be worth it (results/measure/figures/verdict.h)
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

    def advise(self, name, what, saving, real):
        """saving: of ab's verdict. real: candidate -> (gain, least gain that is shown, most), of the process. Returns a line."""
        advised = saving["candidate"] if saving["candidate"] in real and (saving["of_process"] is None or saving["of_process"] >= WORTH) else None
        gain, least, most = real.get(advised, (0, 0, 0))
        line = f"{what}: none"
        if advised:
            found = "right" if least > 0 else "wrong" if most < 0 else "not shown"
            self.advice[found] += 1
            line = f"{what}: {advised} saves {100 * (saving['of_process'] or 0):.1f} %, really {100 * gain:.1f} ({100 * least:.1f} to {100 * most:.1f}): {found}"
        best = max(real, key=lambda candidate: real[candidate][1], default=None)
        if best and best != advised and real[best][1] > max(gain, 0) + MISSED:
            self.missed.append(f"{name}, {what}: {best} saves {100 * real[best][0]:.1f} %")
            line += f"; missed: {best}, really {100 * real[best][0]:.1f} % less ({100 * real[best][1]:.1f} to {100 * real[best][2]:.1f})"
        return line

    def summary(self):
        met = {figure: f"{met} of {all_}" for figure, (met, all_) in self.peaks.items()}
        return (f"peaks within 3 % in total {met['total']}, within 10 % of the heap {met['heap']}; advice right {self.advice['right']}, "
                f"not shown {self.advice['not shown']}, wrong {self.advice['wrong']}; gains above 5 % of the process missed {len(self.missed)}")


def gain_of(ratio, low, high):
    return 1 - ratio, 1 - high, 1 - low


def files_of(pid):
    """Resident bytes of each file that a process maps, but for what was written."""
    found, name = {}, ""
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        words = line.split(maxsplit=5)
        if not words[0].endswith(":"):
            name = words[5] if len(words) > 5 else ""
        elif name.startswith("/") and words[0] in ("Rss:", "Anonymous:"):
            found[name] = found.get(name, 0) + (1 if words[0] == "Rss:" else -1) * int(words[1]) * 1024
    return found


def processes_of(pid):
    """[(RssAnon, files)] of a process and all below it."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        files = files_of(pid)
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    own = next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("RssAnon")), 0)
    return sum((processes_of(child) for child in children), [(own, files)])


def anonymous_of(processes):
    return sum(anonymous for anonymous, _ in processes)


def brought(start, base_start, processes):
    """Bytes of files that a candidate brings into that process of the baseline with most, as `confirm` counts them once."""
    has = max((files for _, files in processes), key=lambda files: sum(files.values()))
    return sum(max(held - max(base_start.get(name, 0), has.get(name, 0)), 0) for name, held in start.items())


class Fidelity:
    def __init__(self, report, workshop, rounds, options):
        self.report, self.rounds, self.touch, self.recordings, self.only = report, rounds, options.touch, options.recordings, options.only
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

    def mallab(self, name, verb, *arguments, env=None):
        """(result, what was printed); result None, with a note, where there is none."""
        kept = self.place / "fidelity.json"
        done = subprocess.run([str(c) for c in [MALLAB, verb, "-q", "-n", self.rounds, "--seed", 1, "-f", "-o", kept, *arguments]],
                              env=environment(env), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if not kept.exists():
            self.report.note(f"fidelity: {name}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no result'}")
            return None, ""
        result = json.loads(kept.read_text())
        kept.unlink()
        return result, done.stdout.rstrip()

    def say_advice(self, name, result, times, peaks):
        verdict = result["verdict"]
        self.report.say("advice      " + self.outcome.advise(name, "time", verdict["time"], times))
        self.report.say("            " + self.outcome.advise(name, "peak", verdict["peak"], peaks))

    def keep_peaks(self, name, candidate, errors):
        for figure, error in errors.items():
            self.outcome.peak(figure, error)
            if error is not None:
                self.report.keep(f"fidelity/{name}/{candidate}/peak_{figure}", [abs(error)], "of real", BARS[figure])

    def program(self, name, command, process=None, env=None):
        options = ["--process", process] if process else []
        options += ["--touch", self.touch] if self.touch else []
        options += ["--recordings", self.recordings] if self.recordings is not None else []
        result, shown = self.mallab(name, "validate", *options, "--", *command, env=env)
        if result is None:
            return
        self.report.say(f"\n{name}\n{shown}")
        times, peaks = {}, {}
        base = result["candidates"][0]["real"]["ranges"]["peak_total"]
        for one in result["candidates"]:
            real, ranges = one["real"], one["real"]["ranges"]["peak_total"]
            if one["failed"] is not None or real["peak_total_bytes"] is None:
                self.report.note(f"fidelity: {name}: {one['name']} failed: {one['failed']}")
                continue
            self.keep_peaks(name, one["name"], {"total": one["error"]["peak_total"], "heap": one["error"]["peak_heap"]})
            if one is result["candidates"][0]:
                continue
            whole = result["candidates"][0]["real"]["peak_total_bytes"]
            peaks[one["name"]] = gain_of(real["peak_total_bytes"] / whole, ranges["low_bytes"] / base["high_bytes"], ranges["high_bytes"] / base["low_bytes"])
            low, high = real["time_ratio_low"], real["time_ratio_high"]
            if low is not None:
                noise = real["time_verdict"] not in ("faster", "slower")
                times[one["name"]] = gain_of(real["time_ratio"], min(low, 1) if noise else low, max(high, 1) if noise else high)
        self.say_advice(name, result, times, peaks)

    def watched(self, service, library):
        """A service behind its load, in all its processes; that of three runs with the middle sum of RssAnon."""
        found = []
        for _ in range(3):
            server = subprocess.Popen(["sh", "-c", service["start"]], env=environment({"LD_PRELOAD": library}), stdin=subprocess.PIPE,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while subprocess.run(service["ready"], shell=True, capture_output=True).returncode != 0 and server.poll() is None:
                time.sleep(0.02)
            subprocess.run(service["load"], shell=True, capture_output=True)
            found.append(processes_of(server.pid))
            server.stdin.close()
            server.terminate()
            server.wait()
        return sorted(found, key=anonymous_of)[1]

    def service(self, name, service):
        """The baseline's processes are what differences are added to, so it is not judged itself."""
        result, _ = self.mallab(name, "ab", "--idle", 0, "--process", service["process"], "--", "sh", "-c", SERVED % service)
        lines = [option for key in ("start", "ready", "load") for option in (f"--{key}", service[key])]
        real, shown = self.mallab(name, "confirm", *lines)
        if result is None or real is None:
            return
        work = result["workloads"][0]
        entries = {one["name"]: one for one in work["candidates"] if one["failed"] is None}
        confirmed = {one["candidate"]: one for one in real["confirmed"] if not one["control"] and one["failed"] is None}
        held = {key: one["resident"]["peak_bytes"] for key, one in entries.items()}  # with start
        start = {"start": "read x", "ready": "true", "load": "sleep 0.1"}
        base = entries[result["baseline"]]
        base_held, processes, base_start = held[base["name"]], self.watched(service, base["library"]), self.watched(start, base["library"])[0][1]
        base_anonymous = anonymous_of(processes)
        self.report.say(f"\n{name}: {work['group_processes']} processes of {work['processes']}\n{shown}")
        self.report.say("            peak, all, MB        anonymous, MB         CPU time, ms")
        self.report.say("candidate   real pred. error    real pred. error      real 95 % range        pred.")
        times, peaks = {}, {}
        for key, one in confirmed.items():
            own, more = entries[key], held[key] - base_held
            whole, alone = one["peak"]["baseline_bytes"], anonymous_of(self.watched(service, own["library"]))
            total = whole + more + brought(self.watched(start, own["library"])[0][1], base_start, processes)
            heap = base["resident"]["peak_bytes"] + alone - base_anonymous
            errors = {"total": total / one["peak"]["bytes"] - 1, "heap": (base_anonymous + more - alone) / heap if heap > 0 else None}
            self.keep_peaks(name, key, errors)
            ratio, low, high = (one["time"][k] for k in ("ratio", "ratio_low", "ratio_high"))
            spent = one["time"]["baseline_ns"] / 1e6
            calls = work["ops"] * (own["time"]["steady_ns_per_op"] - base["time"]["steady_ns_per_op"]) / 1e6
            self.report.say(f"{key:9} {one['peak']['bytes'] / 1e6:6.1f} {total / 1e6:5.1f} {100 * errors['total']:+.1f} %  {alone / 1e6:6.1f} "
                            f"{(base_anonymous + more) / 1e6:5.1f} {100 * (errors['heap'] or 0):+.1f} % of the heap"
                            f"  {spent * (ratio - 1):+.1f} [{spent * (low - 1):+.1f} {spent * (high - 1):+.1f}]  {calls:+.2f}")
            times[key] = gain_of(ratio, low, high)
            peaks[key] = gain_of(*(one["peak"][k] for k in ("ratio", "ratio_low", "ratio_high")))
        self.say_advice(name, result, times, peaks)

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
                self.service(name, how)
            else:
                self.program(name, how["command"], how.get("process"), how.get("env"))
        for line in self.outcome.missed:
            self.report.say(f"missed      {line}")
        self.report.say(f"\nin all      {self.outcome.summary()}")
        for kind, count in self.outcome.advice.items():
            self.report.keep(f"fidelity/advice {kind}", [count], "verdicts", 0 if kind == "wrong" else None)
        self.report.keep("fidelity/gains missed", [len(self.outcome.missed)], "above 5 %", 0)
