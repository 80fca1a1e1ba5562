"""What the end-to-end tests share: running mallab as its users do, and judging what it answers.

A test file imports this and defines unittest cases on Lab; run.py runs it.
From Meson: MALLAB_BUILD (build directory), MALLAB_SOURCE (source directory). By hand both default to
this file's own tree and its build/."""

import contextlib
import functools
import glob
import json
import os
import pathlib
import pty
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty
import unittest

from installed import installed

SOURCE = pathlib.Path(os.environ.get("MALLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
os.umask(0o022)  # what others may write to is not believed
BUILT = pathlib.Path(os.environ.get("MALLAB_BUILD", SOURCE / "build"))
if not (BUILT / "mallab").exists():
    sys.exit(f"no {BUILT}/mallab: build first, or name the build directory in MALLAB_BUILD")
BUILD = installed(BUILT, SOURCE)
PROGRAMS = BUILD / "tests" / "e2e"
SHIM = BUILD / "libmallab.so"

DONE, FAILED, MISUSE, BAD_INPUT = 0, 1, 2, 3
PATIENCE_S = 300  # a hang is a failure; nothing here is measured by the clock

# What is ignored stays so in everything started from here: nohup, and shells that run us in the background, ignore some.
for ignored in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(ignored, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


def candidates():
    """Every candidate with a replay binary of its own, `none` (no allocator) left out."""
    prefix = "mallab-replay-"
    names = {pathlib.Path(path).name[len(prefix):] for path in glob.glob(str(BUILD / (prefix + "*")))}
    names = {name for name in names if "." not in name}
    return sorted(names - {"none"})


def environment(**added):
    """Without any setting of mallab inherited from whoever runs the tests."""
    return {**{k: v for k, v in os.environ.items() if not k.startswith("MALLAB_") and k != "LD_PRELOAD"}, **added}


def run(command, **settings):
    """Run to the end, bytes captured."""
    settings["env"] = environment(**settings.pop("env", {}))
    settings.setdefault("stdin", subprocess.DEVNULL)
    settings.setdefault("stdout", subprocess.PIPE)
    settings.setdefault("stderr", subprocess.PIPE)
    return subprocess.run([str(part) for part in command], timeout=PATIENCE_S, **settings)


def needs(*programs):
    """Skip a test, by name, where a program that it runs is not installed."""
    missing = [program for program in programs if shutil.which(program) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children(pid):
    """Of the first thread of a process."""
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Told:
    """A program under `mallab record`: does what a line says, and answers by a line."""

    def __init__(self, test, command, *options, name="recording", mallab=BUILD / "mallab", **settings):
        self.directory = test.place / name
        self.process = subprocess.Popen([str(part) for part in (mallab, "record", "-o", self.directory, *options, "--", *command)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **{"env": environment(), **settings})
        test.addCleanup(self.give_up)

    def give_up(self):
        if self.process.poll() is None:
            self.process.kill()
        for stream in filter(None, (self.process.stdin, self.process.stdout, self.process.stderr)):
            stream.close()
        self.process.wait()

    def do(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def json(self):
        return json.loads((self.directory / "recording.json").read_text())

    def end(self):
        """Let it end; returns its exit status."""
        self.process.stdin.close()
        return self.process.wait(timeout=PATIENCE_S)


class Lab(unittest.TestCase):
    """A test with a directory of its own, `self.place`, gone at the end."""

    maxDiff = None

    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="mallab-e2e-"))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)

    @classmethod
    def keeper(cls):
        """For setUpClass: an instance whose `place` lasts as long as the class, for what its tests share."""
        keeper = cls("keeper")
        keeper.setUp()
        cls.addClassCleanup(keeper.doCleanups)
        return keeper

    def mallab(self, *arguments, status=DONE, **settings):
        """Run the program; its exit status must be `status` (None: whatever it tells) and no signal may have ended it."""
        settings.setdefault("cwd", self.place)
        program = BUILD / "mallab"
        result = run([program, *arguments], **settings)
        said = result.stderr.decode(errors="replace") if result.stderr is not None else ""
        wanted = max(result.returncode, 0) if status is None else status
        self.assertEqual(result.returncode, wanted, f"mallab {' '.join(map(str, arguments))}\n{said}")
        if arguments[0] == "convert" and result.returncode == DONE and "-o" in arguments:
            self.assert_legal(pathlib.Path(settings["cwd"]) / arguments[arguments.index("-o") + 1])
        return result

    def assert_legal(self, made):
        """Each workload that a conversion has made, op by op."""
        workloads = sorted(made.glob("*.wl")) if made.is_dir() else [made] if made.suffix == ".wl" else []
        judged = run([PROGRAMS / "check_ops", *workloads])
        self.assertEqual((judged.returncode, judged.stdout), (0, b""))

    def answer(self, *arguments, **settings):
        """The JSON object that a verb prints; it is one object with a schema, and ends in a newline."""
        text = self.mallab(*arguments, **settings).stdout.decode()
        self.assertTrue(text.endswith("}\n"), text[-100:])
        value = json.loads(text)
        self.assertIn("schema", value)
        return value

    def record(self, *command, name="recording", options=(), status=DONE, **settings):
        """Record a command; returns the recording's directory."""
        self.mallab("record", "--quiet", "-o", name, *options, "--", *command, status=status, **settings)
        return self.place / name

    def record_one_turn(self, program, *options, at_turn=lambda: 0):
        """Attach to a program that does its work for a line, and says done; leave it. Returns what was said, and what at_turn() was before
        and behind that work."""
        recorder = subprocess.Popen([BUILD / "mallab", "record", "--pid", str(program.pid), *options], stderr=subprocess.PIPE,
                                    bufsize=0)  # communicate() would leave out what a buffer holds behind the first line
        said = recorder.stderr.readline()
        self.assertIn(b"recording process", said)
        before = at_turn()
        program.stdin.write(b"\n")
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), b"done\n")
        after = at_turn()
        recorder.send_signal(signal.SIGINT)
        rest = recorder.communicate(timeout=PATIENCE_S)[1]
        self.assertIn(b"as it was", rest)
        return said + rest, before, after

    def listing(self, name="recording"):
        """What recording.json says."""
        return json.loads((self.place / name / "recording.json").read_text())

    def wait_for_end(self, name="recording"):
        """Until its collector has ended, whose last word is a recording.json that names none. Returns that."""
        path = self.place / name / "recording.json"
        wait_for(lambda: path.exists() and "collector" not in self.listing(name), "the recording to end")
        return self.listing(name)

    def mounted(self, *arguments, size="1m"):
        """A file system of the test's own, of memory where no arguments of mount(8) are given; skips where none may be mounted."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="mallab-mounted-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        words = [str(word) for word in arguments or ("-t", "tmpfs", "-o", f"size={size}", "tmpfs")]
        result = run(["mount", *words, folder])
        if result.returncode != 0:
            self.skipTest(f"mount {' '.join(words)}: {result.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", folder], check=True)
        folder.chmod(0o777)
        return folder

    def built(self, source, name, *arguments, compiler=("cc", "-x", "c")):
        """A program of this source, by a compiler that reads it; skips where that cannot."""
        path = self.place / name
        result = run([*compiler, "-o", path, *arguments, "-"], stdin=None, input=source)
        if result.returncode != 0:
            self.skipTest(f"cannot build {name}: {result.stderr.decode(errors='replace').splitlines()[0]}")
        return path

    def trusting(self, path):
        """The option without which what a test made as another user is not read."""
        path = self.place / path
        owner = path.stat().st_uid if path.exists() else 0
        return ["--trust-owner", str(owner)] if owner not in (0, os.geteuid()) else []

    def info(self, path):
        return self.answer("info", "--json", *self.trusting(path), path)

    def assert_whole(self, info):
        """Nothing lost, and said so."""
        self.assertIs(info["complete"], True, (info.get("incomplete_why"), info.get("lost")))
        self.assertEqual({cause: n for cause, n in info["lost"].items() if n}, {})

    def convert(self, path):
        workload = pathlib.Path(str(path) + ".wl")
        self.mallab("convert", "-o", workload, *self.trusting(path), path)
        return workload

    def made(self, *arguments, name="made.wl"):
        """A workload as replay_workload.c makes it. Skips where a sanitizer stands in for the allocators, which are what is tested."""
        path = self.place / name
        run([PROGRAMS / "replay_workload", path, *arguments]).check_returncode()
        if is_sanitized():
            self.skipTest("a sanitizer stands in for the allocators of this build")
        return path

    def broken_allocators(self, *promises, at=None):
        """Settings with a directory of candidates: glibc, and for each promise one that breaks it (broken.c) at a call, not its usual one."""
        directory = self.place / "allocators"
        directory.mkdir(exist_ok=True)
        shutil.copy(SOURCE / "allocators" / "glibc.ini", directory)
        for promise in promises:
            usual = 50 if promise in ("calloc", "realloc", "vague") else 500  # among those that it counts
            (directory / f"{promise}.ini").write_text(f"[allocator]\nname = {promise}\npreload = {PROGRAMS}/libbroken.so\nsettings = unproven\n"
                                                      f"[environment]\nBROKEN = {promise}\nBROKEN_AT = {at or usual}\n")
        return {"env": {"MALLAB_ALLOCATORS": str(directory)}}

    def replay_everywhere(self, workload):
        """Replay on every allocator found: the same ops, threads and live bytes, each proven. Returns the runs."""
        names = candidates()
        self.assertIn("glibc", names)
        facts = self.info(workload)
        runs = {name: self.answer("replay", "--json", "-a", name, workload) for name in names + ["none"]}
        for name, result in runs.items():
            with self.subTest(candidate=name):
                self.assertEqual(result["candidate"], name)
                self.assertEqual(result["ops"], facts["events"])
                self.assertEqual(result["threads"], facts["threads"])
                self.assertEqual(result["digest"], runs["glibc"]["digest"])
                self.assertEqual(result["live_peak_bytes"], facts["live_peak_bytes"])
                self.assertGreater(result["whole_ns_per_op"], 0)
                self.assertTrue(result["proof"])
                if name != "none":
                    self.assertGreater(result["resident"]["peak_bytes"], 0)
        return runs

    def assert_one_line(self, result, *fragments):
        """Standard error is one line, worded by mallab, that names what it is about."""
        lines = result.stderr.decode(errors="replace").splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        for fragment in fragments:
            self.assertIn(str(fragment), lines[0])


@functools.cache
def is_sanitized():
    return b"san." in run([BUILD / "mallab-replay-glibc", "--settings"]).stderr


def wait_for(condition, what, every_s=0.01):
    """Poll for something another process does on its own time; a hang is a failure. every_s: longer where asking costs a process."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {PATIENCE_S} s for {what}")
        time.sleep(every_s)


def on_terminal(command, **settings):
    """Start it with a terminal for its stderr, where progress is shown; process.stderr reads what it prints, and ends with it."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    process = subprocess.Popen(command, stderr=slave, **settings)
    os.close(slave)
    reading, writing = os.pipe()

    def hand_on():
        with open(master, "rb", buffering=0) as source, open(writing, "wb", buffering=0) as target:
            with contextlib.suppress(OSError):  # EIO: nobody has the terminal any more
                while some := source.read(65536):
                    target.write(some)

    threading.Thread(target=hand_on, daemon=True).start()
    process.stderr = open(reading, "rb")
    return process


def state_of(pid):
    """Its letter, as proc(5) has it; '' where there is none."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def is_running(pid):
    return state_of(pid) not in ("", "Z")


def halt(pid):
    """SIGSTOP, and wait until it stands: a signal sent before that would still be heeded first."""
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: state_of(pid) == "T", "it to stand")
