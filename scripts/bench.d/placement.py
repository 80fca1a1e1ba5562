"""Does the placement figure tell what a program gains beyond its time in allocator calls? docs/fidelity.md has what came out.

For each program and candidate: what the real program's processor time changes against glibc (least of interleaved rounds), what
the replay predicts (steady ns per op, times ops), and models of the rest, fitted on other programs."""
import os
import random
import statistics
import subprocess

from loads import loads
from programs import MALLAB, answer, environment, run

CANDIDATES = ("jemalloc", "tcmalloc", "mimalloc")


class Program:
    """Shares of the baseline's processor time, so that programs of different length compare."""

    def __init__(self, name):
        self.name = name
        self.real, self.calls, self.features = {}, {}, {}
        self.noise = None


# Each names what a program's own gain would be proportional to: key of the placement, weighed by ops or by own time. The last
# knows nothing of placement: a model that does no better has found nothing.
MODELS = {
    "own gain = k x TLB misses an object x calls": ("tlb_misses_per_object", "ops"),
    "own gain = k x TLB misses an object x own time": ("tlb_misses_per_object", "own"),
    "own gain = k x line bytes a byte x own time": ("line_bytes_per_byte", "own"),
    "own gain = k x page bytes a byte x own time": ("page_bytes_per_byte", "own"),
    "own gain = k x gain in calls": ("", "calls"),
}


def slope(pairs):
    """Least squares through the origin: nothing gained where nothing differs."""
    square = sum(x * x for x, _ in pairs)
    return sum(x * y for x, y in pairs) / square if square else 0.0


class Placement:
    def __init__(self, report, workshop, rounds):
        self.report, self.workshop, self.rounds = report, workshop, rounds
        self.random = random.Random(1)
        found = {a["name"]: a for a in answer("allocators", "--json")["allocators"]}
        self.libraries = {name: found[name]["library"] for name in CANDIDATES if found.get(name, {}).get("found")}

    # ---- measuring ---------------------------------------------------------------------------------

    def processor_seconds(self, command, env, library):
        """User and system time of the process: the kernel splits them by samples, only their sum is exact."""
        settings = environment({**env, **({"LD_PRELOAD": library} if library else {})})
        process = subprocess.Popen([str(c) for c in command], env=settings, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
        return usage.ru_utime + usage.ru_stime

    def real_seconds(self, command, env):
        """Least of the rounds for each candidate; `control` is the baseline once more."""
        kinds = {"glibc": None, "control": None, **self.libraries}
        least = dict.fromkeys(kinds, float("inf"))
        for _ in range(self.rounds):
            for kind in self.random.sample(list(kinds), len(kinds)):
                least[kind] = min(least[kind], self.processor_seconds(command, env, kinds[kind]))
        return least

    def replayed(self, command, env):
        recording, workload = self.workshop.fresh("recording"), self.workshop.fresh("x.wl")
        run([MALLAB, "record", "-q", "-o", recording, "--", *command], env)
        run([MALLAB, "convert", "-q", "-o", workload, recording])
        names = ",".join(["glibc", *self.libraries])
        return answer("ab", "--json", "-q", "-a", names, "-n", self.rounds, "--memory-rounds", 0, "--no-syscalls", "--seed", 1,
                      workload)["workloads"][0]

    def measure(self, name, command, env):
        program, workload, real = Program(name), self.replayed(command, env), self.real_seconds(command, env)
        entries = {entry["name"]: entry for entry in workload["candidates"]}
        base, base_ns, ops = entries["glibc"], real["glibc"] * 1e9, workload["ops"]
        own_ns = max(base_ns - base["time"]["steady_ns_per_op"] * ops, 0)
        program.noise = abs(real["control"] / real["glibc"] - 1)
        for candidate in self.libraries:
            entry = entries[candidate]
            program.real[candidate] = 1 - real[candidate] / real["glibc"]
            program.calls[candidate] = (base["time"]["steady_ns_per_op"] - entry["time"]["steady_ns_per_op"]) * ops / base_ns
            weights = {"ops": ops / base_ns, "own": own_ns / base_ns}
            for model, (key, weight) in MODELS.items():
                if key:
                    more = (base["placement"][key] or 0) - (entry["placement"][key] or 0)
                    program.features[model, candidate] = more * weights[weight]
                else:
                    program.features[model, candidate] = program.calls[candidate]
        self.tell(program, entries, own_ns / base_ns)
        return program

    def tell(self, program, entries, own):
        misses = " ".join(f"{name} {entries[name]['placement']['tlb_misses_per_object'] or 0:.3f}" for name in entries)
        lines = " ".join(f"{entries[name]['placement']['line_bytes_per_byte'] or 0:.2f}" for name in entries)
        self.report.say(f"{program.name}: own time {own:.0%}, noise {program.noise:.1%}; TLB misses {misses}; lines {lines}")
        for candidate in self.libraries:
            self.report.say(f"    {candidate:9} real {program.real[candidate]:+7.1%}  in calls {program.calls[candidate]:+7.1%}  "
                            f"rest {program.real[candidate] - program.calls[candidate]:+7.1%}")
            figures = {"real gain": program.real[candidate], "gain in calls": program.calls[candidate]}
            figures.update({key: entries[candidate]["placement"][key] or 0 for key, _ in MODELS.values() if key})
            for key, value in figures.items():
                self.report.keep(f"placement/{program.name}/{candidate}/{key}", [value], "of glibc's time" if "gain" in key else "")

    # ---- judging -----------------------------------------------------------------------------------

    def pairs(self, programs, model):
        return [(p.features[model, c], p.real[c] - p.calls[c]) for p in programs for c in self.libraries]

    def errors(self, programs, model, factor):
        """Real less predicted, in shares of the program's time."""
        extra = (lambda p, c: factor * p.features[model, c]) if model else lambda p, c: 0
        return [p.real[c] - p.calls[c] - extra(p, c) for p in programs for c in self.libraries]

    def keep(self, label, errors):
        absolute = [abs(e) * 100 for e in errors]
        self.report.say(f"{label:62} {statistics.mean(absolute):6.2f} {statistics.median(absolute):6.2f} {max(absolute):6.2f} "
                        f"{statistics.mean(errors) * 100:+6.2f}")
        self.report.keep(f"placement/{label}", absolute, "points", None)

    def judge(self, programs):
        fitted, tested = programs[::2], programs[1::2]
        self.report.say(f"\nerror of the predicted gain, points of a program's time{'':8}  mean median    max   bias")
        self.keep("time in calls alone, all programs", self.errors(programs, None, 0))
        for model in MODELS:
            left_out = []
            for program in programs:
                factor = slope(self.pairs([p for p in programs if p is not program], model))
                left_out += self.errors([program], model, factor)
            self.keep(f"{model}, leave one out", left_out)
        self.report.say(f"fitted on {', '.join(p.name for p in fitted)}; tested on the others")
        self.keep("time in calls alone, the tested", self.errors(tested, None, 0))
        for model in MODELS:
            factor = slope(self.pairs(fitted, model))
            self.keep(f"{model}, k = {factor:.3g}", self.errors(tested, model, factor))

    def all(self):
        if not self.libraries:
            self.report.note("placement: no other allocator is here")
            return
        programs = [self.measure(*load) for load in loads(self.workshop, self.report.note)]
        self.judge(programs)
