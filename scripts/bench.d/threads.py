"""Programs with threads: memory and processor time by themselves, recorded, and replayed, under each allocator, side by side."""
import json

from programs import HERE, MALLAB, answer, run

SHAPES = (("requests", "a pool of 2 to 13 threads for each of 1,500 requests"), ("pool", "40 threads that live"),
          ("pipeline", "six threads and the queues between them"), ("scheduler", "64 threads that take 8,000 tasks"))
TARGET_PART = 0.1


class Threads:
    def __init__(self, report, workshop, rounds):
        self.report, self.workshop, self.rounds = report, workshop, rounds
        self.program = workshop.place / "threads"
        run(["c++", "-O2", "-std=c++17", "-pthread", "-o", self.program, HERE / "threads.cc"])
        listed = answer("allocators", "--json")["allocators"]
        self.libraries = {one["name"]: one["library"] if one["name"] != "glibc" else None for one in listed
                          if one["found"] and one["name"] in ("glibc", "jemalloc", "tcmalloc", "mimalloc")}

    def own(self, *before, library=None):
        """What the program says of itself at its end."""
        preload = {"LD_PRELOAD": library} if library else None
        start = run(["true"], preload)[2]
        shown, _, seconds = run([*before, self.program, self.shape], preload)
        told = json.loads(shown)
        return {"peak": (told["peak_kib"] - told["shared_kib"]) / 1024, "arenas": told["arenas"], "threads": told["threads"],
                "time": (seconds - start) * 1e3}

    def replayed(self, workload, allocator, *options):
        told = answer("replay", "--json", "--clock", "recorded", "-a", allocator, *options, workload)
        timed = answer("replay", "--json", "-a", allocator, workload)
        return {"peak": told["resident"]["peak_bytes"] / (1 << 20), "arenas": told["arenas"]["made"] or 0,
                "threads": told["threads_at_once"], "time": timed["allocator_ns"] / 1e6}

    def one(self, shape, about):
        self.shape = shape
        columns = [*self.libraries]
        alone, recorded, replayed = ({column: [] for column in columns} for _ in range(3))
        for turn in range(self.rounds):
            recording, workload = (self.workshop.place / f"{shape}{turn}{end}" for end in ("", ".wl"))
            for column, library in self.libraries.items():
                alone[column].append(self.own(library=library))
            recorded["glibc"].append(self.own(MALLAB, "record", "-q", "-o", recording, "--"))
            run([MALLAB, "convert", "-q", "-o", workload, recording])
            for column in columns:
                replayed[column].append(self.replayed(workload, column))
        rows = [(f"{key} {how}, {unit}", {column: [one[key] for one in runs[column]] for column in columns if runs[column]}, None)
                for key, unit in (("peak", "MiB"), ("arenas", "arenas"), ("threads", "at once"))
                for how, runs in (("alone", alone), ("recorded", recorded), ("replayed", replayed))]
        rows += [(f"CPU time {how} beyond glibc's, ms", {column: [one["time"] - base["time"] for one, base in zip(runs[column], runs["glibc"])]
                                                        for column in columns if column != "glibc"}, None)
                 for how, runs in (("alone", alone), ("replayed", replayed))]
        apart = {column: [abs(one["peak"] / two["peak"] - 1) for one, two in zip(replayed[column], alone[column])] for column in columns}
        rows.append(("replayed peak apart from alone, part", apart, TARGET_PART))
        self.report.table(f"threads/{shape}", f"{shape}: {about}", columns, rows, aimed=tuple(columns))

    def all(self):
        for shape, about in SHAPES:
            self.one(shape, about)
