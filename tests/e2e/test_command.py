"""The recorded command behaves as if it were not: exit status, standard streams, descriptors, threads, signals, environment, children.
`mallab record` adds nothing of its own to either stream with --quiet. Of one that dies by SIGKILL every call that had completed is there."""
import json
import re
import signal
import struct

import lab

# What a process can see of itself. The environment's own additions are named where it is compared.
LOOK = r"""
import json, os, signal
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
descriptors = {int(d): os.readlink("/proc/self/fd/" + d) for d in os.listdir("/proc/self/fd") if d.isdigit()
               and os.path.exists("/proc/self/fd/" + d)}
print(json.dumps({
    "descriptors": sorted(d for d in descriptors if d > 2),
    "threads": status["Threads"].strip(),
    "signals": [status[k].strip() for k in ("SigBlk", "SigIgn", "SigCgt")],
    "children": open("/proc/self/task/%d/children" % os.getpid()).read() if os.path.exists(
        "/proc/self/task/%d/children" % os.getpid()) else "",
    "limits": open("/proc/self/limits").read(),
    "umask": status.get("Umask", "").strip(),
    "directory": os.getcwd(),
    "group": os.getpgid(0) == os.getpgid(os.getppid()),
    "session": os.getsid(0) == os.getsid(os.getppid()),
    "environment": sorted(k for k in os.environ)}))
"""
OWN = re.compile(r"^(LD_PRELOAD|MALLAB_\w+)$")


class Command(lab.Lab):
    def both(self, *command, **settings):
        """The same command alone and recorded: (status, stdout, stderr) of each."""
        plain = lab.run(command, cwd=self.place, **settings)
        seen = lab.run([lab.BUILD / "mallab", "record", "--quiet", "-o", self.place / "recording", "--", *command],
                       cwd=self.place, **settings)
        return ((r.returncode, r.stdout, r.stderr) for r in (plain, seen))

    def test_streams_and_status_are_untouched(self):
        script = r"printf 'out\000\377\n'; printf 'err\001' >&2; cat; exit 7"
        plain, recorded = self.both("sh", "-c", script, stdin=None, input=b"in\0put\xff")
        self.assertEqual(plain, (7, b"out\0\xff\nin\0put\xff", b"err\x01"))
        self.assertEqual(recorded, plain)
        self.assert_whole(self.info(self.place / "recording"))

    def test_a_program_without_a_call_is_said_to_have_none(self):
        result = self.mallab("record", "--quiet", "-o", "recording", "--", "true")
        self.assert_one_line(result, "nothing was recorded")

    def test_every_status_passes(self):
        for status in (0, 1, 2, 3, 42, 125, 126, 127, 255):
            with self.subTest(status=status):
                name = f"status-{status}"
                self.record("sh", "-c", f"exit {status}", name=name, status=status)

    def test_death_by_signal_is_death_by_that_signal(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV):
            with self.subTest(signal=number):
                name = f"signal-{number}"
                recording = self.record("sh", "-c", f"kill -{int(number)} $$", name=name, status=-number)
                self.assertEqual(sum(self.info(recording)["lost"].values()), 0)

    def test_a_process_finds_itself_unchanged(self):
        plain, recorded = ((json.loads(out), err) for _, out, err in self.both("/usr/bin/python3", "-c", LOOK))
        added = set(recorded[0].pop("environment")) - set(plain[0].pop("environment"))
        self.assertEqual({name for name in added if not OWN.match(name)}, set())
        self.assertEqual(recorded, plain)

    def test_the_whole_tree_is_recorded(self):
        script = "sqlite3 :memory: 'select 1' >/dev/null; /usr/bin/python3 -c 'import os; os.fork(); print()'"
        info = self.info(self.record("sh", "-c", script + "; exit 0", name="tree"))
        self.assert_whole(info)
        # A process that sh forks and that then becomes another program may count as two images.
        self.assertGreaterEqual(info["processes"], 4)
        names = {path.name for path in (self.place / "tree").glob("*.fp")}
        for program in ("sqlite3.", "python3"):
            self.assertTrue(any(name.startswith(program) for name in names), names)


STATUS = -signal.SIGKILL  # mallab record dies as its command did, so that whoever waits sees the same


class Killed(lab.Lab):
    def record_killed(self, calls, threads):
        counters = self.place / "counters"
        recording = self.record(lab.PROGRAMS / "killed", counters, calls, threads, status=STATUS)
        counts = struct.unpack("=16Q", counters.read_bytes())
        return recording, sum(counts)

    def check_pipeline(self, recording, info):
        self.assertEqual({cause: n for cause, n in info["lost"].items() if n}, {})
        self.replay_everywhere(self.convert(recording))

    def test_one_thread_exactly(self):
        recording, counted = self.record_killed(123_457, 0)
        info = self.info(recording)
        self.assertEqual(counted, 123_457)
        self.assertEqual(info["events_by_call"]["aligned_alloc"], counted)
        self.assertEqual(info["events_by_call"]["free"], counted)
        self.check_pipeline(recording, info)

    def test_threads_in_the_middle_of_their_calls(self):
        threads = 3
        recording, counted = self.record_killed(50_000, threads)
        info = self.info(recording)
        seen = info["events_by_call"]["aligned_alloc"]
        # A thread is killed between the return of its call and the count of it, or before.
        self.assertGreaterEqual(seen, counted)
        self.assertLessEqual(seen, counted + threads)
        self.assertGreaterEqual(info["events_by_call"]["free"], counted - threads)
        self.check_pipeline(recording, info)
