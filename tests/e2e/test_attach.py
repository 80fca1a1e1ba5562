"""Programs that run already are attached to and left, and never notice: their answers, counts, errno, registers and waits are what
they are without us, also when mallab is killed at any moment. What is recorded lies between two counts of the program's own."""
import ctypes
import errno
import json
import os
import pathlib
import platform
import pwd
import random
import re
import shutil
import signal
import struct
import subprocess
import time
import unittest

import lab

ROUNDS = int(os.environ.get("ATTACH_ROUNDS", "6"))
BLOCKED = int(os.environ.get("ATTACH_BLOCKED", "5"))
KILLS = int(os.environ.get("ATTACH_KILLS", "6"))

NOBODY = 65534

PYTHON = """
import json, re, signal, sys
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
print("ready", flush=True)
n = 0
while not stop:
    made = {str(i): [i] * (i % 50) for i in range(200)}
    text = json.dumps(made)
    if json.loads(text) != made or len(re.findall(r'"[0-9]+"', text)) != 200:
        sys.exit(9)
    n += 1
print("calls", n)
"""


# Maps files whose ELF headers lead to one chain of symbols that has no end, for every name that is asked for.
LONG_CHAINS = """
import ctypes, struct, tempfile, time
CHAIN, COUNT = 4096, 8000
dynamic, table = 0x200, 0x400
words = [1, 1, 0, 0] + [1] + [0] * (CHAIN + 1)
bytes_ = bytearray(0x10000)
bytes_[:64] = struct.pack("<4sBBB9xHHIQQQIHHHHHH", b"\\x7fELF", 2, 1, 1, 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
bytes_[64:176] = (struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, 0x10000, 0x10000, 4096) +
                  struct.pack("<IIQQQQQQ", 2, 4, dynamic, dynamic, dynamic, 64, 64, 8))
bytes_[dynamic:dynamic + 64] = struct.pack("<8Q", 6, 0x8000, 5, 0x9000, 0x6ffffef5, table, 0, 0)
bytes_[table:table + 4 * len(words)] = struct.pack(f"<{len(words)}I", *words)
libc = ctypes.CDLL(None)
with tempfile.TemporaryFile() as file:
    file.write(bytes_)
    file.flush()
    for number in range(COUNT):
        libc.mmap(None, ctypes.c_size_t(0x10000), 1, 2, file.fileno(), ctypes.c_long(0))
print("ready", flush=True)
while True:
    time.sleep(1)
"""


# Says in the library's report (shim/shared/late_report.h) that it is being recorded, into the memory that its input names.
NAMES_MEMORY = """
import ctypes, re, sys
print("ready", flush=True)
for name in sys.stdin:
    library = re.search("/.*libmallab-late.so", open("/proc/self/maps").read()).group()
    report = (ctypes.c_char * 1100).in_dll(ctypes.CDLL(library), "mallab_late_report")
    segment = report.raw.index(b"/dev/shm/mallab-")
    ctypes.memmove(ctypes.addressof(report) + 8, bytes([2]), 1)  # LATE_ON
    ctypes.memmove(ctypes.addressof(report) + segment, name.strip().encode() + bytes(1), len(name))
    print("named", flush=True)
"""


# Four threads of Go that call malloc in C, once for each line of its input: a program, and a library of a program in C.
GO = """
package main

/*
#include <stdlib.h>
static void work(void) { for (int i = 0; i < 1000; i++) { void *volatile p = malloc(100 + i); free(p); } }
*/
import "C"
import ("bufio"; "fmt"; "os"; "runtime"; "sync")

//export Turn
func Turn() {
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() { runtime.LockOSThread(); C.work(); all.Done() }()
	}
	all.Wait()
}

func main() {
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); fmt.Println("done") { Turn() }
}
"""
HOST = """
#include <stdio.h>
#include <unistd.h>
void Turn(void);
int main(void) {
    char line;
    for (puts("ready"); fflush(stdout), read(0, &line, 1) == 1; puts("done")) Turn();
    return 0;
}
"""


def may_trace():
    probe = subprocess.Popen(["sleep", "60"])
    try:
        (pathlib.Path(f"/proc/{probe.pid}/mem")).open("rb").close()
        scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
        return not scope.exists() or scope.read_text().strip() == "0" or os.geteuid() == 0
    except OSError:
        return False
    finally:
        probe.kill()
        probe.wait()


def forbid_close_range():
    """For this process and what it starts: answered by ENOSYS."""
    load, jump, end = 0x20, 0x15, 0x06  # of BPF, as a seccomp filter has them: the call's number; if equal; the answer
    lines = struct.pack("HBBI" * 4, load, 0, 0, 0, jump, 0, 1, 436, end, 0, 0, 0x00050000 | errno.ENOSYS, end, 0, 0, 0x7fff0000)
    if ctypes.CDLL(None).prctl(22, 2, struct.pack("HxxxxxxP", 4, ctypes.cast(lines, ctypes.c_void_p).value), 0, 0) != 0:
        os._exit(1)


