"""The steps behind the recorder: bytes of a footprint, converting, replaying."""
import shutil

from programs import MALLAB, PYTHON_ENV, PYTHON_LONG, answer, run

TARGET_BYTES = {"python": 1.5, "cc1": 1.8, "sqlite": 0.4}

EVENTS_OF_A_ROUND = 1_900_000  # of PYTHON_LONG, a little less than it makes


class Pipeline:
    def __init__(self, report, workshop, rounds):
        self.report, self.workshop, self.rounds = report, workshop, rounds
        self.recordings = {}

    def recording_of(self, name):
        if name not in self.recordings:
            command, env = self.workshop.programs()[name]
            recording = self.workshop.fresh(name)
            run([MALLAB, "record", "-q", "-o", recording, "--", *command], env)
            self.recordings[name] = recording
        return self.recordings[name]

    def footprint(self):
        """Bytes per event of three real programs."""
        for name, target in TARGET_BYTES.items():
            info = answer("info", "--json", self.recording_of(name))
            self.report.note(f"{name}: {info['events']} events")
            self.report.add(f"footprint/{name}", [info["bytes_per_event"]], "B/event", target)

    def convert(self):
        """Events per second of CPU and by the clock, bytes per op, processes at a time, memory against length."""
        for name in TARGET_BYTES:
            recording = self.recording_of(name)
            events = answer("info", "--json", recording)["events"]
            rates, clock = [], []
            for _ in range(self.rounds):
                workload = self.workshop.fresh("wl")
                _, wall, cpu = run([MALLAB, "convert", "-q", "-o", workload, recording])
                rates.append(events / cpu / 1e6)
                clock.append(events / wall / 1e6)
            self.report.add(f"convert/{name}", rates, "M ev/s", 25, at_most=False)
            self.report.add(f"convert/{name}, by the clock", clock, "M ev/s")
            ops = answer("info", "--json", workload)["events"]
            self.report.add(f"convert/{name}: workload", [workload.stat().st_size / ops], "B/op", 1.0)
        peaks = []
        for events in (4_000_000, 16_000_000):
            recording = self.workshop.fresh("length")
            run([MALLAB, "record", "-q", "-o", recording, "--", self.workshop.helper("loops"), "random", events])
            peaks.append(self.peak_of([MALLAB, "convert", "-q", "-o", self.workshop.fresh("wl"), recording]))
            shutil.rmtree(recording)
        self.report.add("convert/memory, 4 times the length", [peaks[1] / peaks[0]], "x", 1.1)
        self.report.add("convert/peak resident", [peaks[1] / 1024], "MiB")

    def long(self, events=600_000_000):
        """The run of 2009 again: about so many events of one process, and what each step then takes. One round."""
        recording, workload = self.workshop.fresh("long"), self.workshop.fresh("wl")
        rounds = events // EVENTS_OF_A_ROUND + 4
        command = [MALLAB, "record", "-q", "-o", recording, "--", "/usr/bin/python3", "-c", PYTHON_LONG, str(rounds)]
        took = self.workshop.measured(command, PYTHON_ENV)
        self.report.add("long/recorded run", [took["ns"] / 1e9], "s")
        size = sum(path.stat().st_size for path in recording.glob("*.fp"))
        _, wall, cpu = run([MALLAB, "convert", "-q", "-o", workload, recording])
        info = answer("info", "--json", workload)
        self.report.add("long/events", [info["events"] / 1e6], "M", events / 1e6, at_most=False)
        self.report.add("long/footprint", [size / 1e6], "MB", 1000)
        self.report.add("long/convert, wall", [wall], "s", 60)
        self.report.add("long/convert, CPU", [info["events"] / cpu / 1e6], "M ev/s", 25, at_most=False)
        peak = self.peak_of([MALLAB, "convert", "-q", "-f", "-o", workload, recording])
        self.report.add("long/convert, memory", [peak / 1024], "MiB")
        self.report.add("long/convert, memory for each object at the peak",
                        [peak * 1024 / info["live_peak_objects"]], "B", 110)
        self.report.add("long/workload", [workload.stat().st_size / info["events"]], "B/op", 1.0)
        shutil.rmtree(recording)
        _, wall, _ = run([MALLAB, "info", "--json", workload])
        self.report.add("long/read and summed up by info", [info["events"] / wall / 1e6], "M ops/s")
        for candidate in ("none", "glibc", "jemalloc"):
            _, wall, _ = run([MALLAB, "replay", "--json", "-a", candidate, workload])
            self.report.add(f"long/replay on {candidate}, wall", [wall], "s", 60)

    def peak_of(self, command):
        return self.workshop.measured(command)["peak_kb"]
