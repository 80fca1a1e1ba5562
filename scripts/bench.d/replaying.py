"""Replaying: the harness's own cost with one thread, and how many ops a second with many."""
import json
import os
import pathlib
import random
import subprocess

from pipeline import TARGET_BYTES
from programs import MALLAB, ROOT, answer, run

SHARED = pathlib.Path(os.environ.get("MALLAB_SHARED_DATA", ROOT.parent / "shared" / "data"))
CANDIDATES = ("glibc", "jemalloc", "tcmalloc", "mimalloc")


class Replaying:
    def __init__(self, report, workshop, rounds, pipeline, realtime):
        self.report, self.workshop, self.rounds, self.pipeline = report, workshop, rounds, pipeline
        self.before = ["chrt", "-f", "1"] if realtime else []

    def all(self):
        listed = {one["name"]: one["found"] for one in answer("allocators", "--json")["allocators"]}
        self.found = [name for name in CANDIDATES if listed.get(name)]
        self.floor()
        self.threads()

    def samples(self, workload, candidates, *options):
        """By candidate, its runs; rounds interleaved. The replay alone is under --realtime, not what surrounds it."""
        runs = {name: [] for name in candidates}
        for _ in range(self.rounds):
            for name in random.sample(list(runs), len(runs)):
                command = [*self.before, MALLAB, "replay", "--json", "-a", name, *options, workload]
                runs[name].append(json.loads(run(command, stderr=subprocess.DEVNULL)[0]))
        return runs

    def converted(self, *arguments):
        workload = self.workshop.fresh("wl")
        run([MALLAB, "convert", "-q", "-o", workload, *arguments])
        return workload

    def recorded(self, *command):
        recording = self.workshop.fresh("recording")
        run([MALLAB, "record", "-q", "-o", recording, "--", *command])
        return self.converted(recording)

    def floor(self):
        """Nanoseconds per op of the harness alone, and of glibc: whole runs, and the quiet figure of `ab`, the sum of each batch's minimum."""
        workloads = {name: self.converted(self.pipeline.recording_of(name)) for name in TARGET_BYTES}
        workloads["quickstart"] = self.recorded("sqlite3", ":memory:", f".read {ROOT / 'scripts/quickstart.sql'}")
        for name, workload in workloads.items():
            for candidate, runs in self.samples(workload, ("none", "glibc")).items():
                target = 3 if candidate == "none" else None
                quiet = sum(min(batch) for batch in zip(*(one["batch_ns"] for one in runs))) / runs[0]["ops"]
                self.report.add(f"replay/{name}: {candidate}", [one["whole_ns_per_op"] for one in runs], "ns/op")
                self.report.add(f"replay/{name}: {candidate}, quiet", [quiet], "ns/op", target)

    def threads(self):
        """Ops a second of wall time, all that a run does in it: calls, waiting, preparing windows, starting threads."""
        recorded = self.recorded(self.workshop.helper("loops"), "threads", 1_000_000, 8)
        self.rates("8 threads", recorded)
        self.rates("8 threads, recorded clock", recorded, "--clock", "recorded")
        android = SHARED / "android-systemui.zip"
        if android.exists():
            self.rates("android", self.converted("--from", "android", android), target=20)
        else:
            self.report.note(f"replay/android: no {android}, which is no part of mallab: $MALLAB_SHARED_DATA names its directory")

    def rates(self, name, workload, *options, target=None):
        for candidate, runs in self.samples(workload, ["none", *self.found], *options).items():
            ops = runs[0]["ops"]
            self.report.add(f"replay/{name}: {candidate}", [ops / one["wall_ns"] * 1e3 for one in runs], "M ops/s", target, at_most=False)
            own = [one["whole_ns_per_op"] for one in runs]
            if None not in own:
                self.report.add(f"replay/{name}: {candidate}, in calls", own, "ns/op")
            cpu = [(one["user_ns"] + one["system_ns"]) / ops for one in runs]
            self.report.add(f"replay/{name}: {candidate}, CPU of all threads", cpu, "ns/op")
