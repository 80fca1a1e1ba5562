"""How often verdicts are right: many experiments cut out of a few long ones, models of noise, and the gate as CI runs it; docs/statistics.md is made from it."""
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from programs import BUILD, HERE, MALLAB, PYTHON_ENV, ROOT, answer, run

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
# Of `gate` three more.
MORE = {"ruby": ["ruby", "-e", "h = {}; 20000.times { |i| h[\"k#{i}\"] = [i.to_s * 3, {n: i}] }; puts h.keys.sort.map { |k| h[k][0].size }.sum"],
        "git": ["git", "-C", ROOT, "log", "--stat", "-n", "60"],
        "jq": ["jq", "-n", "[range(15000) | {id: ., name: \"n\\(.)\", tags: [. % 7, . % 11]}] | group_by(.tags[0]) | map(map(.name) | add | length)"]}
OPS_MOST = 300000  # of a workload, so that a round takes some tenths of a second
# Label, and what tests/statistics/verdicts does: parts of so many rounds, or as `ab` makes them, until intervals are so narrow or the time is over.
HOWS = (("8 rounds", 8, None), ("16 rounds", 16, None), ("until 3 %, 30 s", 0.03, 30), ("until 2 %, 60 s", 0.02, 60))
ONCE = 3  # rounds that warm-up and memory passes take
EQUAL, SLOWER = ("twin", "copy"), {"slow2": 2, "slow3": 3, "slow5": 5}  # candidates; per cent
WASTE_PERCENT = 7  # of handicap.c: about 5 % of the peak with this program; the tables say what it came to
FALSE_MOST, FOUND_LEAST = 0.05, 0.95
MEMORY_EXPERIMENTS = 20
NAMED, GATE_BUDGET, LARGER_PERCENT = "glibc,jemalloc,tcmalloc", "time<=+3%,rss-peak<=+5%", 6
FLEETS = 500  # of each kind at least: they are drawn in seconds


