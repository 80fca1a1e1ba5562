"""How often verdicts are right: many experiments cut out of a few long ones, and models of noise; docs/statistics.md is made from it."""
import json
import os
import pathlib
import shutil
import sys
import time

from programs import BUILD, HERE, PYTHON_ENV, answer, run

# Allocates and frees some 200,000 objects: runs of some 10 ms, so that thousands fit into minutes.
PROGRAM = """
import json
data = [{"id": i, "name": "n%d" % i, "tags": ["a%d" % (i % 7)] * 5, "value": i * 1.5} for i in range(1000)]
data = json.loads(json.dumps(data))
"""
# Others that nobody tuned for, of a few tenths of a second; those that are not here are left out, and named.
LUA = """local t = {} for i = 1, 15000 do t[i] = {name = "n" .. i, tags = {i % 7, i % 11}, s = string.rep("x", i % 97)} end
for r = 1, 2 do for i = 1, #t do local s = t[i].name .. "-" .. r t[i].tags = {s, #s} end end"""
PERL = """for my $i (1 .. 20000) { $h{"k$i"} = {name => "n$i", list => [1 .. $i % 9], s => "x" x ($i % 120)} }
for my $k (sort keys %h) { $n += length join ",", @{$h{$k}{list}}; delete $h{$k} if $n % 3 }"""
SQL = """create table t(id integer primary key, a text, b integer);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 12000) insert into t select x, 'row ' || x || hex(x * 7919), x % 977 from c;
create index i on t(b, a); select count(distinct a || b) from t; update t set a = a || '!' where b % 3 = 0; delete from t where b % 5 = 0;"""
OPS_MOST = 300000  # of a workload, so that a round takes some tenths of a second
HOWS = (("8 rounds", "cut", 8), ("16 rounds", "cut", 16), ("32 rounds", "cut", 32), ("--resolve 3%", "grow", 0.03), ("--resolve 2%", "grow", 0.02),
        ("--resolve 1%", "grow", 0.01))
WASTE_PERCENT = 7  # of handicap.c: about 5 % of the peak with this program; the tables say what it came to
FALSE_MOST, FOUND_LEAST = 0.05, 0.95


