"""What recording costs: a program against itself, under every recorder, rounds shuffled."""
import json
import os
import random
import subprocess

from programs import environment
from recorders import Mallab, Peers, Plain, Witness
from server import Server, missing_server
from storms import storms

TARGET_NS = {"pair": 5, "random": 10, "handover": 12, "python": 20}
TARGET_OTHER_NS = {"python": 25}
TARGET_BYTES = {"python": 1.5, "cc1": 1.8, "sqlite": 0.4}
TARGET_SERVER_PERCENT = 5
THREADS = (1, 2, 8, 64)
MIB = 1 << 20


def differences(samples, key, per, recorder):
    """Each round's figure less that of its own round without a recorder."""
    return [(with_[key] - without[key]) / per for with_, without in zip(samples[recorder], samples["none"])]


class Recorder:
    def __init__(self, report, workshop, rounds, quick):
        self.report, self.workshop, self.rounds = report, workshop, rounds
        self.scale = 8 if quick else 1
        self.loops = workshop.helper("loops")

    def all(self):
        with Peers(self.workshop, self.report) as peers:
            self.columns = [r.label for r in peers.here[1:]]
            self.peers = peers.here
            self.loop("pair", "one thread, one object allocated and freed", 8_000_000)
            self.loop("random", "one thread, 10,000 live objects, a random one replaced", 8_000_000)
            self.loop("handover", "two threads, each frees what the other allocated", 4_000_000, 2)
            self.threads()
            storms(self)
            self.real_programs()
            self.server()
        self.full()

    # ---- one run ----

    def once(self, recorder, command, env=None):
        """What one run took: the program's own figures where it prints some, else those of its parent."""
        result = self.workshop.fresh("measured")
        command = [str(c) for c in recorder.argv(result, command)]
        done = subprocess.run(command, env=environment(env), capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"bench: {' '.join(command)[:300]} failed with {done.returncode}: {done.stderr.strip()}")
        took = json.loads(result.read_text())
        if done.stdout.startswith("{"):
            took.update(json.loads(done.stdout))
        return {**took, **recorder.cost()}

    def shuffled(self, recorders, command, env=None):
        """label -> a sample a round; every round holds each recorder once."""
        samples = {r.label: [] for r in recorders}
        self.once(recorders[0], command, env)  # files into the page cache
        for _ in range(self.rounds):
            for recorder in random.sample(recorders, len(recorders)):
                samples[recorder.label].append(self.once(recorder, command, env))
        return samples

    # ---- tables ----

    def plain_title(self, samples, events, lanes):
        wall, cpu = (min(s[key] for s in samples["none"]) / events for key in ("ns", "cpu_ns"))
        return f"{events:,} events; without a recorder {wall * lanes:.1f} ns wall, {cpu:.1f} ns CPU an event at best"

    def added(self, samples, events, lanes):
        """Rows that are shown of every program."""
        wall = {c: differences(samples, "ns", events / lanes, c) for c in self.columns}
        cpu = {c: differences(samples, "cpu_ns", events, c) for c in self.columns}
        quiet = {c: [(min(s["cpu_ns"] for s in samples[c]) - min(s["cpu_ns"] for s in samples["none"])) / events]
                 for c in self.columns}
        other = {c: [s["other_cpu_ns"] / events for s in samples[c]] for c in self.columns if "other_cpu_ns" in samples[c][0]}
        return wall, cpu, quiet, other

    def told(self, samples, key, per=1):
        return {c: [s[key] / per for s in samples[c]] for c in self.columns if key in samples[c][0]}

    def show(self, name, about, samples, events, lanes=1):
        wall, cpu, quiet, other = self.added(samples, events, lanes)
        peak = {c: differences(samples, "peak_kb", 1024, c) for c in self.columns}
        self.report.table(f"recorder/{name}", f"{name}: {about}; {self.plain_title(samples, events, lanes)}", self.columns, [
            ("added wall, ns/event", wall, TARGET_NS.get(name)),
            ("added CPU, ns/event", cpu, TARGET_NS.get(name)),
            ("added CPU, least less least, ns/event", quiet, None),
            ("CPU of other processes, ns/event", other, TARGET_OTHER_NS.get(name)),
            ("on disk, bytes/event", self.told(samples, "bytes", events), TARGET_BYTES.get(name)),
            ("lost, events", self.told(samples, "lost"), 0),
            ("waits for room, stalls", self.told(samples, "stalls"), None),
            ("waiting, ms", self.told(samples, "stall_ns", 1e6), None),
            ("added peak of the program, MiB", peak, None),
            ("shared memory used, MiB", self.told(samples, "segment_used_bytes", MIB), None),
            ("collector's own memory, MiB", self.told(samples, "collector_bytes", MIB), None),
        ])

    def loop(self, name, about, events, lanes=1):
        events //= self.scale
        self.show(name, about, self.shuffled(self.peers, [self.loops, name, events]), events, lanes)

    def threads(self):
        events = 8_000_000 // self.scale
        rows = {"wall": [], "cpu": [], "other": [], "lost": [], "stalls": []}
        for count in THREADS:
            samples = self.shuffled(self.peers, [self.loops, "threads", events, count])
            lanes = min(count, os.cpu_count())
            wall, cpu, _, other = self.added(samples, events, lanes)
            who = f"{count} thread{'s' if count > 1 else ''}: "
            rows["wall"].append((f"{who}added wall, ns/event", wall, None))
            rows["cpu"].append((f"{who}added CPU, ns/event", cpu, None))
            rows["other"].append((f"{who}CPU of other processes, ns/event", other, None))
            rows["lost"].append((f"{who}lost, events", self.told(samples, "lost"), 0))
            rows["stalls"].append((f"{who}waits for room, stalls", self.told(samples, "stalls"), None))
        self.report.table("recorder/threads", "threads: 1,000 live objects each, every eighth freed by the next thread; "
                          f"{events:,} events in all; wall time counts for each processor in use", self.columns,
                          [row for kind in rows.values() for row in kind])

    def real_programs(self):
        about = {"python": "python3, json and dicts", "cc1": "the C compiler on a large generated file",
                 "sqlite": "sqlite3 in memory, scripts/quickstart.sql"}
        for name, (command, env) in self.workshop.programs().items():
            samples = self.shuffled(self.peers, command, env)
            self.show(name, about[name], samples, samples["mallab"][0]["events"])

    def server(self):
        missing = missing_server()
        if missing:
            self.report.note(f"without redis: {missing}")
            return
        for depth in (1, 16):
            server = Server(self.workshop, 400_000 // self.scale, depth)
            samples = {r.label: [] for r in self.peers}
            for _ in range(self.rounds):
                for recorder in random.sample(self.peers, len(self.peers)):
                    samples[recorder.label].append(server.once(recorder))
            self.show_server(f"redis, pipeline {depth}", depth, samples, server.requests)

    def show_server(self, name, depth, samples, requests):
        everyone = [r.label for r in self.peers]
        events = samples["mallab"][0]["events"]
        percent = {c: [100 * (w["cpu_ns"] / n["cpu_ns"] - 1) for w, n in zip(samples[c], samples["none"])]
                   for c in self.columns}
        quiet = {c: [100 * (min(s["cpu_ns"] for s in samples[c]) / min(s["cpu_ns"] for s in samples["none"]) - 1)]
                 for c in self.columns}
        other = {c: [100 * w["other_cpu_ns"] / n["cpu_ns"] for w, n in zip(samples[c], samples["none"])]
                 for c in self.columns if "other_cpu_ns" in samples[c][0]}
        self.report.table(f"recorder/{name}", f"{name}: redis-server under redis-benchmark on loopback, {requests:,} requests, "
                          f"{events / requests:.2f} events each", everyone, [
            ("requests, 1/s", {c: [s["requests_per_s"] for s in samples[c]] for c in everyone}, None),
            ("server CPU, ns/request", {c: [s["cpu_ns"] / requests for s in samples[c]] for c in everyone}, None),
            ("added server CPU, %", percent, TARGET_SERVER_PERCENT if depth == 1 else None),
            ("added server CPU, least to least, %", quiet, None),
            ("CPU of other processes, % of the server's", other, None),
            ("on disk, bytes/event", self.told(samples, "bytes", events), None),
            ("lost, events", self.told(samples, "lost"), 0),
            ("waits for room, stalls", self.told(samples, "stalls"), None),
            ("added peak of the server, MiB", {c: differences(samples, "peak_kb", 1024, c) for c in self.columns}, None),
        ])

    # ---- a collector that cannot keep up ----

    def full(self):
        """Little shared memory, or a program faster than the collector for long: recorded and lost must be all."""
        many = ["threads", 16_000_000 // self.scale]
        cases = {
            "1 thread": (Mallab(self.workshop), ["pair", 64_000_000 // self.scale], 1),
            "8 threads": (Mallab(self.workshop), [*many, 8], 8),
            "8, 1M, wait": (Mallab(self.workshop, "--memory", "1M", "--on-full", "wait"), [*many, 8], 8),
            "8, 1M, drop": (Mallab(self.workshop, "--memory", "1M", "--on-full", "drop"), [*many, 8], 8),
            "64, 1M, wait": (Mallab(self.workshop, "--memory", "1M", "--on-full", "wait"), [*many, 64], 64),
            "64, 1M, drop": (Mallab(self.workshop, "--memory", "1M", "--on-full", "drop"), [*many, 64], 64),
        }
        plain, witness = Plain(self.workshop), Witness(self.workshop)
        made, without, with_ = {}, {}, {label: [] for label in cases}
        for label, (_, command, _) in cases.items():
            made[label] = self.once(witness, [self.loops, *command])["events"]
        for _ in range(self.rounds):
            for label in random.sample(list(cases), len(cases)):
                recorder, command, _ = cases[label]
                pair = random.sample([plain, recorder], 2)
                took = {r: self.once(r, [self.loops, *command]) for r in pair}
                with_[label].append(took[recorder])
                without.setdefault(label, []).append(took[plain])
        self.show_full(cases, made, without, with_)

    def show_full(self, cases, made, without, with_):
        def per_event(key, label):
            lanes = min(cases[label][2], os.cpu_count()) if key == "ns" else 1
            return [(w[key] - n[key]) * lanes / made[label] for w, n in zip(with_[label], without[label])]

        def told(key, per=1):
            return {label: [s[key] / per for s in with_[label]] for label in cases}

        unexplained = {label: [abs(made[label] - s["events"] - s["lost"]) for s in with_[label]] for label in cases}
        self.report.table("recorder/full", "a collector that cannot keep up: the pool of 128 MiB or of 1 MiB, whether threads "
                          "wait or drop; 'made' was counted by another library", list(cases), [
            ("made, events", {label: [made[label]] for label in cases}, None),
            ("recorded, events", told("events"), None),
            ("lost, events", told("lost"), None),
            ("made less recorded less lost, events", unexplained, 0),
            ("waits for room, stalls", told("stalls"), None),
            ("waiting of all threads, ms", told("stall_ns", 1e6), None),
            ("added wall, ns/event", {label: per_event("ns", label) for label in cases}, None),
            ("added CPU, ns/event", {label: per_event("cpu_ns", label) for label in cases}, None),
            ("collector CPU, ns/event", {label: [s["other_cpu_ns"] / made[label] for s in with_[label]] for label in cases},
             None),
            ("shared memory used, MiB", told("segment_used_bytes", MIB), None),
        ], aimed=tuple(cases))