class Verdict:
    def __init__(self, report, workshop, experiments, results=(), then=None):
        """experiments: of models; seconds of each workload; runs of the gate. results: kept results of earlier runs, instead of measuring.
        then: another build, which judges the same results beside this one."""
        self.judges = {"": BUILD} | ({"then: ": then} if then else {})
        self.judge = BUILD
        self.report, self.workshop, self.experiments = report, workshop, experiments
        self.results = [pathlib.Path(path) for path in results]
        self.place = pathlib.Path(workshop.place)

    def statistic(self, name, *arguments):
        build = self.judge
        if not (build / "tests/statistics" / name).exists():
            sys.exit(f"bench: {build} was built without the tests: meson configure {build} -Dtests=true && ninja -C {build}")
        return json.loads(run([build / "tests/statistics" / name, *arguments])[0])

    def tool(self, *arguments):
        return self.statistic("verdicts", *arguments)

    def handicapped(self, name, *options):
        return self.workshop.library(f"{name}.so", "handicap.c", *options)

    def experiment(self, workload, names, *options):
        """One long experiment: its result's path, which is named by the workload."""
        result = self.workshop.fresh(f"{workload.stem}.json")
        run([os.fspath(BUILD / "mallab"), "ab", "-q", *options, "-b", names[0],
             "-a", ",".join(os.fspath(name) for name in names), "-o", result, workload], stdout=sys.stderr)
        return result

    def slower(self, workload, base, per_cents):
        """Libraries so much slower than base on this workload: by what a step costs, measured in 150 rounds: what 16 say is a fifth wrong."""
        steps = 10000
        trial = self.experiment(workload, (base, self.handicapped(f"trial-{workload.stem}", f"-DSLOW={steps}")), "-n", 150)
        ratio = json.loads(trial.read_text())["workloads"][0]["candidates"][1]["time"]["ratio"]
        return [self.handicapped(f"slow{per_cent}-{workload.stem}", f"-DSLOW={round(steps * per_cent / 100 / (ratio - 1))}") for per_cent in per_cents]

    def workloads(self, more=()):
        threads = self.place / "threads"
        run(["c++", "-O2", "-pthread", "-o", threads, HERE / "workers.cc"])
        programs = {"python": ["/usr/bin/python3", "-c", PROGRAM], "lua": ["lua", "-e", LUA], "perl": ["perl", "-e", PERL],
                    "sqlite3": ["sqlite3", ":memory:", SQL], "threads": [threads, "1500"]} | dict(more)
        for name, command in programs.items():
            recording, workload = self.workshop.fresh("recording"), self.place / f"{name}.wl"
            if workload.exists():
                yield workload
                continue
            if shutil.which(command[0]) is None:
                self.report.note(f"no {name} here: one workload less")
                continue
            run([BUILD / "mallab", "record", "-q", "-o", recording, "--", *command], PYTHON_ENV)
            run([BUILD / "mallab", "convert", "-q", "--head", OPS_MOST, "-o", workload, recording])
            yield workload

    def measure(self):
        """Five candidates beside their baseline, on each workload for so many seconds; and memory."""
        base, *equals = [self.handicapped(name) for name in ("base", *EQUAL)]
        waste = self.handicapped("waste", f"-DWASTE={WASTE_PERCENT}")
        workloads = list(self.workloads())
        # Each looks at memory three times: one long `ab` looks no oftener, and would be a single experiment.
        memory = [self.experiment(workloads[0], (base, equals[0], waste), "-n", 3) for _ in range(MEMORY_EXPERIMENTS)]
        return [self.experiment(workload, (base, *equals, *self.slower(workload, base, SLOWER.values())), "-n", 1000,
                                "--decide", "time<=+0.1%", "--time-budget", f"{self.experiments}s") for workload in workloads], memory

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
        machine: only "until", which takes as many as it needs, and memory are held against a target there."""
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

    def tallies(self, results, amount, seconds):
        """By candidate, over all results; and the seconds that an experiment's rounds took."""
        total, experiments, took = {}, 0, 0
        for result in results:
            workload = json.loads(result.read_text())["workloads"][0]
            per_round = workload["stopped"]["elapsed_ns"] / 1e9 / workload["rounds"]
            found = self.tool("grow", result, amount, max(int(seconds / per_round) - ONCE, 8)) if seconds else self.tool("cut", result, amount)
            for one in found:
                kept = total.setdefault(pathlib.Path(one["name"]).stem.split("-")[0].split(".")[0], {"time": {}, "gate": {}})
                for figure in kept:
                    for word, count in one[figure].items():
                        kept[figure][word] = kept[figure].get(word, 0) + count
            experiments += found[0]["experiments"]
            took += found[0]["experiments"] * (found[0]["rounds_mean"] or 0) * per_round
        return total, experiments, took

    def line(self, label, results, amount, seconds):
        tallies, count, took = self.tallies(results, amount, seconds)
        if count == 0:
            self.report.say(f"  {label:30} {0:5}   too few rounds for one")
            return
        told = sum(tallies[name]["time"].get(word, 0) for name in EQUAL for word in ("faster", "slower"))
        shares = {"equal, told apart": told / count / len(EQUAL)}
        shares |= {f"+{per_cent} % found": tallies[name]["time"].get("slower", 0) / count for name, per_cent in SLOWER.items()}
        shares |= {f"gate, {words}": sum(tallies[name]["gate"].get(outcome, 0) for name in names) / count / len(names)
                   for words, names, outcome in (("equal is within", EQUAL, "within"), ("equal is over", EQUAL, "over"),
                                                 ("+5 % is over", ("slow5",), "over"), ("+5 % is within", ("slow5",), "within"))}
        for words, share in shares.items():
            self.report.keep(f"verdict/{label}: {words}", [share], "share", FALSE_MOST if words == "equal, told apart" else None)
        self.report.say(f"  {label:30} {count:5} {took / count:7.1f} " + "".join(f"{100 * share:8.1f} %" for share in shares.values()))

    def real(self, timed, memory):
        self.report.say("\nreal libraries: of five candidates beside their baseline two are copies of it and three slower, judged together; each experiment of\n"
                        "rounds of its own. Gate: time<=+3%. Of 30 and 60 s, warm-up and memory passes are taken off")
        for path in timed:
            workload = json.loads(path.read_text())["workloads"][0]
            effects = ", ".join(f"{pathlib.Path(one['name']).stem.split('-')[0]} {100 * (one['time']['ratio'] - 1):+.1f} %" for one in workload["candidates"][1:])
            self.report.say(f"  {path.stem}: {workload['rounds']} rounds in {workload['stopped']['elapsed_ns'] / 1e9:.0f} s; over all of them {effects}")
        self.report.say(f"  {'':30} {'exps.':>5} {'seconds':>7}  told apart  +2 %      +3 %  +5 % found   equal within  over  +5 %: over within")
        for label, amount, seconds in HOWS:
            for which, self.judge in self.judges.items():
                self.line(f"{which}{label}", timed, amount, seconds)
                for path in timed if seconds else []:
                    self.line(f"  {which}{path.stem.split('-', 1)[-1]}", [path], amount, seconds)
        if memory:
            self.head("memory", "share")
        for which, self.judge in self.judges.items() if memory else ():
            tallies = self.merged([[one | {"name": pathlib.Path(one["name"]).stem} for one in self.tool("cut", path, 3)] for path in memory])
            self.row(f"{which}peak, 3 memory rounds: equal, told apart", tallies["twin"], "peak", None, ("less", "more"))
            self.row(f"{which}peak, 3 memory rounds: waste, found", tallies["waste"], "peak", 1, ("more",))

    def candidate(self, library, name="work.so"):
        """The allocator that is worked on: another build at the same path, as on another day."""
        shutil.copyfile(library, self.place / "work.new")
        return (self.place / "work.new").rename(self.place / name)

    def larger(self, workload, base):
        """A library whose peak is LARGER_PERCENT above base's on this workload, by what a per cent more asked for makes of it."""
        library = self.handicapped(f"trial-more-{workload.stem}", "-DWASTE=20")
        peak = json.loads(self.experiment(workload, (base, library), "-n", 3).read_text())["workloads"][0]["candidates"][1]["resident"]["peak_ratio"]
        return self.handicapped(f"larger-{workload.stem}", f"-DWASTE={max(round(20 * LARGER_PERCENT / 100 / (peak - 1)), 1)}")

    def decided(self, workload, library, old):
        """One gate: measured until it is decided, and checked. The result, what the check says, seconds, what is open and why."""
        result, start = self.workshop.fresh(f"gate-{workload.stem}.json"), time.monotonic()
        against = ["--baseline", old] if old else ["--time-budget", "20s"]  # the first day: precise enough is soon
        run([MALLAB, "ab", "-q", "-a", f"{NAMED},{self.candidate(library)}", "--decide", GATE_BUDGET, *against, "-o", result, workload],
            stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - start
        done = subprocess.run([MALLAB, "check", "--json", "--budget", GATE_BUDGET, "--baseline", old or result, result], capture_output=True)
        if done.returncode not in (0, 4, 5):
            sys.exit(f"bench: check of {result} ended with {done.returncode}")
        open_ones = [f"{one['candidate']} {one['metric']} {100 * (one['measured'] - 1):+.1f} %: {one['reason']}"
                     for one in json.loads(done.stdout)["findings"] if one["outcome"] == "inconclusive"]
        return result, {0: "within", 4: "over", 5: "undecided"}[done.returncode], seconds, "; ".join(open_ones)

    def kinds(self, workload):
        """What a day's library may be; measured once."""
        path = self.place / f"{workload.stem}-kinds.json"
        if not path.exists():
            base = self.handicapped("base")
            kinds = {"5 % slower": self.slower(workload, base, [5])[0], f"{LARGER_PERCENT} % larger": self.larger(workload, base)}
            path.write_text(json.dumps({kind: os.fspath(library) for kind, library in kinds.items()}))
        return json.loads(path.read_text())

    def days(self, programs=()):
        """Each trial is three days: what was there the day before built anew, a slower one, a larger one. A line of trials.jsonl each, so
        what was stopped goes on where it was; the day before is the last one unchanged."""
        log = self.place / "trials.jsonl"
        lock = open(self.place / "lock", "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # two would measure each other's library
        except OSError:
            sys.exit(f"bench: another one measures in {self.place}")
        done = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        workloads = list(self.workloads(MORE))
        self.report.say(f"\ngate: ab -a {NAMED},WORK --decide '{GATE_BUDGET}' --baseline OLD, two minutes at most; {self.experiments} trials of each kind"
                        f" over {len(workloads)} programs\n  {'':30} {'trials':>6} {'seconds':>8} {'within':>8} {'over':>8} {'undecided':>9}")
        for trial, kind in ((trial, kind) for trial in range(self.experiments) for kind in ("first", "unchanged", "5 % slower", f"{LARGER_PERCENT} % larger")):
            workload = workloads[trial % len(workloads)]
            is_first, is_unchanged = kind == "first", kind == "unchanged"
            if (programs and not any(word in workload.stem for word in programs)) or (is_first and trial >= len(workloads)) or any(
                    (one["trial"], one["kind"]) == (trial, kind) for one in done):
                continue
            olds = [one["result"] for one in done if one["program"] == workload.stem and one["kind"] in ("first", "unchanged")]
            same = self.handicapped(f"base-{trial}-{is_first:d}", f"-Wl,--build-id=0x{2 * trial + is_first + 1:040x}") if is_first or is_unchanged else None
            result, outcome, seconds, why = self.decided(workload, same or self.kinds(workload)[kind], None if is_first else self.place / olds[-1])
            done.append({"trial": trial, "kind": kind, "program": workload.stem, "outcome": outcome, "seconds": round(seconds, 1), "result": result.name, "why": why})
            with open(log, "a") as out:
                out.write(json.dumps(done[-1]) + "\n")
            for old in olds if is_unchanged else [] if is_first else [result.name]:
                (self.place / old).unlink(missing_ok=True)
            if not is_first:
                self.day(f"{kind}, {workload.stem}", [(outcome, seconds)])
                if outcome == "undecided":
                    self.report.say(f"    {why}")
        for kind in dict.fromkeys(one["kind"] for one in done if one["kind"] != "first"):
            for program in ("", *(workload.stem for workload in workloads)):
                trials = [(one["outcome"], one["seconds"]) for one in done if one["kind"] == kind and program in ("", one["program"])]
                if trials:
                    self.day(f"{program or 'all'}, {kind}", trials)

    def day(self, label, trials):
        counts = {word: sum(outcome == word for outcome, _ in trials) for word in ("within", "over", "undecided")}
        seconds = sum(seconds for _, seconds in trials) / len(trials)
        self.report.say(f"  {label:30} {len(trials):6} {seconds:8.1f} " + " ".join(f"{count:8}" for count in counts.values()))
        for word, count in counts.items():
            self.report.keep(f"gate/{label}: {word}", [count / len(trials)], "share")

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
        self.report.say(f"\ngate against an earlier result, +3 % (tests/statistics/gate.c), shares\n  {'':60} {'exps.':>5} {'within':>8} {'over':>8}")
        for one in self.statistic("gate", "sessions", self.experiments):
            shares = [one[key] / one["experiments"] for key in ("within", "over")]
            change = round(100 * (one["change"] - 1))
            wrong = shares if change == 3 else [shares[0]] if change > 3 else [shares[1]]
            label = f"{one['circumstances']}, {one['rounds']} rounds, {change} %"
            self.report.keep(f"verdict/sessions {label}, wrong", [max(wrong)], "share", FALSE_MOST)
            self.report.say(f"  {label:60} {one['experiments']:5} {100 * shares[0]:6.1f} % {100 * shares[1]:6.1f} %{'' if max(wrong) <= FALSE_MOST else '  MISSED'}")

    def families(self):
        self.report.say(f"\nseven candidates at once (tests/statistics/gate.c)\n  {'':44} {'exps.':>5} {'share':>8}")
        for one in self.statistic("gate", "family", max(self.experiments // 2, 10)):
            kind = "wrong" if one["all_equal"] else "found"
            label = f"{one['model']}, {one['rounds']} rounds: {'any equal, told apart' if one['all_equal'] else 'the slower one, found'}"
            share = one[kind] / one["experiments"]
            self.report.keep(f"verdict/family {label}", [share], "share")
            self.report.say(f"  {label:44} {one['experiments']:5} {100 * share:6.1f} %")

    def fleets(self):
        """What many workloads say together (FLEETS at least, whatever -n): intervals hold the truth in 92-98 %, equals have a verdict in 5 % at most."""
        self.report.say("\nfleets of hosts, three candidates, noise 3 % (tests/statistics/fleets.c): intervals with the truth over all;\n"
                        "fleets with a verdict over all, on any host; that name a loser which is none; false of all names; the planted one named\n"
                        f"  {'':36} {'fleets':>6} {'all':>8} {'verdict':>8} {'host':>8} {'misnamed':>9} {'false':>8} {'named':>8}")
        for one in self.statistic("fleets", "simulate", max(self.experiments, FLEETS)):
            share = {"covered": one["covered"] / one["intervals"]}
            share |= {key: one[key] / one["fleets"] for key in ("told", "any", "host_told", "misnamed", "false_part", "found")}
            wrong = share["any"] if one["equal"] else share["false_part"]
            met = (one["planted"] or abs(share["covered"] - 0.95) <= 0.03) and wrong <= FALSE_MOST
            if one["planted"]:
                self.report.keep(f"verdict/fleets {one['kind']}: named", [share["found"]], "share")
            else:
                self.report.keep(f"verdict/fleets {one['kind']}: intervals without the truth", [1 - share["covered"]], "share", 0.08)
            self.report.keep(f"verdict/fleets {one['kind']}: {'any verdict' if one['equal'] else 'false of names'}", [wrong], "share", FALSE_MOST)
            self.report.say(f"  {one['kind']:36} {one['fleets']:6}" + "".join(f"{100 * share[key]:7.1f} %" for key in (
                "covered", "told", "host_told")) + f"{100 * share['misnamed']:8.1f} %" + "".join(
                f"{100 * share[key]:7.1f} %" for key in ("false_part", "found")) + ("" if met else "  MISSED"))

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
        if self.results:
            memory = [path for path in self.results if path.name.startswith("waste")]
            timed = [path for path in self.results if path not in memory]
        else:
            timed, memory = self.measure()
        self.real(timed, memory)

    def simulated(self):
        self.models()
        self.gate()
        self.sessions()
        self.families()
        self.fleets()