class Verdict:
    def __init__(self, report, workshop, experiments, results=()):
        """results: kept results of earlier runs with the same names, instead of measuring."""
        self.report, self.workshop, self.experiments = report, workshop, experiments
        self.results = [pathlib.Path(path) for path in results]
        self.place = pathlib.Path(workshop.place)

    def statistic(self, name, *arguments):
        if not (BUILD / "tests/statistics" / name).exists():
            sys.exit(f"bench: {BUILD} was built without the tests: meson configure {BUILD} -Dtests=true && ninja -C {BUILD}")
        return json.loads(run([BUILD / "tests/statistics" / name, *arguments])[0])

    def tool(self, *arguments):
        return self.statistic("verdicts", *arguments)

    def handicapped(self, name, *options):
        return self.workshop.library(f"{name}.so", "handicap.c", *options)

    def experiment(self, workload, names, rounds, memory_rounds):
        """One long experiment: its result's path, which is named by the workload."""
        result = self.workshop.fresh(f"{workload.stem}.json")
        run([os.fspath(BUILD / "mallab"), "ab", "-q", "-n", rounds, "--memory-rounds", memory_rounds, "--no-syscalls",
             "-b", names[0], "-a", ",".join(os.fspath(name) for name in names), "-o", result, workload], stdout=sys.stderr)
        return result

    def workloads(self):
        threads = self.place / "threads"
        run(["c++", "-O2", "-pthread", "-o", threads, HERE / "workers.cc"])
        programs = {"python": ["/usr/bin/python3", "-c", PROGRAM], "lua": ["lua", "-e", LUA], "perl": ["perl", "-e", PERL],
                    "sqlite3": ["sqlite3", ":memory:", SQL], "threads": [threads, "1500"]}
        for name, command in programs.items():
            if shutil.which(command[0]) is None:
                self.report.note(f"no {name} here: one workload less")
                continue
            recording, workload = self.workshop.fresh("recording"), self.place / f"{name}.wl"
            run([BUILD / "mallab", "record", "-q", "-o", recording, "--", *command], PYTHON_ENV)
            run([BUILD / "mallab", "convert", "-q", "--head", OPS_MOST, "-o", workload, recording])
            yield workload

    def measure(self):
        base, twin, waste = self.handicapped("base"), self.handicapped("twin"), self.handicapped("waste", f"-DWASTE={WASTE_PERCENT}")
        workloads = list(self.workloads())
        rounds = 8 * -(-self.experiments // len(workloads))
        memory = self.experiment(workloads[0], (base, twin, waste), 20, min(3 * self.experiments, 150))
        return [self.experiment(workload, (base, twin), max(rounds, 32), 0) for workload in workloads], memory

    @staticmethod
    def merged(parts):
        """Tallies of the same candidate in several results, added up; ratios by the number of experiments."""
        total = {}
        for part in parts:
            for one in part:
                kept = total.setdefault(one["name"], {**one, "experiments": 0, "time": {}, "peak": {}, "ratios": [], "rounds": 0})
                kept["experiments"] += one["experiments"]
                kept["rounds"] += one["experiments"] * (one["rounds_mean"] or 0)
                for figure in ("time", "peak"):
                    for verdict, count in one[figure].items():
                        kept[figure][verdict] = kept[figure].get(verdict, 0) + count
                kept["ratios"] += [(one["time_ratio_median"], one["peak_ratio_median"], one["time_width_median"])] * one["experiments"]
        return total

    def row(self, label, tally, figure, effect, words, aimed=True):
        """words: the verdicts that are wrong for equals, or the one that is right for an effect. What so many rounds find depends on the
        machine: only --until, which takes as many as it needs, and memory are held against a target there."""
        count = sum(tally[figure].get(word, 0) for word in words)
        share = count / tally["experiments"] if tally["experiments"] else float("nan")
        effects = sorted(ratio[1 if figure == "peak" else 0] for ratio in tally["ratios"])
        middle = effects[len(effects) // 2] if effects else float("nan")
        bound, at_most = (FALSE_MOST, True) if effect is None else (FOUND_LEAST, False)
        met = share <= bound if at_most else share >= bound
        target = f"{'<=' if at_most else '>='} {100 * bound:.0f} %{'' if met else '  MISSED'}" if aimed or at_most else ""
        self.report.keep(f"verdict/{label}", [share], "share", bound if target else None, at_most)
        rounds = tally["rounds"] / tally["experiments"] if tally["experiments"] else 0
        self.report.say(f"  {label:44} {tally['experiments']:5} {rounds:7.1f} {100 * (middle - 1):+7.2f} % {100 * share:6.1f} %   {target}".rstrip())

    def head(self, title, counted):
        self.report.say(f"\n{title}\n  {'':44} {'exps.':>5} {'rounds':>7} {'effect':>9} {counted:>8}")

    def tallies(self, results, how, argument):
        """Of the base's twin, by effect, over all results; and the seconds that such an experiment took."""
        total, seconds = {}, 0
        for result in results:
            stopped = json.loads(result.read_text())["workloads"][0]
            per_round = stopped["stopped"]["elapsed_ns"] / 1e9 / stopped["rounds"]
            for one in self.tool(how, result, argument):
                if not one["name"].startswith("twin"):
                    continue
                kept = total.setdefault(one["effect"], {"experiments": 0, "rounds": 0, "time": {}, "gate": {}})
                kept["experiments"] += one["experiments"]
                took = one["experiments"] * (one["rounds_mean"] or 0)
                kept["rounds"] += took
                seconds += took * per_round if one["effect"] == 1 else 0
                for figure in ("time", "gate"):
                    for word, count in one[figure].items():
                        kept[figure][word] = kept[figure].get(word, 0) + count
        return total, seconds

    def lines(self, label, results, how, argument):
        tallies, seconds = self.tallies(results, how, argument)
        count = tallies[1]["experiments"] if tallies else 0
        if count == 0:
            self.report.say(f"  {label:24} {0:5}   too few rounds for one")
            return
        told = tallies[1]["time"].get("faster", 0) + tallies[1]["time"].get("slower", 0)
        found = [tallies[effect]["time"].get("slower", 0) / count for effect in (1.02, 1.03, 1.05)]
        gates = [tallies[1]["gate"].get("within", 0), tallies[1]["gate"].get("over", 0), tallies[1.05]["gate"].get("over", 0),
                 tallies[1.05]["gate"].get("within", 0)]
        self.report.keep(f"verdict/{label}: equal, told apart", [told / count], "share", FALSE_MOST)
        self.report.keep(f"verdict/{label}: +3 % found", [found[1]], "share")
        self.report.keep(f"verdict/{label}: gate, unchanged is within", [gates[0] / count], "share")
        self.report.keep(f"verdict/{label}: gate, 5 % slower is over", [gates[2] / count], "share")
        self.report.say(f"  {label:24} {count:5} {tallies[1]['rounds'] / count:7.1f} {seconds / count:7.1f} {told:5} {100 * told / count:5.1f} % "
                        + "".join(f"{100 * share:5.0f} %" for share in found) + "".join(f"{100 * gate / count:7.0f} %" for gate in gates))

    def real(self, timed, memory):
        self.report.say("\nreal runs: a library against its copy, each experiment of rounds of its own; +2, +3, +5 %: the copy's net times scaled. Right: gate of time<=+3%\n"
                        f"  {'':24} {'exps.':>5} {'rounds':>7} {'seconds':>7} {'equal, told':>13}    +2 %   +3 %   +5 %    same: within over   +5 %: over  within")
        for label, how, argument in HOWS:
            self.lines(label, timed, how, argument)
        for path in timed:
            self.lines(f"16 rounds: {path.stem}", [path], "cut", 16)
        if memory is not None:
            self.head("memory", "share")
            tallies = self.merged([[one for one in self.tool("cut", memory, 3) if one["effect"] == 1]])
            self.row("peak, 3 memory rounds: equal, told apart", tallies["twin"], "peak", None, ("less", "more"))
            self.row("peak, 3 memory rounds: waste, found", tallies["waste"], "peak", 1, ("more",))

    def gate(self):
        """At the limit each wrong outcome may come in 5 %; the rest depends on the machine and is shown."""
        self.report.say(f"\ngate (tests/statistics/gate.c), shares\n  {'':44} {'exps.':>5} {'within':>8} {'over':>8} {'test: above':>12} {'below':>8}")
        sums = {}
        for one in self.statistic("gate", "simulate", self.experiments):
            shares = [one[key] / one["experiments"] for key in ("within", "over", "above_by_test", "below_by_test")]
            wrong = shares[:2] if one["case"] == "at the limit" else [shares[0]] if "against 1 %" in one["case"] else [shares[1]]
            met = max(wrong) <= FALSE_MOST
            label = f"{one['model']}, {one['rounds']} rounds, {one['case']}"
            self.report.keep(f"verdict/gate {label}, wrong", [max(wrong)], "share", FALSE_MOST)
            self.report.say(f"  {label:44} {one['experiments']:5} {100 * shares[0]:6.1f} % {100 * shares[1]:6.1f} % "
                            f"{100 * shares[2]:10.1f} % {100 * shares[3]:6.1f} %{'' if met else '  MISSED'}")
            if one["case"] == "at the limit":
                for key in ("above_by_test", "below_by_test", "experiments"):
                    sums[key] = sums.get(key, 0) + one[key]
        for key in ("above_by_test", "below_by_test"):
            share = sums[key] / sums["experiments"]
            self.report.keep(f"verdict/gate, the test at the limit: {key}", [share], "share", 0.065)
            self.report.say(f"  at the limit the test alone says {key.split('_')[0]}: {sums[key]} of {sums['experiments']}, {100 * share:.1f} %")

    def sessions(self):
        """Against an earlier result: at the limit both outcomes are wrong, else the opposite one is."""
        self.report.say(f"\ngate against an earlier result, +3 % (tests/statistics/sessions.c), shares\n  {'':60} {'exps.':>5} {'within':>8} {'over':>8}")
        for one in self.statistic("sessions", "simulate", self.experiments):
            shares = [one[key] / one["experiments"] for key in ("within", "over")]
            change = round(100 * (one["change"] - 1))
            wrong = shares if change == 3 else [shares[0]] if change > 3 else [shares[1]]
            label = f"{one['circumstances']}, {one['rounds']} rounds, {change} %"
            self.report.keep(f"verdict/sessions {label}, wrong", [max(wrong)], "share", FALSE_MOST)
            self.report.say(f"  {label:60} {one['experiments']:5} {100 * shares[0]:6.1f} % {100 * shares[1]:6.1f} %{'' if max(wrong) <= FALSE_MOST else '  MISSED'}")

    def families(self):
        self.report.say(f"\nseven candidates at once (tests/statistics/family.c)\n  {'':44} {'exps.':>5} {'share':>8} {'were it corrected':>18}")
        for one in self.statistic("family", max(self.experiments // 2, 10)):
            kind = "wrong" if one["all_equal"] else "found"
            label = f"{one['model']}, {one['rounds']} rounds: {'any equal, told apart' if one['all_equal'] else 'the slower one, found'}"
            shares = [one[key] / one["experiments"] for key in (kind, kind + "_corrected")]
            self.report.keep(f"verdict/family {label}", [shares[0]], "share")
            self.report.say(f"  {label:44} {one['experiments']:5} {100 * shares[0]:6.1f} % {100 * shares[1]:16.1f} %")

    def models(self):
        self.head("models of noise (tests/statistics/model.c)", "share")
        missed = experiments = 0
        for one in self.tool("simulate", self.experiments):
            tally = self.merged([[{**one, "name": "model"}]])["model"]
            equal = one["effect"] == 1
            missed, experiments = missed + one["missed"], experiments + one["experiments"]
            self.row(f"{one['model']}, {one['plan']}: {'equal, told apart' if equal else 'slower, found'}", tally, "time",
                     None if equal else 1, ("faster", "slower") if equal else ("slower",), "until" in one["plan"])
        self.report.keep("verdict/models, intervals without the truth", [missed / experiments], "share", 0.06)
        self.report.say(f"  95 % intervals without the truth: {missed} of {experiments}, {100 * missed / experiments:.1f} %")

    def confirmed(self):
        """The program itself beside itself: two copies of one library."""
        base, twin = self.handicapped("base"), self.handicapped("twin")
        told = {"time": 0, "peak": 0}
        for seed in range(self.experiments):
            result = answer("confirm", "-q", "--json", "-n", 8, "--seed", seed, "-b", base, "-a", f"{base},{twin}", "--", "/usr/bin/python3", "-c", PROGRAM)
            for figure, verdict in result["confirmed"][0]["verdict"].items():
                told[figure] += verdict not in ("same", "undecided")
        self.report.say(f"\nmallab confirm, 8 pairs of runs: equal, told apart\n  {'':44} {'exps.':>5} {'share':>8}")
        for figure, count in told.items():
            share = count / self.experiments
            self.report.keep(f"verdict/confirm {figure}", [share], "share", FALSE_MOST)
            self.report.say(f"  {figure:44} {self.experiments:5} {100 * share:6.1f} %{'' if share <= FALSE_MOST else '  MISSED'}")

    def all(self):
        start = time.monotonic()
        if self.results:
            memory = [path for path in self.results if path.name.startswith("waste")]
            timed, memory = [path for path in self.results if path not in memory], memory[0] if memory else None
        else:
            timed, memory = self.measure()
        self.real(timed, memory)
        self.models()
        self.gate()
        self.sessions()
        self.families()
        self.report.note(f"verdict took {time.monotonic() - start:.0f} s")
