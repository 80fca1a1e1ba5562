"""How often verdicts are right: many experiments cut out of a few long ones, and models of noise; docs/statistics.md is made from it."""
import json
import os
import pathlib
import sys
import time

from programs import BUILD, PYTHON_ENV, answer, run

# Allocates and frees some 200,000 objects: runs of some 10 ms, so that thousands fit into minutes.
PROGRAM = """
import json
data = [{"id": i, "name": "n%d" % i, "tags": ["a%d" % (i % 7)] * 5, "value": i * 1.5} for i in range(1000)]
data = json.loads(json.dumps(data))
"""
ROUNDS_OF_ONE = 1000  # most that `mallab ab` takes
WASTE_PERCENT = 7  # of handicap.c: about 5 % of the peak with this program; the tables say what it came to
SPINS, EFFECT = (120, 240, 480), 0.03  # turns of handicap.c's loop that are tried for this effect
CALIBRATION_ROUNDS, CALIBRATIONS_MOST = 40, 4  # each attempt takes twice the rounds of the one before
SPIN_BOUNDS = (10, 400)  # what a calibration may come to
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

    def handicapped(self, name, *options, spin=1):
        """With the loop in all of them, of one turn at least: to have one at all costs as much as a hundred turns."""
        return self.workshop.library(f"{name}.so", "handicap.c", f"-DSPIN={spin}", *options)

    def experiment(self, workload, names, rounds, memory_rounds):
        """One long experiment: its result's path."""
        result = self.workshop.fresh("result.json")
        run([os.fspath(BUILD / "mallab"), "ab", "-q", "-n", rounds, "--memory-rounds", memory_rounds, "--no-syscalls",
             "-a", ",".join(os.fspath(name) for name in names), "-o", result, workload], stdout=sys.stderr)
        return result

    def slopes(self, workload, rounds):
        """The effect of one turn by each of SPINS, of runs that are interleaved with the base's: what disturbs, disturbs all of them."""
        base = self.handicapped("base")
        spins = [self.handicapped(f"spin{spin}", spin=spin) for spin in SPINS]
        result = json.loads(self.experiment(workload, (base, *spins), rounds, 0).read_text())
        candidates = result["workloads"][0]["candidates"][1:]
        return [(entry["time"]["ratio"] - 1) / (spin - 1) for entry, spin in zip(candidates, SPINS)]

    def calibrated(self, workload):
        """How many turns make EFFECT on this machine as it is. Repeated until three sizes agree: an effect that was disturbed, or that is not in
        proportion, would make a candidate whose true difference nobody knows."""
        for attempt in range(CALIBRATIONS_MOST):
            slopes = sorted(self.slopes(workload, CALIBRATION_ROUNDS << attempt))
            told = ", ".join(f"{100 * slope * SPINS[0]:.2f}" for slope in slopes)
            if slopes[0] > 0 and slopes[-1] < 1.5 * slopes[0]:
                spin = 1 + round(EFFECT / slopes[1])
                self.report.note(f"calibrated: {spin} turns for {100 * EFFECT:.0f} %; {SPINS[0]} turns are {told} % by three sizes")
                if SPIN_BOUNDS[0] <= spin <= SPIN_BOUNDS[1]:
                    return spin
            self.report.note(f"calibration {attempt + 1} disagrees with itself: {SPINS[0]} turns are {told} % by three sizes")
        sys.exit("bench: the injected time cannot be calibrated on this machine: it is too busy, see above")

    def measure(self):
        recording, workload = self.workshop.fresh("recording"), self.workshop.fresh("small.wl")
        run([BUILD / "mallab", "record", "-q", "-o", recording, "--", "/usr/bin/python3", "-c", PROGRAM], PYTHON_ENV)
        run([BUILD / "mallab", "convert", "-q", "-o", workload, recording])
        base, twin = self.handicapped("base"), self.handicapped("twin")
        spin = self.handicapped("spin", spin=self.calibrated(workload))
        waste = self.handicapped("waste", f"-DWASTE={WASTE_PERCENT}")
        memory = self.experiment(workload, (base, twin, waste), 3 * self.experiments, 3 * self.experiments)
        timed, left = [], 20 * self.experiments
        while left > 0:
            timed.append(self.experiment(workload, (base, twin, spin), max(min(left, ROUNDS_OF_ONE), 20), 0))
            left -= ROUNDS_OF_ONE
        return timed, memory

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

    def real(self, timed, memory):
        equals, slower = ("faster", "slower"), ("slower",)
        self.head("real runs: experiments of rounds of their own, or drawn in stretches of ten rounds", "share")
        each = -(-self.experiments // len(timed))
        for label, how in (("8 rounds", ("cut", 8)), ("20 rounds", ("cut", 20)), ("--until 2%, drawn", ("draw", each, 0.02))):
            tallies = self.merged(self.tool(how[0], result, *how[1:]) for result in timed)
            self.row(f"time, {label}: equal, told apart", tallies["twin"], "time", None, equals)
            self.row(f"time, {label}: slower, found", tallies["spin"], "time", 1, slower, "until" in label)
        if memory is not None:
            tallies = self.merged([self.tool("cut", memory, 3)])
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
