"""What is measured: running programs, building the small C ones, and the real programs with their input."""
import ctypes
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "scripts/bench.d"
BUILD = pathlib.Path(os.environ.get("MALLAB_BUILD", ROOT / "build"))
MALLAB = BUILD / "mallab"

PYTHON_ENV = {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}
PYTHON_JSON = """
import json, random, time
start, start_cpu = time.perf_counter_ns(), time.process_time_ns()
chance = random.Random(1)
def value(depth):
    kind = chance.randrange(8 if depth < 4 else 6)
    if kind < 2:
        return chance.randrange(10 ** chance.randrange(1, 12))
    if kind < 4:
        return "".join(chance.choices("abcdefghij ", k=chance.randrange(60)))
    if kind < 6:
        return chance.random() if kind == 4 else None
    if kind == 6:
        return [value(depth + 1) for i in range(chance.randrange(12))]
    return {str(chance.randrange(1000)): value(depth + 1) for i in range(chance.randrange(12))}
data = [value(0) for i in range(15000)]
for i in range(4):
    data = json.loads(json.dumps(data))
print(json.dumps({"ns": time.perf_counter_ns() - start, "cpu_ns": time.process_time_ns() - start_cpu}))
"""

# The same for as long as it takes: other data every four times.
PYTHON_LONG = PYTHON_JSON.replace("""data = [value(0) for i in range(15000)]
for i in range(4):
    data = json.loads(json.dumps(data))
""", """import sys
for i in range(int(sys.argv[1])):
    if i % 4 == 0:
        data = [value(0) for i in range(15000)]
    data = json.loads(json.dumps(data))
""")


def environment(more=None):
    """Ours without what would preload or steer a recorder."""
    kept = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith(("MALLAB_", "LTTNG_"))}
    return {**kept, **(more or {})}


def end_with_us():
    """In a child: ends when the benchmark does, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def run(command, env=None, **settings):
    """Run to success; returns (stdout, wall seconds, CPU seconds of it and its children)."""
    settings = {"stdout": subprocess.PIPE, "preexec_fn": end_with_us, **settings}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run([str(c) for c in command], env=environment(env), **settings)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))[:200]} failed with {done.returncode}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, wall, cpu


def answer(*arguments):
    return json.loads(run([MALLAB, *arguments])[0])


class Workshop:
    """A directory for everything that a run of the benchmark makes."""

    def __init__(self, place):
        self.place = place
        self.number = max((int(path.name.split("-")[0]) for path in place.glob("[0-9]*-*")), default=0)

    def fresh(self, name):
        self.number += 1
        return self.place / f"{self.number}-{name}"

    def helper(self, name):
        """A C program of bench.d, built once."""
        program = self.place / name
        if not program.exists():
            run(["cc", "-O2", "-D_GNU_SOURCE", "-pthread", "-o", program, HERE / f"{name}.c"])
        return program

    def library(self, name, source, *options):
        library = self.place / name
        if not library.exists():
            run(["cc", "-O2", "-D_GNU_SOURCE", "-fno-builtin", "-shared", "-fPIC", *options, "-o", library, HERE / source])
        return library

    def measured(self, command, env=None):
        """Wall and CPU time and peak of a command, as its parent sees them."""
        result = self.fresh("measured")
        run([self.helper("measured"), result, *command], env)
        return json.loads(result.read_text())

    def big_c_file(self):
        """A C file large enough that cc1 works for seconds: many functions, structures and switches."""
        path, preprocessed = self.place / "big.c", self.place / "big.i"
        if preprocessed.exists():
            return preprocessed
        with open(path, "w") as out:
            out.write("#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n")
            for i in range(500):
                out.write(f"struct s{i} {{ int a[{i % 13 + 1}]; char *name; double d; struct s{max(i - 1, 0)} *next; }};\n"
                          f"static int f{i}(struct s{i} *s, int n) {{ int t = 0; for (int i = 0; i < n; i++) "
                          f"switch ((i * {i} + n) % 7) {{ case 0: t += s->a[0]; break; case {i % 5 + 1}: t ^= i << {i % 9}; "
                          f"break; default: t -= (int)s->d; }} if (s->name && strlen(s->name) > {i % 40}) "
                          f'printf("%s %d\\n", s->name, t); return t; }}\n'
                          f"int g{i}(int n) {{ struct s{i} s = {{ {{ {i} }}, \"f{i}\", {i}.5, 0 }}; return f{i}(&s, n); }}\n")
        run(["gcc", "-E", "-P", "-o", preprocessed, path])
        return preprocessed

    def programs(self):
        """Real programs: name -> (command, environment)."""
        cc1 = run(["gcc", "-print-prog-name=cc1"])[0].decode().strip()
        return {
            "python": (["/usr/bin/python3", "-c", PYTHON_JSON], PYTHON_ENV),
            "cc1": ([cc1, "-quiet", "-fpreprocessed", "-O1", self.big_c_file(), "-o", self.place / "big.s"], {}),
            "sqlite": (["sqlite3", ":memory:", f".read '{ROOT}/scripts/quickstart.sql'"], {}),
        }
