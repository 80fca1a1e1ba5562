#!/usr/bin/env python3
"""The recorded command behaves as if it were not: exit status, standard streams, descriptors, threads, signals,
environment, children. `mallab record` adds nothing of its own to either stream with --quiet."""
import json
import re
import signal
import subprocess

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

    def test_status_zero(self):
        plain, recorded = self.both("sh", "-c", ":")
        self.assertEqual(recorded, plain)

    def test_a_program_without_a_call_is_said_to_have_none(self):
        result = self.mallab("record", "--quiet", "-o", "recording", "--", "true")
        self.assert_one_line(result, "nothing was recorded")

    def test_every_status_passes(self):
        for status in (1, 2, 3, 42, 125, 126, 127, 255):
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

    def test_interrupt_reaches_the_command_not_the_recording(self):
        """Ctrl-C goes to the whole foreground group: the command handles it, the recording is whole."""
        script = "import os, signal\n" \
                 "def stop(*_):\n print('stopped', flush=True); os._exit(9)\n" \
                 "signal.signal(signal.SIGINT, stop)\n" \
                 "os.killpg(0, signal.SIGINT)\n" \
                 "signal.pause()\n"
        result = lab.run([lab.BUILD / "mallab", "record", "--quiet", "-o", self.place / "recording", "--",
                          "/usr/bin/python3", "-c", script], cwd=self.place, start_new_session=True)
        self.assertEqual((result.returncode, result.stdout), (9, b"stopped\n"), result.stderr)
        self.assertEqual(sum(self.info(self.place / "recording")["lost"].values()), 0)

    def test_a_supervisors_signals_reach_the_command(self):
        """Sent to `mallab record` alone, as to a service's main process: the command gets each once."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2,
                       signal.SIGWINCH):
            with self.subTest(signal=number.name):
                script = "import signal, sys, time\n" \
                         "seen = []\n" \
                         f"signal.signal({int(number)}, lambda *_: seen.append(1))\n" \
                         "print('ready', flush=True)\n" \
                         "while not seen: time.sleep(0.01)\n" \
                         "time.sleep(0.1)\n" \
                         "print(len(seen)); sys.exit(9)\n"
                process = subprocess.Popen([lab.BUILD / "mallab", "record", "-q", "-o", self.place / number.name, "--",
                                            "/usr/bin/python3", "-c", script], stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, start_new_session=True)
                self.assertEqual(process.stdout.readline(), b"ready\n")
                process.send_signal(number)
                output, said = process.communicate(timeout=lab.PATIENCE_S)
                self.assertEqual((process.returncode, output, said), (9, b"1\n", b""))

    def test_the_whole_tree_is_recorded(self):
        script = "sqlite3 :memory: 'select 1' >/dev/null; /usr/bin/python3 -c 'import os; os.fork(); print()'"
        info = self.info(self.record("sh", "-c", script + "; exit 0", name="tree"))
        self.assert_whole(info)
        # A process that sh forks and that then becomes another program may count as two images.
        self.assertGreaterEqual(info["processes"], 4)
        names = {path.name for path in (self.place / "tree").glob("*.fp")}
        for program in ("sqlite3.", "python3"):
            self.assertTrue(any(name.startswith(program) for name in names), names)

    def test_no_follow_records_the_first_process_only(self):
        info = self.info(self.record("/usr/bin/python3", "-c", "import os\nos.system('true')", name="alone",
                                     options=["--no-follow"]))
        self.assertEqual(info["processes"], 1)

    def test_recordings_are_private(self):
        recording = self.record("true")
        self.assertEqual(recording.stat().st_mode & 0o777, 0o700)
        for path in recording.iterdir():
            self.assertEqual(path.stat().st_mode & 0o777, 0o600, path)

    def test_an_existing_recording_is_not_touched(self):
        recording = self.record("true")
        before = {path: path.read_bytes() for path in recording.iterdir()}
        result = self.mallab("record", "--quiet", "-o", recording, "--", "sh", "-c", ":")
        self.assert_one_line(result, recording, f"recording into '{recording}.2'")
        self.assertEqual({path: path.read_bytes() for path in recording.iterdir()}, before)


class Preload(lab.Lab):
    """LD_PRELOAD=libmallab.so COMMAND, without mallab record."""

    def preload(self, *command, **environment):
        return lab.run(command, cwd=self.place, env={"LD_PRELOAD": str(lab.SHIM), **environment})

    def finished(self, recording):
        """The collector writes recording.json last, after the program has gone."""
        path = recording / "recording.json"

        def whole():
            try:
                return json.loads(path.read_text()).get("complete") is True
            except (OSError, ValueError):
                return False

        lab.wait_for(whole, path)
        return self.info(recording)

    def test_into_a_directory_named_for_the_process(self):
        script = "import os\nprint(os.getpid())\n"
        result = self.preload("/usr/bin/python3", "-c", script)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        recordings = list(self.place.glob("mallab-*"))
        self.assertEqual(len(recordings), 1)
        self.assertRegex(recordings[0].name, rf"^mallab-python3(\.\d+)?\.{int(result.stdout)}$")
        info = self.finished(recordings[0])
        self.assert_whole(info)
        self.assertGreater(info["events"], 1000)
        self.replay_everywhere(self.convert(recordings[0]))

    def test_into_the_directory_that_is_named(self):
        target = self.place / "named"
        result = self.preload("sh", "-c", "exit 7", MALLAB_OUT=str(target))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (7, b"", b""))
        self.assert_whole(self.finished(target))

    def test_killed(self):
        result = self.preload(lab.PROGRAMS / "killed", self.place / "counters", 10_000, 0)
        self.assertEqual(result.returncode, -signal.SIGKILL)
        (recording,) = self.place.glob("mallab-killed.*")
        info = self.finished(recording)
        self.assertEqual(info["events_by_call"]["aligned_alloc"], 10_000)
        self.assert_whole(info)

    def test_a_directory_that_cannot_be_written(self):
        """The program runs on as if nothing were preloaded; one line says that it is not recorded."""
        (self.place / "file").write_text("")
        result = self.preload("sh", "-c", "echo out; exit 7", MALLAB_OUT=str(self.place / "file" / "below"))
        self.assertEqual((result.returncode, result.stdout), (7, b"out\n"))


if __name__ == "__main__":
    lab.main()
