"""Whether what call sites hold (`ab --sites`) is what a program without them would not have: replayed with them and without."""
import json
import os
import shutil
import subprocess

from programs import MALLAB
from sites import Sites

FUNCTIONS = 5  # of a program, those that hold most and not all
HEAD = 400000  # calls of each program
LARGE = 0.05  # of what is held: what is less is not judged


class Ablation(Sites):
    def mallab(self, *words, env=None):
        return subprocess.run([str(word) for word in (MALLAB, *words)], env=env, check=True, capture_output=True, text=True).stdout

    def costs(self, workload, names):
        """What `ab --sites` says of a workload: bytes resident at the peak by candidate, and the result's file."""
        result = self.workshop.fresh("sites.json")
        self.mallab("ab", "-q", "--sites", "-n", "1", "--no-syscalls", "-a", names, "-o", result, workload)
        sites = json.loads(result.read_text())["workloads"][0]["sites"]
        return {candidate["name"]: candidate["resident_bytes"] for candidate in sites["candidates"]}, result

    def held(self, result, name, value="held"):
        """Bytes by call stack."""
        lines = self.mallab("flame", "--value", value, *(["-a", name] if value == "held" else []), result).splitlines()
        return [(stack.split(";"), int(size)) for stack, size in (line.rsplit(" ", 1) for line in lines)]

    @staticmethod
    def of(stacks, function):
        """What `convert --without-site` leaves out: stacks with these words in a function's name."""
        return sum(size for stack, size in stacks if any(function in frame for frame in stack))

    def functions(self, stacks):
        whole, seen, chosen = sum(size for _, size in stacks), set(), []
        sums = {function: self.of(stacks, function) for stack, _ in stacks for function in stack
                if not function.startswith("[") and "+0x" not in function}
        for function, size in sorted(sums.items(), key=lambda one: (-one[1], -len(one[0]))):
            if LARGE * whole < size < 0.95 * whole and size not in seen:
                seen.add(size)
                chosen.append(function)
        return chosen[:FUNCTIONS]

    def all(self):
        env = {**os.environ, "PYTHONMALLOC": "malloc"}
        present = {one["name"] for one in json.loads(self.mallab("allocators", "--json", "--found"))["allocators"]}
        names = ",".join(name for name in ("glibc", "jemalloc", "mimalloc", "tcmalloc") if name in present)
        differences = []
        self.report.say("\nheld by a function's call sites at the peak, and saved by leaving them out, MB")
        for program, command in self.programs():
            recording, whole = self.workshop.fresh("recording"), self.workshop.fresh("whole.wl")
            self.mallab("record", "-q", "--sites", "-o", recording, "--", *command, env=env)
            self.mallab("convert", "-q", "--head", HEAD, "-o", whole, recording)
            resident, result = self.costs(whole, names)
            stacks = {name: self.held(result, name) for name in resident}
            for function in self.functions(stacks["glibc"]):
                part = self.workshop.fresh("part.wl")
                self.mallab("convert", "-q", "--head", HEAD, "--without-site", function, "-o", part, recording)
                without, _ = self.costs(part, names)
                words = []
                for name in resident:
                    held, saved = self.of(stacks[name], function), resident[name] - without[name]
                    differences.append((held - saved) / held)
                    words.append(f"{name} {held / 1e6:6.2f} {saved / 1e6:6.2f} {100 * differences[-1]:+5.0f} %")
                self.report.say(f"  {program:8} {function[:28]:28} {'  '.join(words)}")
            shutil.rmtree(recording)
        for bound in (0.03, 0.1, 0.25):
            near = sum(abs(one) <= bound for one in differences)
            self.report.say(f"  within {100 * bound:.0f} %: {near} of {len(differences)}")
