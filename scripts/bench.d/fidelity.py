"""How far replays are from reality: `mallab validate` on six real programs; docs/fidelity.md is made from it."""
import json
import pathlib
import random
import shutil
import socket
import subprocess

from programs import HERE, MALLAB, PYTHON_ENV, environment

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


class Fidelity:
    def __init__(self, report, workshop, rounds, touch=None, recordings=None):
        self.report, self.rounds, self.touch, self.recordings = report, rounds, touch, recordings
        self.place = pathlib.Path(workshop.place)

    def programs(self):
        """(name, what must be installed, command, process, environment)"""
        (self.place / "busy.c").write_text(c_source())
        (self.place / "work.py").write_text(PYTHON)
        (self.place / "work.rb").write_text(RUBY)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        yield "sqlite3", ["sqlite3"], ["sqlite3", ":memory:", SQL], None, {}
        yield "python3", ["/usr/bin/python3"], ["/usr/bin/python3", self.place / "work.py"], None, PYTHON_ENV
        yield "python3, its own arenas", ["/usr/bin/python3"], ["/usr/bin/python3", self.place / "work.py"], None, {"PYTHONHASHSEED": "0"}
        yield "gcc (cc1)", ["gcc"], ["gcc", "-O2", "-c", self.place / "busy.c", "-o", "/dev/null"], "cc1", {}
        yield "ruby", ["ruby"], ["ruby", self.place / "work.rb"], None, {}
        yield "redis-server", ["redis-server", "redis-benchmark", "redis-cli"], [HERE / "redis-session", port], "redis-server", {}
        if shutil.which("g++"):
            subprocess.run(["g++", "-O2", "-std=c++17", "-pthread", "-o", self.place / "workers", HERE / "workers.cc"], check=True)
            yield "C++, 4 threads", [], [self.place / "workers"], None, {}
        else:
            self.report.note("fidelity: no g++, the C++ program is left out")

    def once(self, name, command, process, env):
        kept = self.place / "fidelity.json"
        options = ["-q", "-n", self.rounds, "--seed", 1, "-f", "-o", kept]
        options += ["--process", process] if process else []
        options += ["--touch", self.touch] if self.touch else []
        options += ["--recordings", self.recordings] if self.recordings is not None else []
        done = subprocess.run([str(c) for c in [MALLAB, "validate", *options, "--", *command]], env=environment(env),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        if not kept.exists():
            self.report.note(f"fidelity: {name}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no result'}")
            return
        result = json.loads(kept.read_text())
        kept.unlink()
        self.report.say(f"\n{name}\n{done.stdout.rstrip()}")
        for candidate in result["candidates"]:
            for key in ("peak_total", "peak_heap", "mean_heap", "end_heap"):
                error = candidate["error"][key]
                if error is not None:
                    bar = {"peak_total": 0.03, "peak_heap": 0.10}.get(key)
                    self.report.keep(f"fidelity/{name}/{candidate['name']}/{key}", [abs(error)], "of real", bar)
        for figure, counts in result["validation"]["within_reality"].items():
            if counts["checked"]:
                self.report.keep(f"fidelity/{name}/within reality's range, {figure}", [counts["met"] / counts["checked"]], "within", None, False)
        for bar, counts in result["validation"]["bars"].items():
            if counts["checked"]:
                self.report.keep(f"fidelity/{name}/bar {bar}", [counts["met"] / counts["checked"]], "met", 1, False)

    def all(self):
        for name, needed, command, process, env in self.programs():
            missing = [program for program in needed if not shutil.which(program)]
            if missing:
                self.report.note(f"fidelity: no {', '.join(missing)}: {name} is left out")
            else:
                self.once(name, command, process, env)