@unittest.skipUnless(platform.machine() == "x86_64", "--pid is for x86-64")
@unittest.skipUnless(may_trace(), "no process may be traced here")
class Attached(lab.Lab):
    def begin(self, *command, **settings):
        """A program in the background that says `ready` first; killed at the end if it still runs. It yields to the recorder."""
        program = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: os.nice(10), **settings)
        self.addCleanup(lambda: (program.kill(), program.wait(), program.stdout.close(), program.stderr.close()))
        self.assertEqual(program.stdout.readline().strip(), b"ready")
        return program

    def attach(self, program, *options, name="rec", status=lab.DONE):
        return self.mallab("record", "--pid", str(program.pid), "-o", name, *options, status=status).stderr.decode()

    def recorder(self, program, name="rec", options=(), **settings):
        """A recording that has begun."""
        recorder = subprocess.Popen([lab.BUILD / "mallab", "record", "--pid", str(program.pid), *options, "-o", name], cwd=self.place,
                                    stderr=subprocess.PIPE, bufsize=0, **settings)  # communicate() would leave out what a buffer holds
        self.addCleanup(lambda: (recorder.kill(), recorder.wait(), recorder.stderr.close()))
        self.assertIn(b"recording process", recorder.stderr.readline())
        return recorder

    def wait_for_calls(self, name="rec", least=1):
        """Until so many are recorded, however little the program runs beside other work."""
        lab.wait_for(lambda: self.answer("record", "--control", name, "--status", "--json")["events"] >= least, "its calls", 0.05)

    def attach_for_calls(self, program, least=1):
        """What is said of a recording of so many calls, which Ctrl-C ends."""
        recorder = self.recorder(program)
        self.wait_for_calls(least=least)
        return self.leave(recorder)

    def leave(self, recorder, status=lab.DONE):
        """What is said behind Ctrl-C."""
        recorder.send_signal(signal.SIGINT)
        said = recorder.communicate(timeout=lab.PATIENCE_S)[1].decode()
        self.assertEqual(recorder.returncode, status, said)
        return said

    def end(self, program):
        """It ends by itself, content: how many calls it counts."""
        program.send_signal(signal.SIGTERM)
        answer, complaint = program.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual((program.returncode, complaint), (0, b""), answer)
        return int(re.search(rb"calls (\d+)", answer).group(1))

    def recording(self, name="rec"):
        return self.listing(name)


