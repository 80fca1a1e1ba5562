"""Every signal reaches the recorded command once: whoever sends it, to `mallab record`, to its process group, to all
processes of a control group one by one, through timeout(1), a shell's job control or a terminal."""
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import termios
import time

import lab
from lab import needs

# Says when a signal has come, and how often it came when its input says so.
COUNTER = r"""
import os, signal, sys
seen = []
signal.signal(int(sys.argv[1]), lambda *_: (seen.append(1), len(seen) == 1 and os.write(1, b"came\n")))
print("ready", flush=True)
sys.stdin.readline()
print(len(seen), flush=True)
sys.exit(9)
"""
HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH)
LATE_S = 0.5  # five times what `mallab record` waits for a second process to be told: what has not come then never does


def processes(session):
    """Of a session, the leader first, as a service manager goes through a control group."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(path.parent.name))
    return sorted(found, key=lambda pid: (pid != session, pid))


class Signals(lab.Lab):
    def start(self, number, before=(), inside=(), **settings):
        (self.place / "counter.py").write_text(COUNTER)
        count = len(list(self.place.glob("recording*")))
        command = [*before, lab.BUILD / "mallab", "record", "-q", "-o", f"recording{count}", "--", *inside,
                   "/usr/bin/python3", "counter.py", int(number)]
        settings = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "start_new_session": True, **settings}
        process = subprocess.Popen([str(word) for word in command], cwd=self.place, env=lab.environment(),
                                   stderr=subprocess.PIPE, **settings)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def count(self, process):
        """What the counter has got when nothing more can come."""
        self.assertEqual(process.stdout.readline(), b"came\n")
        try:
            process.wait(timeout=LATE_S)
        except subprocess.TimeoutExpired:
            pass
        output, said = process.communicate(b"\n", timeout=lab.PATIENCE_S)
        self.assertEqual(said, b"")
        return int(output)

    def to_group(self, process, number):
        lab.halt(process.pid)  # so that two would not come as one
        os.killpg(process.pid, number)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(timeout=LATE_S)
        os.kill(process.pid, signal.SIGCONT)

    def to_control_group(self, process, number):
        told = processes(process.pid)
        self.assertGreaterEqual(len(told), 2)
        for pid in told[1:] + told[:1]:  # last the one that would hand it on
            os.kill(pid, number)
            time.sleep(0.01)

    def test_each_comes_once(self):
        """timeout(1) tells its child, and without --foreground the group too. A command in a group of its own would be in the shell's group
        for the job if we were not there: so it is told. Not by way of timeout(1), which tells its child twice, by number and by group: the
        two come as one or not, as the processors happen. Patterns: one that both command lines have, one that only ours has, one that only
        the command's name has."""
        to_it = lambda process, number: os.kill(process.pid, number)
        leave = "import os, sys\nos.setpgid(0, 0)\nos.execv(sys.argv[1], sys.argv[1:])\n"
        by_pattern = lambda *words: lambda process, number: subprocess.run(["pkill", "-TERM", "-s", str(process.pid), *words], check=True)
        for what, numbers, send, around in (
                ("mallab record alone", HANDED_ON, to_it, {}), ("its group", HANDED_ON, self.to_group, {}),
                ("a control group", [signal.SIGTERM], self.to_control_group, {}),
                ("timeout", [signal.SIGTERM], to_it, {"before": ["timeout", "999"]}),
                ("timeout", [signal.SIGTERM], to_it, {"before": ["timeout", "--foreground", "999"]}),
                ("a group of its own", [signal.SIGTERM], lambda process, number: os.killpg(process.pid, number),
                 {"inside": ["/usr/bin/python3", "-c", leave]}),
                ("pkill", [signal.SIGTERM], by_pattern("-f", f"counter.py {int(signal.SIGTERM)}$"), {}),
                ("pkill", [signal.SIGTERM], by_pattern("-f", "^[^ ]*mallab record -q"), {}),
                ("pkill", [signal.SIGTERM], by_pattern("^mallab$"), {}), ("pkill", [signal.SIGTERM], by_pattern("^python3"), {})):
            if what in ("timeout", "pkill") and shutil.which(what) is None:
                continue
            for number in numbers:
                with self.subTest(to=what, around=around, signal=number.name):
                    process = self.start(number, **around)
                    send(process, number)
                    self.assertEqual(self.count(process), 1)
                    if what == "mallab record alone":
                        self.assertEqual(process.returncode, 9)

    def test_again(self):
        """The second time is a second signal."""
        process = self.start(signal.SIGUSR1)
        os.killpg(process.pid, signal.SIGUSR1)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(timeout=LATE_S)
        os.kill(process.pid, signal.SIGUSR1)
        self.assertEqual(self.count(process), 2)

    def ab(self, script, number=signal.SIGINT):
        """`mallab ab` of a program, to whose group a signal is sent, as a terminal does for Ctrl-C."""
        process = lab.on_terminal([lab.BUILD / "mallab", "ab", "-a", "glibc", "-n", "1000", "--force", "-o", "result.json", "--", "/usr/bin/python3",
                                   "-c", script], cwd=self.place, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=lab.environment(PYTHONMALLOC="malloc"))
        self.addCleanup(lambda: process.poll() is None and os.killpg(process.pid, signal.SIGKILL))
        self.assertIn(b"ready", self.until(process, rb"ready\n"))
        os.killpg(process.pid, number)
        return process

    def until(self, process, pattern):
        seen = b""
        while not re.search(pattern, seen):
            byte = process.stderr.read(1)
            self.assertTrue(byte, seen)
            seen += byte
        return seen

    def test_control_c_ends_a_recording_and_then_ab(self):
        """The first one ends the program, as servers end in no other way, and ab goes on; the second one ends ab."""
        forever = "print('ready', file=sys.stderr, flush=True)\nwhile True: x = [str(i) for i in range(100)]"
        for script in (f"import signal, sys\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\n{forever}",
                       f"import sys\ntry:\n  {forever.replace(chr(10), chr(10) + '  ')}\nexcept KeyboardInterrupt: sys.exit(0)"):
            process = self.ab(script)
            self.assertRegex(self.until(process, rb"round ([2-9]|\d\d+),"), rb"mallab ab: recording ended by Ctrl-C after [\d.]+ m?s: going on with it; again to stop\n")
            os.killpg(process.pid, signal.SIGINT)
            output, _ = process.communicate(timeout=lab.PATIENCE_S)
            self.assertEqual(process.returncode, -signal.SIGINT)
            self.assertRegex(output, rb"until Ctrl-C, [\d.]+ m?s\n")
            self.assertIs(json.loads((self.place / "result.json").read_text())["stopped"], True)

    def test_another_signal_ends_ab_with_its_program(self):
        process = self.ab("import sys; print('ready', file=sys.stderr, flush=True)\nwhile True: x = [str(i) for i in range(100)]", signal.SIGTERM)
        output, said = process.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual((process.returncode, output), (-signal.SIGTERM, b""), said)

    @needs("bash")
    def test_job_control(self):
        script = f'set -m; {lab.BUILD}/mallab record -q -o recording -- /usr/bin/python3 -c "$0" {int(signal.SIGTERM)} ' \
                 '<fifo >out & exec 3>fifo; until grep -q ready out; do sleep 0.01; done; ' \
                 f'kill -TERM %1; until grep -q came out; do sleep 0.01; done; sleep {LATE_S}; echo >&3; wait %1; echo $? >status'
        os.mkfifo(self.place / "fifo")
        result = lab.run(["bash", "-c", script, COUNTER], cwd=self.place)
        self.assertEqual((self.place / "out").read_text(), "ready\ncame\n1\n", result.stderr)
        self.assertEqual((self.place / "status").read_text(), "9\n")

    def test_a_terminal(self):
        """Ctrl-C and Ctrl-\\ go to the foreground group, from the kernel."""
        for key, number in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)):
            for inside in ((), ("timeout", "999")):
                with self.subTest(signal=number.name, inside=inside):
                    master, slave = pty.openpty()
                    # It controls the session; input comes from elsewhere, as a background group may not read it.
                    process = self.start(number, inside=inside, pass_fds=(slave,),
                                         preexec_fn=lambda slave=slave: fcntl.ioctl(slave, termios.TIOCSCTTY, 0))
                    os.write(master, key)
                    # timeout(1) hands on what it gets, to one that has got it too: two, where they do not come as one.
                    self.assertIn(self.count(process), (1, 2) if inside else (1,))
                    os.close(slave)
                    os.close(master)

    def test_a_command_that_signals_its_parent(self):
        """Whoever started it without us is told; it does not come back."""
        script = "import os, signal, time\n" \
                 "signal.signal(signal.SIGUSR1, lambda *_: os._exit(7))\n" \
                 "os.kill(os.getppid(), signal.SIGUSR1)\n" \
                 f"time.sleep({LATE_S})\n"
        starter = "import signal, subprocess, sys\n" \
                  "seen = []\n" \
                  "signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))\n" \
                  "print(subprocess.run(sys.argv[1:]).returncode, len(seen))\n"
        result = lab.run(["/usr/bin/python3", "-c", starter, lab.BUILD / "mallab", "record", "-q", "-o", "recording", "--",
                          "/usr/bin/python3", "-c", script], cwd=self.place)
        self.assertEqual(result.stdout, b"0 1\n", result.stderr)

    def test_nothing_of_us_in_the_command(self):
        """Its children are its own, and the one that hears signals for us ends with us."""
        script = "import os\nprint(open(f'/proc/self/task/{os.getpid()}/children').read())\n"
        result = self.mallab("record", "-q", "-o", "recording", "--", "/usr/bin/python3", "-c", script,
                             start_new_session=True)
        self.assertEqual(result.stdout, b"\n")
        process = self.start(signal.SIGTERM)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=lab.PATIENCE_S)
        lab.wait_for(lambda: not processes(process.pid), "all of the session to end")
