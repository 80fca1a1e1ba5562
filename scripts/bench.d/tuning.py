"""Whether `mallab tune` finds what is known to be there in real programs, within its budget, and refrains where there is nothing."""
import json

from programs import BUILD, HERE, MALLAB, PYTHON_ENV, run

# Blocks just below the threshold of mmap, given back to the kernel and taken again each time: a larger trim_threshold keeps them.
TRIMMED = "for i in range(120):\n    rows = [bytes(100000) for _ in range(60)]\n"
# A few small objects at a time, all in the cache: no setting of glibc's matters.
STEADY = "for i in range(60000):\n    rows = [str(i), [i] * 3, {i: i}]\n"


class Tuning:
    def __init__(self, report, workshop, seconds):
        self.report, self.workshop, self.seconds = report, workshop, seconds

    def cases(self):
        """Name, command, and the settings of which one must be on the front with that verdict; none: only the default may."""
        threads = self.workshop.fresh("workers")
        run(["c++", "-O2", "-pthread", "-o", threads, HERE / "workers.cc"])
        yield "threads: memory", [threads, "1500"], ("arena_max",), "memory", "less"
        yield "trimmed: time", ["/usr/bin/python3", "-c", TRIMMED], ("trim_threshold", "top_pad", "mmap_threshold"), "time", "faster"
        yield "steady: nothing", ["/usr/bin/python3", "-c", STEADY], (), None, None

    def all(self):
        self.report.say(f"\ntune, {self.seconds} s each: what is known to be there\n  {'':20} {'right':>6}  on the front")
        for name, command, settings, figure, verdict in self.cases():
            recording, result = self.workshop.fresh("recording"), self.workshop.fresh("tune.json")
            run([MALLAB, "record", "-q", "-o", recording, "--", *command], PYTHON_ENV)
            run([BUILD / "mallab", "tune", "-q", "--seed", 1, "--budget", f"{self.seconds}s", "-o", result, recording])
            tune = json.loads(result.read_text())["tune"]
            front = [row for row in tune["front"] if row["settings"]]
            right = any(row[figure]["verdict"] == verdict and set(row["settings"]) & set(settings) for row in front) if settings else not front
            shown = ", ".join(f"{row['name']} (time {100 * (row['time']['ratio'] - 1):+.1f} %, memory {100 * (row['memory']['ratio'] - 1):+.1f} %)" for row in front)
            self.report.keep(f"tune/{name}", [float(right)], "share", 1, False)
            self.report.say(f"  {name:20} {'yes' if right else 'MISSED':>6}  {shown or 'the default'}")
