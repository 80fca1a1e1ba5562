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
SPIN, WASTE_PERCENT = 40, 7  # of handicap.c: about 3 % of time, 5 % of the peak, with this program; the tables say what they came to
FALSE_MOST, FOUND_LEAST = 0.05, 0.95


class Verdict:
    def __init__(self, report, workshop, experiments, results=()):
        """results: kept results of earlier runs with the same names, instead of measuring."""
        self.report, self.workshop, self.experiments = report, workshop, experiments
        self.results = [pathlib.Path(path) for path in results]
        self.place = pathlib.Path(workshop.place)

    def tool(self, *arguments):
        return json.loads(run([BUILD / "tests/statistics/verdicts", *arguments])[0])

    def handicapped(self, name, *options):
        return self.workshop.library(f"{name}.so", "handicap.c", *options)

    def experiment(self, workload, names, rounds, memory_rounds):
        """One long experiment: its result's path."""
        result = self.workshop.fresh("result.json")
        run([os.fspath(BUILD / "mallab"), "ab", "-q", "-n", rounds, "--memory-rounds", memory_rounds, "--no-syscalls",
             "-a", ",".join(os.fspath(name) for name in names), "-o", result, workload], stdout=sys.stderr)
        return result

    def measure(self):
        recording, workload = self.workshop.fresh("recording"), self.workshop.fresh("small.wl")
        run([BUILD / "mallab", "record", "-q", "-o", recording, "--", "/usr/bin/python3", "-c", PROGRAM], PYTHON_ENV)
        run([BUILD / "mallab", "convert", "-q", "-o", workload, recording])
        base, twin = self.handicapped("base"), self.handicapped("twin")
        spin = self.handicapped("spin", f"-DSPIN={SPIN}")
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

    def all(self):
        start = time.monotonic()
        if self.results:
            memory = [path for path in self.results if path.name.startswith("waste")]
            timed, memory = [path for path in self.results if path not in memory], memory[0] if memory else None
        else:
            timed, memory = self.measure()
        self.real(timed, memory)
        self.models()
        self.report.note(f"verdict took {time.monotonic() - start:.0f} s")
