"""The program itself, run in pairs: what stands in the result, and never a figure of time, since other work runs beside it. A
command, a service that is started, loaded and stopped, programs that fail, and Ctrl-C, behind which nothing is left running."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

import lab

TWO = ("-a", "glibc,glibc+nocache")
BLOCKS = (lab.PROGRAMS / "parts", "blocks", "20")
SERVER = '''import mmap, os, pathlib, signal, socket, subprocess, sys, time
place = pathlib.Path(sys.argv[1])
with open(place / "started", "a") as started:
    print(os.environ.get("GLIBC_TUNABLES", "-"), file=started)
worker = subprocess.Popen(["sleep", "1000"])
(place / "pids").write_text(f"{os.getpid()} {worker.pid}")
server = socket.socket(socket.AF_UNIX)
(place / "socket").unlink(missing_ok=True)
server.bind(str(place / "socket"))
server.listen()
while True:
    client, _ = server.accept()
    kept = [bytes(i % 500) for i in range(20000)]
    said = client.recv(10)
    if said == b"fork":
        subprocess.run([sys.executable, "-c", "kept = b'x' * (64 << 20); import time; time.sleep(0.7)"])
    if said == b"share":
        shared = mmap.mmap(-1, 64 << 20)
        for i in range(0, len(shared), 4096):
            shared[i] = 1
        for _ in range(2):
            if os.fork() == 0:
                for i in range(0, len(shared), 4096):
                    shared[i]
                time.sleep(0.7)
                os._exit(0)
        for _ in range(2):
            os.wait()
    client.sendall(b"served")
    if said == b"end":
        worker.kill()
        worker.wait()
        sys.exit(0)
'''
CLIENT = '''import os, pathlib, socket, sys
assert "GLIBC_TUNABLES" not in os.environ and "LD_PRELOAD" not in os.environ
client = socket.socket(socket.AF_UNIX)
try:
    client.connect(str(pathlib.Path(sys.argv[1]) / "socket"))
except OSError as problem:
    sys.exit(f"not there: {problem.strerror}")
client.sendall(sys.argv[2].encode())
assert client.recv(10) == b"served"
'''


# Each worker waits until all have what they hold.
CROWD = '''import mmap, os
begun, go = os.pipe()
for number in range(3):
    if os.fork() == 0:
        held = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for i in range(0, len(held), 4096):
            held[i] = 1
        own = [bytes(600) for i in range(5000)]
        os.close(go)
        os.read(begun, 1)
        os._exit(0)
os.close(go)
for number in range(3):
    os.wait()
'''


class Confirm(lab.Lab):
    def confirm(self, *arguments, pairs=2, **settings):
        return self.answer("confirm", "-q", "--json", "-n", pairs, "--seed", 1, *TWO, *arguments, **settings)

    def check(self, result, pairs=2):
        self.assertEqual(result["schema"], "mallab-experiment/1")
        other, control = result["confirmed"]
        self.assertEqual((other["candidate"], other["control"], control["candidate"], control["control"]),
                         ("glibc+nocache", False, "glibc", True))
        for one in (other, control):
            self.assertIsNone(one["failed"])
            self.assertEqual(one["runs"], pairs)
            for part in ("time", "wall"):
                self.assertEqual(len(one[part]["samples_ns"]), pairs)
                self.assertEqual(len(one[part]["baseline_samples_ns"]), pairs)
                self.assertGreater(one[part]["baseline_ns"], 0)
                if pairs > 1:
                    self.assertLessEqual(one[part]["ratio_low"], one[part]["ratio"])
                    self.assertLessEqual(one[part]["ratio"], one[part]["ratio_high"])
            self.assertAlmostEqual(one["time"]["saved_ns"], one["time"]["baseline_ns"] * (1 - one["time"]["ratio"]), delta=1)
        # What the baseline differs by from itself is its noise, however large.
        self.assertIn(control["verdict"]["time"], ("same", "undecided"))
        self.assertGreater(other["peak"]["baseline_bytes"], 0)
        self.assertGreater(other["peak"]["bytes"], 0)
        return result["confirmation"]

    def test_command(self):
        result = self.confirm("-o", "kept.json", "--", *BLOCKS, pairs=8)
        about = self.check(result, 8)
        self.assertEqual(about["command"], [str(word) for word in BLOCKS])
        self.assertEqual(about["runs"], 8 * 4 + 9 * 2)  # pairs of the candidate and of the baseline; looks at memory
        self.assertEqual((about["pairs_asked"], about["stopped"], result["workloads"]), (8, False, []))
        self.assertEqual(json.loads((self.place / "kept.json").read_text()), result)
        lines = self.mallab("report", "kept.json").stdout.decode()
        self.assertRegex(lines, r"\n +time  against glibc +pairs  peak, [kM]B  against glibc\nglibc +[\d.]+ m?s  baseline +8 .*\nglibc\+nocache +[\d.]+")
        self.assertRegex(lines, r"(?m)^VERDICT     (time: |stay with glibc: )")  # as it measured
        self.assertLessEqual(max(map(len, lines.splitlines()[1:])), 110)
        self.assertIn("the program ran 50 times", " ".join(self.mallab("report", "--details", "kept.json").stdout.decode().split()))
        self.assertIn(b"no workload to check", self.mallab("check", "--budget", "time<=+5%", "kept.json", status=None).stderr)

    def test_hyperfine_is_not_needed(self):
        result = self.mallab("confirm", "--json", "-n", 1, *TWO, "--", *BLOCKS, env={"PATH": "/nonexistent"})
        self.assertIn(b"hyperfine is not installed", result.stderr)
        self.assertEqual(json.loads(result.stdout)["confirmation"]["timed_by"], "wait4")

    def test_time_ends_it(self):
        result = self.answer("confirm", "-q", "--json", "--time-budget", "1ms", *TWO, "--", *BLOCKS)
        self.assertEqual(result["confirmed"][0]["runs"], 0)
        self.assertEqual(result["confirmed"][0]["verdict"]["time"], "undecided")
        self.assertEqual(result["confirmation"]["budget_ns"], 1e6)
        self.assertGreater(result["confirmed"][0]["peak"]["bytes"], 0)
        shown = self.mallab("confirm", "-q", "--time-budget", "1ms", *TWO, "--", "true").stdout.decode()
        self.assertRegex(shown, r"\nglibc\+nocache +-  not measured +0 ")
        self.assertIn("resolution  unknown: no pair ran in time, 8 are needed\n", shown)

    def test_command_fails(self):
        result = self.mallab("confirm", "-q", *TWO, "--", "sh", "-c", "echo no such thing >&2; exit 3", status=lab.FAILED)
        self.assert_one_line(result, "the program ended with exit code 3, not with exit code 0: no such thing "
                             "(-i measures it all the same)")
        self.assertEqual(result.stdout, b"")  # once, and no table of nothing
        result = self.mallab("confirm", "-q", "-n", 1, *TWO, "--", "sh", "-c", 'test -z "$GLIBC_TUNABLES"', status=lab.FAILED)
        self.assertEqual(result.stderr, b"")
        self.assertIn("no: the program failed under glibc+nocache: the program ended with exit code 1", " ".join(result.stdout.decode().split()))
        result = self.mallab("confirm", "-q", "-n", 1, "--json", *TWO, "--", "sh", "-c", 'test -z "$GLIBC_TUNABLES"', status=lab.FAILED)
        self.assert_one_line(result, "glibc+nocache failed", "exit code 1")
        other, control = json.loads(result.stdout)["confirmed"]
        self.assertIn("exit code 1", other["failed"])
        self.assertIsNone(control["failed"])
        self.mallab("confirm", *TWO, "--", "/nonexistent", status=lab.FAILED)

    def test_any_exit_code_is_taken_where_that_is_asked_for(self):
        """As hyperfine's; a program that dies by a signal has failed all the same."""
        self.check(self.confirm("-i", "--", "sh", "-c", "exit 3"))
        result = self.mallab("confirm", "-q", "--ignore-failure", "-n", 1, *TWO, "--", "sh", "-c", "kill -9 $$", status=lab.FAILED)
        self.assert_one_line(result, "the program ended by signal 9 (Killed)")

    def test_what_it_prints_does_not_stand_before_the_answer(self):
        """Few lines are shown, many are kept once in a file that is named, the same in ab."""
        for verb in ("ab", "confirm"):
            script = "seq "
            told = self.mallab(verb, "-n", 1, *TWO, "--", "sh", "-c", script + "300", env={**os.environ, "TMPDIR": str(self.place)})
            (name,) = re.findall(rb"300 lines of its output are in '(.*)'\n", told.stderr)
            self.assertEqual(pathlib.Path(name.decode()).read_text(), "".join(f"{i}\n" for i in range(1, 301)))
            self.assertNotIn(b"\n7\n", told.stderr + told.stdout)
            os.unlink(name)
            told = self.mallab(verb, "-n", 1, *TWO, "--", "sh", "-c", script + "7", env={**os.environ, "TMPDIR": str(self.place)})
            self.assertIn(b"\n7\n", told.stderr)
            self.assertEqual(list(self.place.glob("*-output-*")), [])

    def test_the_file_of_what_it_prints_is_bounded(self):
        """The first 64 MiB are kept; their file is named at the end, and never where nothing was printed."""
        told = self.mallab("ab", "-n", 1, *TWO, "--", "sh", "-c", "yes | head -c 70000000", env={**os.environ, "TMPDIR": str(self.place)})
        ended = re.search(rb"output are in '(.*)', what .* dropped\n", told.stderr)
        self.assertEqual(os.path.getsize(ended[1]), 64 << 20)
        told = self.mallab("ab", "-n", 1, *TWO, "--", "sh", "-c", "ls >all; sort all all >sorted", env={**os.environ, "TMPDIR": str(self.place)})
        self.assertNotIn(b"-output-", told.stderr)

    def test_who_nobody_waited_for_counts(self):
        """The shell has ended long before what it left behind has used up its 100 ms, which beside other work takes longer than the ten seconds
        that are given unasked."""
        busy = "import time\nwhile time.process_time() < .1: pass\nopen('done', 'a').write('x\\n')"
        for env in ({}, {"PATH": "/usr/nowhere"}):  # by hyperfine, and by wait4
            told = self.confirm("--timeout", "1h", "--", "/bin/sh", "-c", f'/usr/bin/python3 -c "{busy}" & exit 0', pairs=1, env={**os.environ, **env})
            self.check(told, 1)
            self.assertEqual(self.lines("done"), told["confirmation"]["runs"] + 1)  # each run has ended with its last process
            self.assertGreater(min(told["confirmed"][0]["time"]["samples_ns"]), 1e8)
            (self.place / "done").unlink()

    def test_who_does_not_end_is_named(self):
        """A daemon that is left behind ends the run, and ends with it, after 10 s; a time that was asked for is waited for."""
        script = ("-S", "-c", "import os, time\nif os.fork() == 0: os.setsid(); open('pid', 'w').write(str(os.getpid())); time.sleep(1000)")
        for asked, words in (((), "the program has ended and left 'python3"), (("--timeout", "1s"), "did not end within --timeout")):
            told = self.mallab("confirm", "-q", *asked, *TWO, "--", "/usr/bin/python3", *script, status=lab.FAILED)
            self.assert_one_line(told, words)
            self.assertFalse(lab.is_running((self.place / "pid").read_text()))

    # ---- ab

    def ab(self, *options, more="", status=lab.DONE, **settings):
        """Of a program that tells how often it runs; glibc surely needs less memory for it than jemalloc."""
        (self.place / "program.lua").write_text(
            'local t = {} for i = 1, 20000 do t[i % 1000] = {i, tostring(i)} end io.open("ran", "a"):write("x\\n") ' + more)
        return self.mallab("ab", "-q", "-n", 3, "--seed", 1, "-b", "jemalloc", "-a", "glibc,jemalloc", *options,
                           "--", "lua5.4", "program.lua", status=status, **settings)

    @lab.needs("lua5.4")
    @unittest.skipUnless("jemalloc" in lab.candidates(), "no jemalloc")
    def test_ab_runs_it_once_and_says_what_would_confirm(self):
        shown = " ".join(self.ab("--details", "-o", "kept.json").stdout.decode().split())
        self.assertEqual(self.lines("ran"), 1)
        self.assertRegex(shown, r"confirm mallab confirm -b jemalloc -a jemalloc,glibc -- lua5.4 program.lua (# )?\d+ runs of it, [\d.]+ m?s")
        # A file is from anywhere: it names no command to paste. What it takes is the same.
        again = " ".join(self.mallab("report", "--details", "kept.json").stdout.decode().split())
        self.assertIn("mallab confirm -b jemalloc -a jemalloc,glibc -- COMMAND ", again)
        takes = r"\d+ runs of it, [\d.]+ m?s"
        self.assertEqual(re.search(takes, again).group(), re.search(takes, shown).group())
        self.assertNotIn("confirmed", json.loads((self.place / "kept.json").read_text()))

    @lab.needs("lua5.4")
    @unittest.skipUnless("jemalloc" in lab.candidates(), "no jemalloc")
    def test_ab_confirms(self):
        shown = " ".join(self.ab("--confirm=2s", "-o", "kept.json").stdout.decode().split())
        result = json.loads((self.place / "kept.json").read_text())
        self.assertEqual([(one["candidate"], one["control"]) for one in result["confirmed"]], [("glibc", False), ("jemalloc", True)])
        self.assertEqual(result["confirmation"]["budget_ns"], 2e9)
        self.assertIn(self.lines("ran") - result["confirmation"]["runs"], (1, 2))  # recorded, and timed once where that took long
        self.assertRegex(shown, "confirmed (undecided: |glibc takes )")
        self.assertNotIn(" confirm mallab confirm", shown)
        # Where the time is over before a verdict that is told; that nothing is advised is told, too.
        shown = " ".join(self.ab("--confirm=1ms").stdout.decode().split())
        self.assertIn("confirmed undecided: no pair ran in time, 8 are needed", shown)
        shown = " ".join(self.mallab("ab", "-q", "-n", 3, *TWO, "--confirm", "--", *BLOCKS)
                         .stdout.decode().split())
        self.assertIn("confirmed no: no other allocator is advised", shown)

    @lab.needs("lua5.4")
    @unittest.skipUnless("jemalloc" in lab.candidates(), "no jemalloc")
    def test_ab_confirms_only_what_can_run_again(self):
        with (self.place / "input").open("w+") as given:
            self.assert_one_line(self.ab("--confirm", status=lab.FAILED, stdin=given), "standard input is a file or a pipe")
        self.assertEqual(self.lines("ran"), 0)

    @unittest.skipUnless("jemalloc" in lab.candidates(), "no jemalloc")
    def test_ab_confirms_a_group(self):
        """Of workers that hold 16 MB each at the same time the peak is their sum, as of the replays, not the largest one's."""
        result = self.answer("ab", "-q", "--json", "-n", 3, "--seed", 1, "-b", "jemalloc", "-a", "glibc,jemalloc",
                             "--confirm=1ms", "--", "/usr/bin/python3", "-S", "-c", CROWD)
        self.assertEqual(result["workloads"][0]["group_processes"], 4)
        for peak in (result["confirmed"][0]["peak"]["bytes"], result["confirmed"][0]["peak"]["baseline_bytes"]):
            self.assertGreater(peak, 3 * 16 << 20)

    # ---- services

    def service(self):
        (self.place / "server.py").write_text(SERVER)
        (self.place / "client.py").write_text(CLIENT)
        return f"exec python3 server.py {self.place}", f"python3 client.py {self.place} "

    def assert_ended(self):
        for pid in (self.place / "pids").read_text().split():
            self.assertFalse(lab.is_running(pid), pid)

    def test_service(self):
        """Each is ended. Memory of workers that end before the load does, as a database's do, one for each connection, is memory of the service;
        what its processes have in common, as a database's buffers, is there once. What its parents left is found and counted."""
        start, client = self.service()
        for name, begin, options, least, most in (
                ("plain", start, ["--load", client + "load"], 0, 64), ("workers", start, ["--ready", client + "ready", "--load", client + "fork"], 64, 1024),
                ("shared", start, ["--ready", client + "ready", "--load", client + "share"], 64, 128),
                ("background", f"setsid {start.removeprefix('exec ')} & exit 0", ["--load", client + "load"], 0, 64)):
            with self.subTest(name):
                result = self.confirm("--start", begin, *options, pairs=1)
                about = self.check(result, 1)
                self.assertEqual((about["timed_by"], about["start"], about["command"]), ("service", begin, None))
                self.assertTrue(least << 20 < result["confirmed"][0]["peak"]["bytes"] < most << 20, result["confirmed"][0]["peak"])
                self.assert_ended()
                started = (self.place / "started").read_text().split()
                self.assertEqual(len(started), 1 + about["runs"])  # once as it is
                self.assertEqual(len([one for one in started if one != "-"]), 2)  # one look, one pair
                (self.place / "started").unlink()

    @unittest.skipUnless("jemalloc" in lab.candidates(), "no jemalloc")
    def test_service_runs_on_what_it_is_linked_with(self):
        """The process that serves is looked at, whatever shell or env(1) started it."""
        (library,) = [one["library"] for one in self.answer("allocators", "--json")["allocators"] if one["name"] == "jemalloc"]
        (self.place / "linked.c").write_text("#include <stdlib.h>\n#include <unistd.h>\nint main(void) { return malloc(1 << 24) == 0 || pause(); }\n")
        subprocess.run(["cc", "-O0", "-o", "linked", "linked.c", "-Wl,--no-as-needed", library], cwd=self.place, check=True)
        for start in ("exec ./linked", "cd / && env A=b " + str(self.place / "linked") + "; exit 1"):
            with self.subTest(start):
                told = self.mallab("confirm", "--json", "-n", 1, "-a", "glibc", "--start", start, "--load", "true")
                self.assertIn(b"the program runs on jemalloc: it is the baseline", told.stderr)
                self.assertEqual(json.loads(told.stdout)["baseline"], "jemalloc")

    def test_service_is_stopped_and_ready_as_told(self):
        start, client = self.service()
        stop = f"echo stopped >>{self.place}/stops; {client} end"
        about = self.check(self.confirm("--start", start, "--ready", f"echo asked >>{self.place}/asked; {client} ready",
                                        "--load", client + "load", "--stop", stop, pairs=1), 1)
        self.assertEqual(len((self.place / "stops").read_text().split()), 1 + about["runs"])
        self.assertGreaterEqual(len((self.place / "asked").read_text().split()), about["runs"])
        self.assert_ended()

    def test_service_is_loaded_when_it_rests(self):
        """Without --ready; a load may do anything where nobody serves it, as hang. One that has not rested within two seconds since it
        was started, as the kernel counts them, is loaded all the same: beside other work that is not early."""
        (self.place / "load").write_text("""
            test -e up && exec rm up pid
            test -e pid && set -- $(cat /proc/$(cat pid)/stat) && read up idle </proc/uptime || exit 1
            [ $((${up%.*}${up#*.} - ${22} * 100 / $(getconf CLK_TCK))) -ge 199 ] || echo early >>early
            exit 1""")
        self.check(self.confirm("--start", f"cd {self.place}; echo $$ >pid; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; touch up; exec sleep 1000",
                                "--load", f"cd {self.place}; . ./load", pairs=1), 1)
        self.assertEqual(self.lines("early"), 0)

    def test_service_fails(self):
        result = self.mallab("confirm", "-q", *TWO, "--start", "echo no port >&2; exit 4", "--load", "false", status=lab.FAILED)
        self.assert_one_line(result, "confirm: the service ended with exit code 4 before it was ready: no port")
        for start, words in (("false", "exit code 1 before its load did"), ("true", "exit code 0 before its load did, which --stop is for")):
            result = self.mallab("confirm", "-q", *TWO, "--start", start, "--load", "true", status=lab.FAILED)
            self.assert_one_line(result, "confirm: the service ended with " + words)
        start, client = self.service()
        result = self.mallab("confirm", "-q", *TWO, "--start", start, "--ready", client + "ready", "--load", "echo too much >&2; exit 5",
                             status=lab.FAILED)
        self.assert_one_line(result, "exit code 5: too much")
        self.assert_ended()
        result = self.mallab("confirm", "-q", "--timeout", "300ms", *TWO, "--start", "exec sleep 1000", "--load", "false", status=lab.FAILED)
        self.assert_one_line(result, "it was not ready within 300 ms")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv")
    def test_service_that_may_not_be_ended(self):
        """It has taken another user's rights: who started it may not signal it, and is told so instead of waiting for ever."""
        raised, told = self.place / "raised", self.place / "pid"
        shutil.copy(shutil.which("setpriv"), raised)
        raised.chmod(0o4755)
        self.place.chmod(0o777)
        start = f"echo $$ >{told}; exec {raised} --reuid 0 --clear-groups sleep 1000"
        self.addCleanup(lambda: os.kill(int(told.read_text()), signal.SIGKILL))
        load = f"grep -q sleep /proc/$(cat {told})/comm"
        result = self.mallab("confirm", "-q", *TWO, "--start", start, "--load", load, status=lab.FAILED, user=65534, group=65534, extra_groups=[])
        self.assert_one_line(result, f"confirm: process {told.read_text().strip()} of the service runs as another user", "--stop has to end it")

    def interrupt(self, condition, *arguments):
        """Ctrl-C once the condition holds; the end of mallab, and what it printed."""
        with subprocess.Popen([lab.BUILD / "mallab", "confirm", "-q", "--json", *TWO, *map(str, arguments)], cwd=self.place, env=lab.environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            lab.wait_for(lambda: condition() or process.poll() is not None, "it to come so far")
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual(process.returncode, -signal.SIGINT, said)
        self.assertIn(b"interrupted", said)
        return json.loads(out)

    def lines(self, name):
        path = self.place / name
        return len(path.read_text().splitlines()) if path.exists() else 0

    def test_interrupted_command(self):
        """Whole pairs are kept; the program has ended."""
        script = f'echo $$ >>{self.place}/ran; test $(wc -l <{self.place}/ran) -lt 30 || exec sleep 1000'
        result = self.interrupt(lambda: self.lines("ran") >= 30, "-n", 500, "--", "sh", "-c", script)
        self.assertIs(result["confirmation"]["stopped"], True)
        self.assertIs(result["complete"], False)
        self.assertGreater(sum(one["runs"] for one in result["confirmed"]), 0)
        for one in result["confirmed"]:
            self.assertEqual(len(one["wall"]["samples_ns"]), len(one["wall"]["baseline_samples_ns"]))
        last = (self.place / "ran").read_text().split()[-1]
        lab.wait_for(lambda: not lab.is_running(last), "the end of what was killed")

    def test_interrupted_service(self):
        start, client = self.service()
        load = f"echo loaded >>{self.place}/loads; {client} load && test $(wc -l <{self.place}/loads) -lt 6 || exec sleep 1000"
        result = self.interrupt(lambda: self.lines("loads") >= 6, "-n", 500, "--start", start, "--ready", client + "ready", "--load", load)
        self.assertIs(result["confirmation"]["stopped"], True)
        self.assert_ended()

    @lab.needs("hyperfine")
    def test_hyperfine_runs_without_the_candidate(self):
        """It is a program that the candidate need not bear: library and settings are the command's alone, which has both."""
        hyperfine = self.place / "hyperfine"
        hyperfine.write_text('#!/bin/sh\nprintf "%s\\n" "$LD_PRELOAD$GLIBC_TUNABLES" >>of-hyperfine\n'
                             f'exec {shutil.which("hyperfine")} "$@"\n')
        hyperfine.chmod(0o755)
        program = self.place / "is=a path"
        program.write_text('#!/bin/sh\n[ -z "$MALLAB_TEST" ] || printf "%s:%s:%s\\n" "$LD_PRELOAD" "$GLIBC_TUNABLES" "$*" >>of-command\n'
                           f"exec {lab.PROGRAMS}/parts half 1\n")
        program.chmod(0o755)
        for command in (program, "sh"):
            told = self.answer("confirm", "-q", "--json", "-n", 1, "-a", "glibc,glibc+nocache", "--", command, *(["-c", f"exec '{program}' 'a  b'"] if command == "sh" else ["a  b"]),
                                 env={"PATH": f"{self.place}:{os.environ['PATH']}", "MALLAB_TEST": "1"})
            self.assertEqual([one["failed"] for one in told["confirmed"]], [None, None])
            self.assertEqual([one["runs"] for one in told["confirmed"]], [1, 1])
            self.assertEqual((self.place / "of-hyperfine").read_text(), "\n" * 4)  # a pair of each, the control's among them
            _, *lines = (self.place / "of-command").read_text().splitlines()  # first it runs as it is
            self.assertTrue(all(re.search(r"^.*libc\.so\.6:.*:a  b$", line) for line in lines), lines)
            self.assertTrue(any("tcache_count=0" in line for line in lines), lines)
            for name in ("of-hyperfine", "of-command"):
                (self.place / name).unlink()
