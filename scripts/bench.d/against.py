"""Converting and replaying beside another commit of mallab: rounds interleaved, least and median of both, and their ratio."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time

from programs import BUILD, MALLAB, PYTHON_ENV, PYTHON_JSON, ROOT, environment, run

PERL = """my ($x, %h) = (12345); sub r { $x = ($x * 1103515245 + 12345) & 0x7fffffff; $x % $_[0] }
for (1 .. 200000) { my $k = "k" . r(100000); if (r(3)) { $h{$k} = [map { "v$_" . r(1000) } 1 .. r(6)] } else { delete $h{$k} } }
my $s = 0; $s += length join ",", map { uc } @$_ for values %h; print "$s\\n";"""
LUA = """math.randomseed(1) local t = {}
for i = 1, 400000 do local k = math.random(100000)
  if math.random(3) > 1 then t[k] = {a = "s" .. i, b = {i, i + 1}, c = function() return i end} else t[k] = nil end end"""
CANDIDATES = ("none", "glibc")
TARGETS = ["mallab", "mallab-collect", "libmallab.so", *(f"mallab-replay-{name}" for name in CANDIDATES)]


def used(command):
    """Standard output, wall and CPU seconds of one process."""
    start = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise OSError(f"{' '.join(map(str, command))[:160]} failed with {process.returncode}")
    return out, time.perf_counter() - start, usage.ru_utime + usage.ru_stime


class Against:
    def __init__(self, report, workshop, rounds, other):
        self.report, self.workshop, self.rounds = report, workshop, rounds
        self.name = other
        self.builds = {"then": self.build(other), "now": BUILD}
        self.inputs = dict(self.record())

    def build(self, other):
        """A directory with a build in it is taken as it is; a commit is built, without its tests."""
        if (pathlib.Path(other) / "mallab").exists():
            return pathlib.Path(other).resolve()
        source = self.workshop.fresh("source")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        run(["git", "clone", "-q", "--no-checkout", ROOT, source])
        run(["git", "-C", source, "checkout", "-q", other])
        run(["meson", "setup", source / "build", source], **quiet)
        run(["ninja", "-C", source / "build", *TARGETS], **quiet)
        return source / "build"

    def record(self):
        loops = self.workshop.helper("loops")
        programs = {
            "python3": (["/usr/bin/python3", "-c", PYTHON_JSON], PYTHON_ENV),
            "perl": (["perl", "-e", PERL], {"PERL_HASH_SEED": "0"}),
            "lua5.4": (["lua5.4", "-e", LUA], {}),
            "git": (["git", "-C", ROOT, "log", "--stat", "-n", "400"], {}),
            "sqlite3": (["sqlite3", ":memory:", f".read '{ROOT}/scripts/quickstart.sql'"], {}),
            "10^6 live": ([loops, "random", 4_000_000, 1_000_000], {}),
            "64 threads, 20 % given": ([loops, "threads", 2_000_000, 64, 200], {}),
            "64 threads, 80 % given": ([loops, "threads", 2_000_000, 64, 800], {}),
        }
        for name, (command, env) in programs.items():
            if shutil.which(str(command[0])) is None:
                self.report.note(f"{name}: not installed, left out")
                continue
            recording = self.workshop.fresh("recording")
            run([MALLAB, "record", "-q", "-o", recording, "--", *command], env)
            yield name, recording

    def rounds_of(self, commands, figure):
        """What figure(standard output, wall, CPU) says of each run, by build; None where one build cannot do it."""
        samples = {which: [] for which in commands}
        for number in range(self.rounds):
            for which in sorted(commands, reverse=number % 2 == 0):
                try:
                    samples[which].append(figure(*used(commands[which])))
                except OSError as problem:
                    self.report.note(f"{which}: {problem}")
                    return None
        return samples

    def row(self, name, unit, samples, more):
        """more: whether more is better. The ratio is above 1 where it is better now."""
        best = max if more else min
        ends = {which: (best(all), statistics.median(all)) for which, all in samples.items()}
        ratios = [now / then if more else then / now for then, now in zip(ends["then"], ends["now"]) if then > 0 and now > 0]
        for which, all in samples.items():
            self.report.keep(f"{name}/{which}", all, unit)
        self.report.say(f"  {name:44} {ends['then'][0]:8.2f} {ends['then'][1]:8.2f}  {ends['now'][0]:8.2f} {ends['now'][1]:8.2f}  "
                        + " ".join(f"{ratio:6.2f}" for ratio in ratios))

    def head(self, what):
        self.report.say(f"\n{what}, {self.name} and now: best and median of {self.rounds} rounds\n  {'':44} {'then':>8} {'median':>8}  {'now':>8} {'median':>8}   ratio  median")

    def convert(self):
        self.head("Converting, million events a second of CPU")
        for name, recording in self.inputs.items():
            events = json.loads(run([MALLAB, "info", "--json", recording])[0])["events"]
            commands = {which: [build / "mallab", "convert", "-q", "-f", "-o", self.workshop.place / f"{which}.wl", recording]
                        for which, build in self.builds.items()}
            samples = self.rounds_of(commands, lambda _, wall, cpu: events / cpu / 1e6)
            if samples:
                self.row(f"{name}, {events / 1e6:.1f} M", "M ev/s", samples, True)

    def replay(self):
        """Each build replays what it has converted; the digests of both are compared."""
        self.head("Replaying: ns an op in calls; of the process's CPU; ms of CPU outside of the run")
        for name, recording in self.inputs.items():
            workloads = {which: self.workshop.place / f"{which}.wl" for which in self.builds}
            for which, build in self.builds.items():
                run([build / "mallab", "convert", "-q", "-f", "-o", workloads[which], recording])
            for candidate in CANDIDATES:
                commands = {which: [build / f"mallab-replay-{candidate}", "--json", workloads[which]] for which, build in self.builds.items()}
                samples = self.rounds_of(commands, lambda out, wall, cpu: (json.loads(out), wall, cpu))
                if samples is None:
                    continue
                for unit, figure in (("ns in calls", lambda one, wall, cpu: one["allocator_ns"] / one["ops"]),
                                     ("ns of CPU", lambda one, wall, cpu: cpu * 1e9 / one["ops"]),
                                     ("ms outside", lambda one, wall, cpu: cpu * 1e3 - (one["user_ns"] + one["system_ns"]) / 1e6),
                                     ("ms, clock", lambda one, wall, cpu: wall * 1e3)):
                    self.row(f"{name}, {candidate}: {unit}", unit, {which: [figure(*one) for one in all] for which, all in samples.items()}, False)
                digests = {one[0]["digest"] for all in samples.values() for one in all}
                if len(digests) > 1:
                    self.report.note(f"{name}, {candidate}: digests differ: {digests}")