class Attach(Attached):
    def test_counts(self):
        """Four threads: nothing lost, less than the program counts in all; no slot and no shared memory of ours is left. That it began late
        is said by the summary, by the recording, by its footprint alone: and no pause that nobody asked for."""
        program = self.begin(lab.PROGRAMS / "late", 4)
        told = self.attach_for_calls(program, 1000)
        words = "recording began in the middle of the program's life"
        self.assertIn("the program is as it was", told)
        self.assertIn(words, told)
        self.assertNotIn("not whole", told)
        self.assertNotIn("paused", told)
        self.assertNotIn("/dev/shm/mallab", pathlib.Path(f"/proc/{program.pid}/maps").read_text())
        events = sum(process["events"] for process in self.recording()["processes"])
        self.assertGreaterEqual(events, 1000)
        [footprint] = (self.place / "rec").glob("*.fp")
        for path in ("rec", footprint):
            text = self.mallab("info", path).stdout.decode()
            self.assertIn(words, " ".join(text.split()))
            self.assertNotIn("paused", text)
            self.assertEqual(self.answer("info", "--json", path)["live"], "from_middle")
        told = self.attach(program, "--paused", "--duration", "50ms", name="asked")
        self.assertIn("paused 1 time", told)
        self.assertIn("as --duration asked", told)
        self.assertIn("paused meanwhile, as asked", self.recording("asked")["incomplete_why"])
        self.assertLess(events, self.end(program))
        self.mallab("convert", "-o", "late.wl", "rec")

    def test_rounds(self):
        """Again and again, in 64 threads and in an interpreter."""
        for command in ([lab.PROGRAMS / "late", "-n", 64], ["/usr/bin/python3", "-S", "-c", PYTHON]):
            program = self.begin(*command)
            for i in range(ROUNDS):
                self.assertIn("as it was", self.attach(program, "--duration", "20ms", name=f"{program.pid}.{i}"))
            self.assertGreater(self.end(program), 0)

    def waiting_calls(self, program, wanted=None):
        """The numbers of the calls that its other threads wait in, once all do; until so many wait in `wanted`."""
        while program.poll() is None:
            paths = [f"/proc/{program.pid}/task/{thread}/syscall" for thread in os.listdir(f"/proc/{program.pid}/task")
                     if int(thread) != program.pid]
            calls = [pathlib.Path(path).read_text().split()[0] for path in paths]
            if "running" not in calls and (wanted is None or calls.count(wanted) == len(calls)):
                return calls
            time.sleep(0.01)
        self.fail(program.communicate()[1])

    def test_waits_interrupted_before(self):
        """Waits that a stop has interrupted before go on as restart_syscall(2): they are not cut short either."""
        program = self.begin(lab.PROGRAMS / "late", "-w", 4)
        self.waiting_calls(program)
        program.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, program.pid, os.WSTOPPED)
        program.send_signal(signal.SIGCONT)
        self.waiting_calls(program, "219")
        for i in range(3):
            self.assertIn("as it was", self.attach(program, "--duration", "20ms", name=f"rec.{i}"))
            self.waiting_calls(program)
        self.end(program)

    def test_blocking_calls(self):
        """A thread in each call that waits, also in such that have done a part, and in such that a stop ends and the kernel begins none
        anew (signal(7)): they return what they do where nobody attaches."""
        answers = []
        for attached in (0, BLOCKED):
            program = self.begin(lab.PROGRAMS / "blocking", stdin=subprocess.PIPE)
            self.waiting_calls(program)
            for i in range(attached):
                self.assertIn("as it was", self.attach(program, "--duration", "5ms", name=f"rec.{i}"))
                shutil.rmtree(self.place / f"rec.{i}")
            answers.append(program.communicate(b"\n", timeout=lab.PATIENCE_S)[0].decode())
            self.assertEqual(program.returncode, 0)
        self.assertEqual(answers[0], answers[1])
        self.assertNotIn(" -1 ", re.sub("io_uring -1 9\n", "", answers[0]))  # none can be had: EBADF

    def test_a_pipe_that_it_names(self):
        """A program may say that it is recorded into the memory of any name: what is no file is not opened."""
        program = self.begin("/usr/bin/python3", "-S", "-c", NAMES_MEMORY, stdin=subprocess.PIPE)
        self.attach(program, "--duration", "20ms", name="first")
        pipe, libc = self.place / f"mallab-{os.geteuid()}-{8 * '0f'}", ctypes.CDLL(None)
        os.mkfifo(pipe, 0o600)
        watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.addCleanup(os.close, watch)
        self.assertGreaterEqual(libc.inotify_add_watch(watch, bytes(pipe), 0x20), 0)  # IN_OPEN
        program.stdin.write(f"{pipe}\n".encode())
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), b"named\n")
        lab.run([lab.BUILD / "mallab", "record", "--pid", str(program.pid), "-o", self.place / "second", "--duration", "20ms"])
        self.assertRaises(BlockingIOError, os.read, watch, 1000)
        os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
        self.assertGreater(len(os.read(watch, 1000)), 0, "so the watch works")

    def test_children(self):
        """What the program forks meanwhile is recorded, and left as it is itself, its children's children too, also those whose parent has
        ended. One that cannot be left is told."""
        code = ("import os, sys, time\n"
                "print('ready', flush=True)\n"
                "sys.stdin.readline()\n"
                "if os.fork() == 0:\n"
                "    if os.fork() and sys.argv[1] == 'orphan':\n"
                "        os._exit(0)\n"
                "    os.write(1, f'{os.getpid()}\\n'.encode())\n"
                "    while True:\n"
                "        [bytes(i) for i in range(600, 2000, 7)]\n"
                "        time.sleep(0.001)\n"
                "sys.stdin.readline()\n")
        holds = lambda pid: "/dev/shm/mallab" in pathlib.Path(f"/proc/{pid}/maps").read_text()
        for how, count in (("family", 2), ("orphan", 1), ("stopped", 2)):
            program = self.begin("/usr/bin/python3", "-S", "-c", code, how, stdin=subprocess.PIPE)
            recorder = self.recorder(program, how)
            program.stdin.write(b"\n")
            program.stdin.flush()
            children = [int(program.stdout.readline()) for _ in range(count)]
            for child in children:
                self.addCleanup(lambda child=child: os.kill(child, signal.SIGKILL))
            lab.wait_for(lambda: all(map(holds, children)), "their calls")
            if how == "stopped":
                lab.halt(children[1])
            said = self.leave(recorder)
            self.assertIn("as it was", said)
            self.assertEqual([holds(child) for child in children], [False, how == "stopped"][:count])
            self.assertEqual([int(pid) for pid in re.findall(r"process (\d+) was forked meanwhile, and stays", said)],
                             children[1:] if how == "stopped" else [])
            program.stdin.close()
            if how == "family":
                self.assertEqual(len(self.recording(how)["processes"]), 3)

    def test_killed_a_moment_ago(self):
        """The collector of one who was killed has not seen that yet: its end is waited for. Where nobody was killed the answer comes at once."""
        program = self.begin(lab.PROGRAMS / "late", "-n", 2)
        recorder = self.recorder(program)
        [collector] = lab.children(recorder.pid)
        os.kill(collector, signal.SIGSTOP)
        self.assertIn("is being recorded by another", self.attach(program, "--attach-timeout", "1h", name="refused", status=125))
        recorder.kill()
        recorder.wait()
        second = subprocess.Popen([lab.BUILD / "mallab", "record", "--pid", str(program.pid), "-o", self.place / "after", "--duration", "20ms"],
                                  stderr=subprocess.PIPE)
        asleep = lambda: pathlib.Path(f"/proc/{second.pid}/syscall").read_text().split()[0] == "230"  # clock_nanosleep, between two looks
        lab.wait_for(lambda: second.poll() is not None or asleep(), "it to look")
        os.kill(collector, signal.SIGCONT)
        self.assertIn(b"as it was", second.communicate(timeout=lab.PATIENCE_S)[1])
        self.end(program)

    def test_killed(self):
        """mallab is killed at random moments; the next one finds the program as it needs it, or says what to end first."""
        seed = random.randrange(1 << 32)
        moments = random.Random(seed)
        program = self.begin(lab.PROGRAMS / "late", "-k", 8)
        for i in range(KILLS):
            with self.subTest(seed=seed, round=i):
                directory = self.place / f"killed.{i}"
                victim = subprocess.Popen([lab.BUILD / "mallab", "record", "--quiet", "--pid", str(program.pid), "-o", directory,
                                           "--duration", "100ms"], stderr=subprocess.DEVNULL)
                time.sleep(moments.random() * 0.5)  # no state is waited for: any moment is to do
                victim.kill()
                victim.wait()
                if directory.exists():
                    self.wait_for_end(directory.name)
                self.assertIn("as it was", self.attach(program, "--duration", "20ms", name=f"after.{i}"))
        self.end(program)

    def test_recorder_killed(self):
        """The recording ends by itself, whole so far, and says so; the program goes on unrecorded, until the next one attaches."""
        program = self.begin(lab.PROGRAMS / "late", "-n", 2)
        recorder = self.recorder(program)
        self.wait_for_calls()
        recorder.kill()
        recorder.wait()
        told = self.wait_for_end("rec")
        self.assertEqual((told["stopped"]["by"], sum(told["lost"].values())), ("recorder_killed", 0))
        self.assertIn("'mallab record --pid' was killed", told["incomplete_why"])
        written = sum(process["events"] for process in told["processes"])
        self.assertGreater(written, 0)
        self.assertIn(b"'mallab record --pid' was killed", self.mallab("info", "rec").stdout)
        self.assertIn("as it was", self.attach(program, "--duration", "20ms", name="after"))
        self.assertGreater(self.end(program), written)

    @unittest.skipUnless(os.geteuid() == 0, "another user takes root")
    def test_another_users_refused(self):
        """To who is not root; with the command that does it."""
        self.place.chmod(0o777)
        program = self.begin(lab.PROGRAMS / "late", "-n", 1)
        said = self.mallab("record", "--pid", program.pid, "-o", "rec", status=125, user=NOBODY, group=NOBODY, extra_groups=[]).stderr
        self.assertIn(f"belongs to user root: root attaches to it, 'sudo mallab record --pid {program.pid}'".encode(), said)
        self.end(program)

    def test_ab(self):
        """The whole way; what the program runs on is found once, also where it was recorded before."""
        program = self.begin(lab.PROGRAMS / "late", "-n", 2)
        self.attach(program, "--duration", "20ms")
        result = self.answer("ab", "--pid", program.pid, "--duration", "1s", "-n", 1, "-a", "glibc",
                             "--head", "1000", "--json", "--keep", "kept")
        self.end(program)
        [workload] = result["workloads"]
        self.assertEqual(workload["program"], "late")
        self.assertGreater(workload["ops"], 0)
        self.assertEqual(self.answer("info", "--json", f"kept/late-{program.pid}")["runs_on"]["name"], "glibc")
        self.mallab("ab", "--pid", program.pid, "-a", "glibc", status=lab.FAILED)

    def test_waits_for_signals(self):
        """A program that blocks its signals but while it waits for them, as nginx's first process, misses none; one that could is refused."""
        code = ("import ctypes, signal, sys\n"
                "libc = ctypes.CDLL(None)\n"
                "got = []\n"
                "signal.signal(signal.SIGTERM, lambda *_: got.append(1))\n"
                "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
                "if sys.argv[1] == 'blocked': signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
                "print('ready', flush=True)\n"
                "while not got: libc.sigsuspend(bytes(128)) if sys.argv[1] == 'blocked' else libc.pause()\n"
                "print('calls 1')\n")
        for how, number in (("blocked", "130"), ("open", "34")):
            program = self.begin("/usr/bin/python3", "-S", "-c", code, how)
            lab.wait_for(lambda: pathlib.Path(f"/proc/{program.pid}/syscall").read_text().split()[0] == number, "it to wait")
            if how == "open":
                self.assertIn("waits for a signal", self.attach(program, "--attach-timeout", "20ms", status=125))
            else:
                told = self.attach(program, "--duration", "20ms")
                self.assertIn("as it was", told)
                self.assertIn("no call of the malloc family was seen while the program was attached to", told)
                self.assertEqual(pathlib.Path(f"/proc/{program.pid}/syscall").read_text().split()[0], number)
            self.end(program)

    def test_nothing_to_attach_to(self):
        """Threads of the kernel, and what has ended; without a command for root that root has just given."""
        ended = subprocess.Popen(["true"])
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        said = self.mallab("record", "--pid", ended.pid, "-o", "rec", status=125).stderr.decode()
        ended.wait()
        self.assertIn(f"process {ended.pid} has ended (zombie)", said)
        if pathlib.Path("/proc/2/comm").exists() and pathlib.Path("/proc/2/comm").read_text() == "kthreadd\n":
            said = self.mallab("record", "--pid", "2", "-o", "rec", status=125).stderr.decode()
            self.assertIn("process 2 is a thread of the kernel", said)
        self.assertFalse((self.place / "rec").exists())

    def test_ab_interrupted_twice(self):
        """The program is left in order all the same, and no temporary directory stays."""
        program = self.begin(lab.PROGRAMS / "late", "-n", 2)
        (self.place / "tmp").mkdir()
        ab = subprocess.Popen([lab.BUILD / "mallab", "ab", "--pid", str(program.pid), "-a", "glibc"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(self.place / "tmp")})
        self.assertIn(b"recording process", ab.stderr.readline())
        while ab.poll() is None:
            ab.send_signal(signal.SIGINT)
            time.sleep(0.005)
        rest = ab.communicate(timeout=lab.PATIENCE_S)[1]
        self.assertEqual(ab.returncode, -signal.SIGINT, rest)
        self.assertIn(b"as it was", rest)
        self.assertEqual(list((self.place / "tmp").iterdir()), [])
        self.end(program)

    def count_turns(self, name, *how):
        """Attach to a program that calls by pointers; what was recorded of one of its turns, and what a library below ours counted."""
        tallies = self.place / f"tallies.{name}"
        tallies.mkdir()
        program = self.begin(lab.PROGRAMS / "tables", lab.PROGRAMS / "libplugin.so", *how, stdin=subprocess.PIPE,
                             env={**os.environ, "LD_PRELOAD": str(lab.PROGRAMS / "libtally.so"), "TALLY_OUT": str(tallies)})
        counted = lambda: sum(int.from_bytes(path.read_bytes()[:8], "little") for path in tallies.iterdir())
        told, before, after = self.record_one_turn(program, "-o", self.place / name, at_turn=counted)
        program.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual(program.returncode, 0)
        events = sum(process["events"] for process in self.recording(name)["processes"])
        self.assertIn(b"the program is as it was", told)
        return told.decode(), events, after - before

    @unittest.skipUnless(shutil.which("go"), "no go: apt-get install golang-go")
    def test_go(self):
        """Who has code in Go is refused at the first look, also without a build id: with an hour to attach in it is no question of time.
        Recorded from its begin it is whole: each call that a library below ours counted."""
        (self.place / "turns.go").write_text(GO)
        (self.place / "host.c").write_text(HOST)
        go = lambda *options: lab.run(["go", "build", *options, "turns.go"], cwd=self.place, check=True,
                                      env={**os.environ, "GO111MODULE": "off", "GOCACHE": str(lab.BUILT / "go-cache"), "HOME": str(self.place)})
        bare = "-ldflags=-s -w -buildid="
        for name, options in ("plain", []), ("bare", [bare]), ("moved", ["-buildmode=pie", bare]), ("libturns.so", ["-buildmode=c-shared", bare]):
            go("-o", name, *options)
        lab.run(["cc", "-o", "host", "host.c", "./libturns.so"], cwd=self.place, check=True)
        for name, of_go in ("plain", "plain"), ("bare", "bare"), ("moved", "moved"), ("host", "libturns.so"):
            program = self.begin(f"./{name}", stdin=subprocess.PIPE, cwd=self.place)
            self.assertIn(f"'{of_go}' is written in Go", self.attach(program, "--attach-timeout", "1h", status=125))
            self.assertEqual((program.communicate(b"\n", timeout=lab.PATIENCE_S), program.returncode), ((b"done\n", b""), 0))
        tallies = self.place / "tallies"
        tallies.mkdir()
        for name in ("plain", "host"):
            self.mallab("record", "-o", f"of-{name}", "--", f"./{name}", input=b"\n\n", stdin=None,
                        env={"LD_PRELOAD": str(lab.PROGRAMS / "libtally.so"), "TALLY_OUT": str(tallies)})
            counted = sum(int.from_bytes(path.read_bytes()[:8], "little") for path in tallies.glob(f"{name}.*"))
            self.assertEqual([process["events"] for process in self.recording(f"of-{name}")["processes"]], [counted])
            self.assertGreater(counted, 15999)

    def test_tables(self):
        """Pointers in data, copied data and tables of a library, what dlsym says, and a plugin's constructor and destructor: each call of
        them, and what the loader itself allocates. Pointers that nothing names are counted and named."""
        told, events, counted = self.count_turns("named")
        self.assertEqual(events, counted)
        self.assertGreater(counted, 24000)
        self.assertNotIn("past the recorder", told)
        self.assertNotIn("past the recorder", self.recording("named")["incomplete_why"])
        told, events, counted = self.count_turns("kept", "kept")
        self.assertLess(events, counted)
        words = "may call past the recorder: 4 pointers to functions of the malloc family, in tables (4)"
        self.assertRegex(told, rf"not recorded: 'tables' \(process \d+\) {re.escape(words)}")
        self.assertIn(words, self.recording("kept")["incomplete_why"])

    def answers(self, recording, verb, *options):
        answer = json.loads(self.mallab(verb, "--json", "--top", "0", "--by", "function", *options, recording).stdout)
        return answer, {site["site"].split(" ")[0]: site for site in answer["sites"]}

    def test_sites(self):
        """With call stacks: of what was allocated since, exactly; what was there before is nobody's. Twice, with nothing left between."""
        for name, how in (("exact", "--sites"), ("sampled", "--sites=4K")):
            program = self.begin(lab.BUILD / "tests/e2e/sites", "wait", stdin=subprocess.PIPE)
            self.attach(program, "--sites", "--duration", "1ms", name=f"{name}.before")
            self.record_one_turn(program, how, "-o", self.place / name)
            self.assertNotIn("/dev/shm/mallab", pathlib.Path(f"/proc/{program.pid}/maps").read_text())
            program.communicate(b"\n", timeout=lab.PATIENCE_S)
            self.assertEqual(program.returncode, 0)
            self.assertAlmostEqual(self.info(self.place / name)["large_resident_bytes"], 4 << 20, delta=1 << 16)
            answer, sites = self.answers(self.place / name, "sites")
            if name == "exact":
                for site, calls, size in (("churns", 4000, 400000), ("keeps", 300, 19200), ("descends", 80, 4000), ("hands_over", 100, 20000)):
                    self.assertEqual((sites[site]["allocations"], sites[site]["bytes"]), (calls, size), site)
                self.assertEqual(sites["hands_over"]["elsewhere_share"], 1)
                self.assertNotIn("comes_before", sites)
                self.assertEqual(self.info(self.place / name)["irregularities"]["free_of_unknown"], 25)
                leaks, _ = self.answers(self.place / name, "leaks")
                self.assertEqual((leaks["sites"][0]["site"], leaks["sites"][0]["live_bytes"]), ("keeps", 19200))
                for verb in ("sites", "leaks"):
                    self.assertIn(b"what was live when it begins is not known", self.mallab(verb, self.place / name).stdout)
                self.mallab("flame", "-o", "late.html", self.place / name)
                self.assertIn("what was live when it begins is not known", (self.place / "late.html").read_text())
                self.assertIn(b"keeps;xmalloc 19200", self.mallab("flame", self.place / name).stdout)
            else:
                self.assertEqual(answer["sample_bytes"], 4096)
                self.assertGreater(sites["churns"]["samples"], 10)

    def test_sites_of_what_runs(self):
        """Stacks that a program had while the recording was paused, at its begin, are known behind it."""
        program = self.begin(lab.PROGRAMS / "late", 1)
        recorder = self.recorder(program, options=("--sites", "--paused"))

        def worked():
            return sum(map(int, pathlib.Path(f"/proc/{program.pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
        for request in ("--resume", "--end"):
            before = worked()
            lab.wait_for(lambda: worked() > before + 2, "it to work")
            self.mallab("record", "--control", "rec", request)
        recorder.communicate(timeout=lab.PATIENCE_S)
        self.end(program)
        answer, sites = self.answers(self.place / "rec", "sites")
        self.assertEqual(sites["work"]["allocations"], answer["allocations"])
        self.assertGreater(answer["allocations"], 100)

    def test_program_ends(self):
        """The recording of a program that ends meanwhile is finished."""
        program = self.begin(lab.PROGRAMS / "late", 2)
        recorder = self.recorder(program)
        self.end(program)
        rest = recorder.communicate(timeout=lab.PATIENCE_S)[1]
        self.assertEqual(recorder.returncode, 0, rest)
        self.assertIn(f"process {program.pid} ended while it was recorded".encode(), rest)
        self.assertGreater(sum(process["events"] for process in self.recording()["processes"]), 0)

    def test_refused(self):
        """With the reason, and nothing is touched."""
        if (lab.PROGRAMS / "late-static").exists():
            static = self.begin(lab.PROGRAMS / "late-static", "-n", 1)
            self.assertIn("statically linked", self.attach(static, status=125))
            self.end(static)
        go = self.place / "go"
        go.write_bytes((lab.PROGRAMS / "late").read_bytes().replace(b"\3\0\0\0GNU\0", b"\4\0\0\0Go\0\0"))  # the note of a build by go
        go.chmod(0o755)
        program = self.begin(go, "-n", 1)
        self.assertIn("is written in Go", self.attach(program, status=125))
        self.end(program)
        spaces = self.begin("/usr/bin/python3", "-S", "-c", "import ctypes, time\nlibc = ctypes.CDLL(None)\nlibc.dlmopen.restype = ctypes.c_void_p\n"
                            "if libc.dlmopen(ctypes.c_long(-1), b'libm.so.6', 2): print('ready', flush=True)\ntime.sleep(600)")
        self.assertIn("has more than one C library", self.attach(spaces, status=125))
        program = self.begin(lab.PROGRAMS / "late", "-n", 1)
        lab.halt(program.pid)
        self.assertIn("is stopped (SIGSTOP)", self.attach(program, status=125))
        self.assertEqual(lab.state_of(program.pid), "T")
        program.send_signal(signal.SIGCONT)
        self.end(program)
        self.assertIn("there is no process", self.mallab("record", "--pid", str(program.pid), status=125).stderr.decode())
        recorded = self.begin(lab.PROGRAMS / "late", 1, env={**os.environ, "LD_PRELOAD": str(lab.SHIM), "MALLAB_OUT": str(self.place / "own")})
        self.assertIn("preloaded already", self.attach(recorded, status=125))
        self.end(recorded)
        self.assertFalse((self.place / "rec").exists())

    @lab.needs("redis-server", "redis-cli")
    def test_redis(self):
        """On an allocator of its own choice, answering."""
        port = str(lab.free_port())
        server = subprocess.Popen(["redis-server", "--port", port, "--save", ""], stdout=subprocess.DEVNULL, cwd=self.place)
        self.addCleanup(lambda: (server.kill(), server.wait()))
        client = ["redis-cli", "-p", port]
        while lab.run([*client, "ping"]).stdout != b"PONG\n":
            time.sleep(0.02)
        for i in range(3):
            recorder = self.recorder(server, f"rec.{i}")
            keys = "".join(f"SET k{i}.{n} {'x' * n}\nINCR count\n" for n in range(500))
            lab.run(client, input=keys.encode(), stdin=None)
            self.assertIn("as it was", self.leave(recorder))
            [process] = self.recording(f"rec.{i}")["processes"]
            self.assertGreater(process["events"], 500)
        self.assertEqual(lab.run([*client, "get", "count"]).stdout, b"1500\n")
        self.assertEqual(lab.run([*client, "strlen", "k2.499"]).stdout, b"499\n")


@unittest.skipUnless(os.geteuid() == 0, "another user takes root")
class Owner(Attached):
    """Root records nobody's program: the recording is nobody's, root reads it as its own, and what root has stays root's."""

    GROUPS = [7, 65534]

    def setUp(self):
        super().setUp()
        self.owner = pwd.getpwuid(NOBODY).pw_name

    def begin(self, *command, **settings):
        return super().begin(*command, **{"user": NOBODY, "group": NOBODY, "extra_groups": self.GROUPS, **settings})

    def assert_nobodys(self, directory):
        for path in (directory, *directory.iterdir()):
            facts = path.lstat()
            self.assertEqual((facts.st_uid, facts.st_gid, facts.st_mode & 0o777), (NOBODY, NOBODY, 0o700 if path == directory else 0o600), path)

    def test_whose(self):
        """Below a directory that nobody cannot enter; counts are right, nothing of ours is left, and root reads what nobody else may."""
        program = self.begin(lab.PROGRAMS / "late", 2)
        told = self.attach_for_calls(program, 1000)
        self.assertIn("the program is as it was", told)
        self.assertIn(f"belongs to user {self.owner}; root reads it as its own", told)
        self.assert_nobodys(self.place / "rec")
        self.assertNotIn("/dev/shm/mallab", pathlib.Path(f"/proc/{program.pid}/maps").read_text())
        self.assertIn("'rec' was there already", self.attach(program, "--duration", "20ms"))
        self.assert_nobodys(self.place / "rec.2")
        events = sum(process["events"] for name in ("rec", "rec.2") for process in self.recording(name)["processes"])
        self.assertGreaterEqual(events, 1000)
        self.assertEqual(self.answer("info", "--json", "rec")["processes"], 1)
        self.mallab("top", "--once", "rec")
        self.mallab("convert", "-o", "late.wl", "rec")
        self.assertLess(events, self.end(program))
        self.place.chmod(0o755)
        as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.mallab("info", "rec", **as_nobody)
        self.mallab("info", "rec", status=lab.BAD_INPUT, user=1, group=1, extra_groups=[])
        os.removexattr(self.place / "rec", "trusted.mallab.owner")
        self.mallab("info", "rec", status=lab.BAD_INPUT)

    def test_rights(self):
        """While it records: neither process has root's rights, environment, terminal or descriptors; root commands it all the same."""
        program = self.begin(lab.PROGRAMS / "late", "-n", 2)
        secret = (self.place / "secret").open("w")
        self.addCleanup(secret.close)
        recorder = self.recorder(program, env={**os.environ, "SECRET": "x"}, pass_fds=[secret.fileno()])
        [tracer] = lab.children(recorder.pid)
        [collector] = lab.children(tracer)
        for pid in (tracer, collector):
            status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
            self.assertEqual(status["Uid"].split() + status["Gid"].split(), [str(NOBODY)] * 8)
            self.assertEqual(status["Groups"].split(), [])
            self.assertEqual((status["NoNewPrivs"], int(status["CapInh"], 16), int(status["CapAmb"], 16)), ("1", 0, 0))
            self.assertEqual(int(status["CapPrm"], 16) & ~(1 << 19), 0, "no right but to trace")
            self.assertNotEqual(os.getsid(pid), os.getsid(0))
            opened = [os.readlink(path) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
            self.assertNotIn(str(self.place / "secret"), opened)
        self.assertEqual(int(status["CapPrm"], 16), 0)
        self.assertEqual(pathlib.Path(f"/proc/{collector}/environ").read_bytes(), b"")
        self.assertEqual(pathlib.Path(f"/proc/{tracer}/environ").stat().st_uid, 0, "its user cannot look into it")
        self.assertIn(b"recording", self.mallab("record", "--control", "rec", "--status").stdout)
        self.mallab("record", "--control", "rec", "--end")
        rest = recorder.communicate(timeout=lab.PATIENCE_S)[1]
        self.assertEqual(recorder.returncode, 0, rest)
        self.assertIn(b"as it was", rest)
        self.end(program)

    def test_hostile_places(self):
        """Links, also on the way; what is there is left alone, whoever's; and nothing stays where nothing was recorded."""
        program = self.begin(lab.PROGRAMS / "late", "-k", 1)  # a SIGSTOP cuts epoll_wait short
        (self.place / "real").mkdir()
        (self.place / "link").symlink_to("real")
        (self.place / "foreign").mkdir()
        os.chown(self.place / "foreign", 1, 1)
        for name, words in (("link/rec", "is a link or no directory"), ("missing/rec", "No such file")):
            with self.subTest(name=name):
                self.assertIn(words, self.attach(program, name=name, status=125))
        self.assertEqual(list((self.place / "real").iterdir()), [])
        lab.halt(program.pid)
        self.assertIn("is stopped", self.attach(program, status=125))
        self.assertFalse((self.place / "rec").exists())
        program.send_signal(signal.SIGCONT)
        for name in ("link", "foreign"):
            with self.subTest(name=name):
                self.assertIn(f"'{name}' was there already: the recording is '{name}.2'", self.attach(program, "--duration", "20ms", name=name))
                self.assert_nobodys(self.place / f"{name}.2")
        self.assertEqual((list((self.place / "foreign").iterdir()), (self.place / "foreign").stat().st_uid), ([], 1))
        self.assertEqual(list((self.place / "real").iterdir()), [])
        self.end(program)

    def test_killed_parent(self):
        """Root's process is killed: the program is left as it was."""
        program = self.begin(lab.PROGRAMS / "late", "-n", 2)
        recorder = self.recorder(program)
        recorder.kill()
        recorder.wait()
        self.assertEqual(self.wait_for_end("rec")["stopped"]["by"], "end")
        lab.wait_for(lambda: "/dev/shm/mallab" not in pathlib.Path(f"/proc/{program.pid}/maps").read_text(), "the memory to go")
        self.end(program)

    def test_stopped(self):
        """Who attaches does not answer any more: the second Ctrl-C ends it at once, the program goes on, and the next one tidies up."""
        program = self.begin(lab.PROGRAMS / "late", "-n", 2)
        recorder = self.recorder(program)
        [tracer] = lab.children(recorder.pid)
        os.kill(tracer, signal.SIGSTOP)
        for _ in range(2):
            recorder.send_signal(signal.SIGINT)
            pending = lambda: int(re.search(r"\nShdPnd:\s*(\w+)", pathlib.Path(f"/proc/{recorder.pid}/status").read_text()).group(1), 16)
            lab.wait_for(lambda: recorder.poll() is not None or not pending(), "it to be heard")
        rest = recorder.communicate(timeout=lab.PATIENCE_S)[1]
        self.assertEqual(recorder.returncode, lab.FAILED, rest)
        self.assertIn(b"the recorder was ended: signal 9; the program goes on", rest)
        self.assertEqual(self.wait_for_end("rec")["stopped"]["by"], "recorder_killed")
        self.assertIn("as it was", self.attach(program, "--duration", "20ms", name="after"))
        self.end(program)

    def begin_behind_silence(self, *command):
        """A program in a mount namespace where mallab's directory is a file system that never answers."""
        device = os.open("/dev/fuse", os.O_RDWR)
        self.addCleanup(os.close, device)  # which ends it
        libc = ctypes.CDLL(None, use_errno=True)

        def shut_in():
            os.nice(10)
            options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
            if (libc.unshare(0x20000) != 0 or libc.mount(b"none", b"/", None, 0x44000, None) != 0 or  # CLONE_NEWNS; private, all below
                    libc.mount(b"silent", os.path.realpath(lab.BUILD).encode(), b"fuse", 0, options) != 0):
                os._exit(77)
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        program = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, pass_fds=[device], preexec_fn=shut_in)
        self.addCleanup(lambda: (program.kill(), program.wait(), program.stdout.close()))
        if program.stdout.readline().strip() != b"ready":
            self.skipTest("no file system of our own can be mounted here")
        return program

    @unittest.skipUnless(os.access("/dev/fuse", os.W_OK), "no /dev/fuse")
    def test_a_silent_file_system(self):
        """Where mallab lies for the program. Nobody waits for it but the program's own loader; its paths are not asked about."""
        late = shutil.copy(lab.PROGRAMS / "late", self.place)
        self.place.chmod(0o755)
        program = self.begin_behind_silence(late, "-n", 2)
        said = self.attach(program, status=125)
        self.assertIn("has not taken", said)
        self.assertFalse((self.place / "rec").exists())

    def test_a_program_that_is_made_to_take_for_ever(self):
        """Thousands of mapped files with the longest chains of symbols that there may be: one deadline, and it is said."""
        program = self.begin("/usr/bin/python3", "-S", "-c", LONG_CHAINS)
        said = self.attach(program, "--attach-timeout", "1ms", status=125)
        self.assertIn("too many mappings or symbols", said)
        program.kill()

    def test_collector_that_stands_still(self):
        """Stopped by the program's user, or killed: it is told, nothing is called whole, and the exit code is not 0."""
        program = self.begin(lab.PROGRAMS / "late", "-n", 2)
        for number, words in (signal.SIGSTOP, "is stopped, or too slow"), (signal.SIGKILL, "the collector ended early (signal 9)"):
            with self.subTest(signal=number):
                name = f"rec.{int(number)}"
                recorder = self.recorder(program, name=name)
                collector = self.recording(name)["collector"]["pid"]
                os.kill(collector, number)
                said = self.leave(recorder, lab.FAILED)
                self.assertTrue(words in said or "its collector was killed; what that had left" in said, said)
                if number == signal.SIGSTOP:
                    self.assertNotIn("lost 0", said)
                    os.kill(collector, signal.SIGCONT)
                    self.wait_for_end(name)
        self.end(program)

    def test_an_older_kernel(self):
        """Without close_range(2), which came with Linux 5.9 and which containers may forbid: what root has open is closed all the same."""
        program = self.begin(lab.PROGRAMS / "late", "-n", 1)
        secret = (self.place / "secret").open("w")
        self.addCleanup(secret.close)
        recorder = self.recorder(program, pass_fds=[secret.fileno()], preexec_fn=forbid_close_range)
        [tracer] = lab.children(recorder.pid)
        self.assertNotIn(secret.name, [os.readlink(path) for path in pathlib.Path(f"/proc/{tracer}/fd").iterdir()])
        self.assertIn("as it was", self.leave(recorder))
        self.end(program)

    def test_unreadable(self):
        """mallab's files are root's alone: its user is told what to do, and no directory stays."""
        program = self.begin(lab.PROGRAMS / "late", "-n", 1)
        home = self.place / "home"
        home.mkdir(mode=0o700)
        for name in ("mallab", "mallab-collect", "libmallab-late.so"):
            shutil.copy(lab.BUILD / name, home)
        said = lab.run([home / "mallab", "record", "--pid", program.pid, "-o", "rec"], cwd=self.place)
        self.assertEqual(said.returncode, 125)
        self.assertIn(f"user {self.owner}, whose program it is, cannot read libmallab-late.so: install mallab".encode(), said.stderr)
        self.assertFalse((self.place / "rec").exists())
        self.end(program)

    def test_hidden(self):
        """A program that its own user may not look into, as workers that have changed their user."""
        hide = "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"
        program = self.begin("/usr/bin/python3", "-S", "-c", hide + PYTHON)
        self.place.chmod(0o777)
        refused = self.mallab("record", "--pid", program.pid, "-o", "own", status=125, user=NOBODY, group=NOBODY, extra_groups=self.GROUPS)
        self.assertIn(b"may not be traced by its user", refused.stderr)
        self.assertIn("as it was", self.attach_for_calls(program))
        self.end(program)
