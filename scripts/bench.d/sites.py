"""What the call stacks of all allocations cost, and of a sample: beside a recording without them, rounds interleaved, and beside heaptrack where it is."""
import json
import math
import os
import random
import shutil
import statistics
import subprocess

from programs import MALLAB, run
from recorders import Heaptrack

# Each takes a second or so: of a short run what it takes to begin is a large part, and an unlucky moment is more than a sample costs.
SQL = 5 * ("create table t(a, b); insert into t with recursive c(x) as (select 1 union all select x + 1 from c where x < 200000)"
       " select x, hex(x * 7919) from c; create index i on t(b); select count(*) from t x join t y on x.b = y.b; drop table t;")
PERL = "my %h; for my $r (1 .. 8) { $h{\"k$_\"} = [$_, \"v$_\"] for 1 .. 60000; %h = () }"
PYTHON = "import json\nfor i in range(10):\n  json.loads(json.dumps([{'a': i, 'b': [str(i), str(i + 1)]} for i in range(30000)]))\n"
CXX = """#include <map>
#include <memory>
#include <string>
#include <vector>
struct node { std::string name; std::vector<std::unique_ptr<node>> kids; };
static std::unique_ptr<node> build(int depth) {
    auto made = std::make_unique<node>();
    made->name = std::string(20 + depth, 'x');
    for (int i = 0; depth > 0 && i < 4; i++) made->kids.push_back(build(depth - 1));
    return made;
}
int main() {
    for (int round = 0; round < 30; round++) {
        auto tree = build(7);
        std::map<std::string, int> map;
        for (int i = 0; i < 30000; i++) map[std::to_string(i * 7919 % 100003) + "abcdefghijklmnop"] = i;
    }
}
"""

def compiled():
    """A program in C for a compiler: functions that are not each other's copies."""
    yield "extern unsigned long strlen(const char *);\nstruct s { int a, b; double d; char t[16]; struct s *next; };"
    yield "int f0(struct s *p, int n) { return n + p->a; }"
    for i in range(1, 60):
        yield (f"int f{i}(struct s *p, int n) {{\n" + "\n".join(f"    int x{k} = n * {i * 7 % 40 + k} + {k};" for k in range(2 + i % 7)) +
               f"\n    for (int i = 0; i < n % {i % 90 + 2}; i++) {{ x0 += x{i % (2 + i % 7)} ^ i; if (x0 % {i + 3} == 1) p->d *= 1.{i}; else p->t[i & 15] ^= (char)x1; }}\n"
               + (f"    switch (n % {i % 8 + 3}) {{ case 0: x0 += 3; break; case 1: x1 ^= x0; break; default: x0--; }}\n" if i % 2 else
                  f"    while (p->next != 0 && p->a < {i}) {{ p->a += (int)strlen(p->t); p = p->next; }}\n")
               + f"    return x0 > x1 ? f{i * 5 % i if i < 6 else i - 1 - i % 5}(p, x0 / 2) : x0;\n}}")


FUNCTIONS, LEVELS = 400, 16


def many_stacks():
    """A program of 65,536 distinct stacks."""
    yield "#include <stdlib.h>\nstatic void *volatile kept;"
    for i in range(FUNCTIONS):
        yield f"static void f{i}(unsigned depth, unsigned path);"
    for i in range(FUNCTIONS):
        yield (f"__attribute__((noinline)) static void f{i}(unsigned depth, unsigned path) {{\n"
               "    if (depth == 0) { kept = malloc(path); free(malloc(path)); return; }\n"
               f"    if (path & 1) f{(2 * i + 1) % FUNCTIONS}(depth - 1, path >> 1);\n"
               f"    else f{(3 * i + 7) % FUNCTIONS}(depth - 1, path >> 1);\n    __asm__ volatile(\"\");\n}}")
    yield f"int main(void) {{ for (unsigned path = 0; path < 1u << {LEVELS}; path++) f0({LEVELS}, path); return 0; }}"


# How each is recorded.
MODES = {"without": [], "sampled": ["--sites=512K"], "with": ["--sites"]}

