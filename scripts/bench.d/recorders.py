"""The recorders that are compared: how each runs a program, and what it took besides.

A recorder offers `label`, `missing` (a reason, or None), `version`, and for each run first argv() and, when the program
has ended, cost(): other_cpu_ns (CPU of processes other than the program), bytes (on disk), events, lost, and more of mallab's.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from programs import MALLAB, environment, run


class Plain:
    """No recorder."""
    label = "none"
    missing = None
    version = ""

    def __init__(self, workshop):
        self.workshop = workshop
        self.measured = workshop.helper("measured")

    def argv(self, result, command):
        return [self.measured, result, *command]

    def cost(self):
        return {}

    def close(self):
        pass


class Floor(Plain):
    """Every call through one more function, nothing recorded: what interposing alone costs."""
    label = "floor"
    version = "scripts/bench.d/floor.c"

    def argv(self, result, command):
        library = self.workshop.library("floor.so", "floor.c")
        return [self.measured, result, f"LD_PRELOAD={library}", *command]


class Witness(Plain):
    """Counts the calls, sharing no code with mallab."""
    label = "witness"

    def argv(self, result, command):
        self.count = self.workshop.fresh("count")
        library = self.workshop.library("witness.so", "floor.c", "-DCOUNT")
        return [self.measured, result, f"LD_PRELOAD={library}", f"FLOOR_COUNT={self.count}", *command]

    def cost(self):
        return {"events": int(self.count.read_text())}


class Mallab(Plain):
    label = "mallab"

    def __init__(self, workshop, *options):
        super().__init__(workshop)
        self.options = options
        self.version = run([MALLAB, "--version"])[0].decode().split("\n")[0].removeprefix("mallab ")

    def argv(self, result, command):
        self.recording = self.workshop.fresh("recording")
        return [MALLAB, "record", "-q", "-o", self.recording, *self.options, "--", self.measured, result, *command]

    def cost(self):
        told = json.loads((self.recording / "recording.json").read_text())
        shutil.rmtree(self.recording)
        return {"other_cpu_ns": told["collector_cpu_ns"], "bytes": told["bytes"], "events": told["events"],
                "lost": sum(told["lost"].values()), "stalls": told["stalls"], "stall_ns": told["stall_ns"],
                "segment_used_bytes": told["segment_used_bytes"], "collector_bytes": told["collector_bytes"]}


class Heaptrack(Plain):
    """Its preload library alone, writing its raw text: the least of its ways. It unwinds the stack at each allocation."""
    label = "heaptrack"

    def __init__(self, workshop):
        super().__init__(workshop)
        places = [pathlib.Path(p) / "heaptrack/libheaptrack_preload.so" for p in ("/usr/lib", "/usr/lib64")]
        self.library = next((p for p in places if p.exists()), None)
        self.missing = None if self.library else "not installed: apt-get install heaptrack"
        if self.library and shutil.which("heaptrack"):
            self.version = run(["heaptrack", "--version"])[0].decode().split()[-1]

    def argv(self, result, command):
        self.raw = self.workshop.fresh("heaptrack")
        return [self.measured, result, f"LD_PRELOAD={self.library}", f"DUMP_HEAPTRACK_OUTPUT={self.raw}", *command]

    def cost(self):
        size = self.raw.stat().st_size
        self.raw.unlink()
        return {"other_cpu_ns": 0, "bytes": size}


def cpu_ns_of(pids):
    """User and system time of processes, of /proc/PID/stat."""
    ticks = 0
    for pid in pids:
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class Lttng(Plain):
    """LTTng-UST's libc wrapper with a session of its own; like mallab it waits for room rather than losing events."""
    label = "LTTng-UST"
    library = "liblttng-ust-libc-wrapper.so.1"

    def __init__(self, workshop):
        super().__init__(workshop)
        self.daemon = None
        self.session = None
        self.missing = self.why_not()
        if self.missing is None:
            self.version = re.search(r"\d[\d.]*", run(["lttng", "--version"])[0].decode())[0]
            self.missing = self.start_daemon()

    def why_not(self):
        if not shutil.which("lttng") or not shutil.which("lttng-sessiond"):
            return "not installed: apt-get install lttng-tools liblttng-ust1"
        cache = run(["/sbin/ldconfig", "-p"])[0].decode()
        return None if self.library in cache else f"no {self.library}: apt-get install liblttng-ust1"

    def start_daemon(self):
        if self.lttng("list").returncode == 0:
            return "a session daemon runs already, whose CPU time is not ours alone: end it"
        self.daemon = subprocess.Popen(["lttng-sessiond"], env=environment(), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        for _ in range(100):
            if self.lttng("list").returncode == 0:
                return None
            if self.daemon.poll() is not None:
                break
            time.sleep(0.05)
        return "its session daemon does not start"

    def lttng(self, *arguments):
        return subprocess.run(["lttng", "--no-sessiond", *map(str, arguments)], env=environment(), capture_output=True,
                              text=True)

    def must(self, *arguments):
        done = self.lttng(*arguments)
        if done.returncode != 0:
            raise SystemExit(f"bench: lttng {arguments[0]}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def daemons(self):
        """The session daemon and its descendants, the consumers among them."""
        family = {self.daemon.pid}
        parents = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
                except OSError:
                    continue
                parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
        grown = True
        while grown:
            more = {pid for pid, parent in parents.items() if parent in family} - family
            grown = bool(more)
            family |= more
        return family

    def argv(self, result, command):
        self.trace = self.workshop.fresh("lttng")
        self.session = f"mallab-bench-{os.getpid()}-{self.trace.name}"
        self.must("create", self.session, f"--output={self.trace}")
        self.must("enable-channel", "-u", "-s", self.session, "--blocking-timeout=inf", "--num-subbuf=8",
                  "--subbuf-size=1M", "all")
        self.must("enable-event", "-u", "-s", self.session, "-c", "all", "lttng_ust_libc:*")
        self.must("start", self.session)
        self.before_ns = cpu_ns_of(self.daemons())
        return [self.measured, result, f"LD_PRELOAD={self.library}", "LTTNG_UST_ALLOW_BLOCKING=1", *command]

    def cost(self):
        self.must("stop", self.session)
        after_ns = cpu_ns_of(self.daemons())
        told = self.must("--mi", "xml", "list", self.session)
        lost = sum(int(n) for n in re.findall(r"<discarded_events>(\d+)<", told))
        size = sum(p.stat().st_size for p in self.trace.rglob("*") if p.is_file() and "index" not in p.parts)
        self.must("destroy", self.session)
        self.session = None
        shutil.rmtree(self.trace)
        return {"other_cpu_ns": after_ns - self.before_ns, "bytes": size, "lost": lost}

    def close(self):
        if self.session:
            self.lttng("destroy", self.session)
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()


class Peers:
    """All recorders that can run here, closed at the end of a with block."""

    def __init__(self, workshop, report):
        self.every = [kind(workshop) for kind in (Plain, Floor, Mallab, Heaptrack, Lttng)]
        self.here = [r for r in self.every if not r.missing]
        for recorder in self.every:
            if recorder.missing:
                report.note(f"without {recorder.label}: {recorder.missing}")
        report.setting["recorders"] = {r.label: r.missing or r.version for r in self.every[1:]}
        report.say(", ".join(f"{r.label} {r.version}" for r in self.here[1:]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for recorder in self.every:
            recorder.close()