RUNS = ["none", "without", "with", "heaptrack"]
PAIRS = 4 # more in each round, of a run with a sample and one without stacks, the one right after the other: a sample costs little


def in_words(percents):
    """The mean, and what it is within with 95 % probability (Student's t, nearly)."""
    middle = statistics.mean(percents)
    wide = (1.96 + 2.6 / (len(percents) - 1)) * statistics.stdev(percents) / math.sqrt(len(percents))
    return f"{middle:+.1f} % ({middle - wide:+.1f} to {middle + wide:+.1f})"


class Sites:
    def __init__(self, report, workshop, rounds, then=None):
        """then: another build, beside which this one records."""
        self.report, self.workshop, self.rounds, self.then = report, workshop, rounds, then

    def programs(self):
        source, program = self.workshop.fresh("objects.cc"), self.workshop.fresh("objects")
        source.write_text(CXX)
        run(["c++", "-O2", "-o", program, source])
        yield "sqlite3", 60, ["sqlite3", ":memory:", SQL]
        yield "perl", 60, ["perl", "-e", PERL]
        yield "python3", 60, ["/usr/bin/python3", "-c", PYTHON]
        yield "c++", 60, [program]
        source, made = self.workshop.fresh("compiled.c"), self.workshop.fresh("made")
        source.write_text("\n".join(compiled()) + "\n")
        proper = subprocess.run(["gcc", "-print-prog-name=cc1"], check=False, capture_output=True, text=True).stdout.strip()
        for name, word, command in [("cc1", proper, [proper, "-quiet", "-O2", source, "-o", made]), ("clang", "clang", ["clang", "-O2", "-c", source, "-o", made])]:
            if word and shutil.which(word):
                yield name, 250, command

    @staticmethod
    def cpu_s(argv, env):
        """Processor time of a command and what it waited for; its output goes nowhere."""
        before = os.times()
        subprocess.run([str(word) for word in argv], env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    def recorded(self, command, env, *options, mallab=MALLAB):
        place = self.workshop.fresh("recording")
        subprocess.run([str(word) for word in (mallab, "record", "-q", *options, "-o", place, "--", *command)], env=env, check=True,
                       stdout=subprocess.DEVNULL)
        info = json.loads(subprocess.run([mallab, "info", "--json", place], check=True, capture_output=True).stdout)
        if list(options) == MODES["with"] and mallab == MALLAB:
            answer = subprocess.run([MALLAB, "sites", "--json", "--by", "stack", "--top", "0", place], check=True, capture_output=True)
            info["stacks"] = json.loads(answer.stdout)["sites"]
        shutil.rmtree(place)
        return info

    def pair(self, command, env):
        """Percent that a sample takes beyond a recording without stacks."""
        took = {mode: sum(self.recorded(command, env, *MODES[mode])["cpu_ns"].values()) for mode in random.sample(["without", "sampled"], 2)}
        return 100 * math.log(took["sampled"] / took["without"])

    def against(self, env):
        """Percent of processor time that this build takes beyond the other one, the one right after the other, of each way to record."""
        builds = {"then": self.then / "mallab", "now": MALLAB}
        self.report.say(f"\nbeside {self.then}: {self.rounds * PAIRS} pairs of each, percent that this build takes more\n  {'':10}"
                        + "".join(f" {mode:>32}" for mode in MODES))
        for name, _, command in self.programs():
            over = {mode: [] for mode in MODES}
            for mode in self.rounds * PAIRS * list(MODES):
                took = {which: sum(self.recorded(command, env, *MODES[mode], mallab=builds[which])["cpu_ns"].values())
                        for which in random.sample(list(builds), 2)}
                over[mode].append(100 * math.log(took["now"] / took["then"]))
            for mode, percents in over.items():
                self.report.keep(f"sites/{name}/{mode}/against", percents, "%")
            self.report.say(f"  {name:10}" + "".join(f" {in_words(percents):>32}" for percents in over.values()))

    def all(self):
        env = {**os.environ, "PYTHONMALLOC": "malloc"}
        if self.then:
            return self.against(env)
        heaptrack, every = Heaptrack(self.workshop), []
        self.report.say(f"\nstacks of all allocations, {self.rounds} rounds interleaved (load {os.getloadavg()[0]:.1f})\n"
                        f"  {'':10} {'ns of CPU an allocation':>24} {'bytes a call':>13} {'stacks':>8} {'cut':>7}  slow-down, times; heaptrack's; a sample")
        for name, target, command in self.programs():
            samples, over = {mode: [] for mode in RUNS}, []
            infos = {}
            for _ in range(self.rounds):
                took = {mode: [] for mode in RUNS}
                for mode in random.sample(RUNS, len(RUNS)):
                    if mode == "none":
                        took[mode].append(self.cpu_s(command, env))
                    elif mode == "heaptrack" and not heaptrack.missing: # its library alone, as its text is written
                        place = self.workshop.fresh("heaptrack")
                        more = {"LD_PRELOAD": str(heaptrack.library), "DUMP_HEAPTRACK_OUTPUT": str(place)}
                        took[mode].append(self.cpu_s(command, {**env, **more}))
                        place.unlink()
                    elif mode in MODES:
                        infos[mode] = self.recorded(command, env, *MODES[mode])
                        took[mode].append(sum(infos[mode]["cpu_ns"].values()) / 1e9)
                over += [self.pair(command, env) for _ in range(PAIRS)]
                for mode, times in took.items():
                    samples[mode] += [statistics.median(times)] if times else []
            calls = infos["with"]["events_by_call"]
            allocations = sum(n for call, n in calls.items() if "free" not in call and "delete" not in call)
            added = [1e9 * (one - other) / allocations for one, other in zip(sorted(samples["with"]), sorted(samples["without"]))]
            bytes_added = infos["with"]["bytes_per_event"] - infos["without"]["bytes_per_event"]
            cut = sum(site["allocations"] for site in infos["with"]["stacks"] if site["cut"] is not None)
            slow = {mode: sorted(times)[len(times) // 2] / sorted(samples["none"])[self.rounds // 2] for mode, times in samples.items() if times}
            self.report.keep(f"sites/{name}/ns", added, "ns", target)
            self.report.keep(f"sites/{name}/sampled", over, "%", 1)
            self.report.keep(f"sites/{name}/bytes", [bytes_added], "bytes", 0.15)
            self.report.say(f"  {name:10} {sorted(added)[len(added) // 2]:24.0f} {bytes_added:13.3f} {len(infos['with']['stacks']):8,} {cut:7,}"
                            f"  {slow['without']:.2f} without, {slow['with']:.2f} with; {slow.get('heaptrack', float('nan')):.2f}; {in_words(over)}")
            every.append(over)
        together = [statistics.mean(of_each) for of_each in zip(*every)]
        self.report.keep("sites/sampled", together, "%", 1)
        self.report.say(f"  a sample, the mean of these programs: {in_words(together)}")
        self.reports(env)

    def reports(self, env):
        """Processor time to read a recording of many stacks, and to name them."""
        source, program, place, page = (self.workshop.fresh(name) for name in ("many.c", "many", "recording", "many.html"))
        source.write_text("\n".join(many_stacks()) + "\n")
        run(["cc", "-g", "-O1", "-fno-optimize-sibling-calls", "-o", program, source])
        run([MALLAB, "record", "-q", "--sites", "-o", place, "--", program])
        commands = {"pass": ["convert", "-q", "-f", "-o", self.workshop.fresh("many.wl"), place], "names": ["sites", "-q", place],
                    "lines": ["flame", "-q", "--lines", "-f", "-o", page, place]}
        samples = {what: sorted(self.cpu_s([MALLAB, *command], env) for _ in range(3)) for what, command in commands.items()}
        self.report.keep("sites/report/names", samples["names"], "s", 2)
        self.report.keep("sites/report/lines", samples["lines"], "s", 10)
        self.report.say(f"  65,536 stacks: {samples['pass'][1]:.2f} s of CPU to convert, {samples['names'][1]:.2f} for sites by name,"
                        f" {samples['lines'][1]:.2f} for a page with lines")
