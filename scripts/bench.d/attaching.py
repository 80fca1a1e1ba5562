"""Programs that run are attached to and left, again and again, at full allocation rate and also by a mallab that is killed: harm
to any of them, and for how long a thread of theirs stood still: as mallab tells, and as they see it themselves, by a thread that
sleeps for a millisecond at a time (servers: by their longest answer), beside as long a time without mallab."""
import contextlib
import http.client
import mmap
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import threading
import time

from programs import MALLAB, end_with_us, environment

KILLED = 10  # one round of so many
ALONE_S = 0.3  # about as long as a round
PATIENCE_S = 120
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

PYTHON = """
import json, mmap, os, re, signal, struct, sys, threading, time
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
sys.setswitchinterval(0.0005)
with open(sys.argv[1], "r+b") as file:
    gap = mmap.mmap(file.fileno(), 8)
def watch():
    last = time.monotonic_ns()
    while not stop:
        time.sleep(0.001)
        now = time.monotonic_ns()
        if now - last > struct.unpack("Q", gap)[0]:
            gap[:] = struct.pack("Q", now - last)
        last = now
def turn():
    while not stop:
        made = {str(i): [i] * (i % 50) for i in range(200)}
        text = json.dumps(made)
        if json.loads(text) != made or len(re.findall(r'"[0-9]+"', text)) != 200:
            os._exit(9)
threads = [threading.Thread(target=one) for one in (watch, turn, turn, turn)]
for thread in threads:
    thread.start()
print("ready", flush=True)
for thread in threads:
    thread.join()
print("fine")
"""
NODE = """
const zlib = require("zlib"), plain = Buffer.alloc(50000, "abcdefg");
let stop = false;
process.on("SIGTERM", () => { stop = true; });
console.log("ready");
(function turn() {
    const made = Array.from({length: 200}, (_, i) => Buffer.allocUnsafeSlow(5000 + i).fill(i & 255));
    if (!made.every((one, i) => one.length === 5000 + i && one[i] === (i & 255))) process.exit(9);
    zlib.deflate(plain, (error, packed) => {
        if (error || !zlib.inflateSync(packed).equals(plain)) process.exit(9);
        if (stop) { console.log("fine"); process.exit(0); }
        setImmediate(turn);
    });
})();
"""
JAVA = """
import java.nio.ByteBuffer;
import java.util.zip.*;
public class Turns {
    static volatile boolean stop;
    static void turn() {
        byte[] plain = new byte[20000], back = new byte[20000], packed = new byte[30000];
        for (int round = 0; !stop; round++) {
            for (int i = 0; i < plain.length; i++) plain[i] = (byte) (i * round);
            Deflater deflater = new Deflater(); deflater.setInput(plain); deflater.finish();
            int size = deflater.deflate(packed); deflater.end();
            Inflater inflater = new Inflater(); inflater.setInput(packed, 0, size);
            try { inflater.inflate(back); } catch (DataFormatException e) { Runtime.getRuntime().halt(9); }
            inflater.end();
            if (!java.util.Arrays.equals(plain, back)) Runtime.getRuntime().halt(9);
        }
    }
    public static void main(String[] none) throws Exception {
        Thread[] threads = new Thread[4];
        for (int i = 0; i < 4; i++) (threads[i] = new Thread(Turns::turn)).start();
        System.out.println("ready");
        while (System.in.read() >= 0) {}
        stop = true;
        for (Thread thread : threads) thread.join();
        System.out.println("fine");
    }
}
"""
CXX = """
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>
#include <fcntl.h>
#include <sys/mman.h>
static std::atomic<bool> stop;
static void watch(std::atomic<unsigned long> *gap)
{
    for (auto last = std::chrono::steady_clock::now(); !stop;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const auto now = std::chrono::steady_clock::now();
        const unsigned long ns = std::chrono::nanoseconds(now - last).count();
        if (ns > *gap)
            *gap = ns;
        last = now;
    }
}
static void turn(unsigned number, std::chrono::milliseconds rest)
{
    std::map<unsigned, std::string> own;
    for (; !stop; std::this_thread::sleep_for(rest))
        for (unsigned i = 0; i < 300; i++) {
            own[i % 64] = std::string(16 + (i * number) % 900, static_cast<char>('a' + i % 26));
            const auto &other = own[i * 7 % 64];
            if (!other.empty() && other.find_first_not_of(other[0]) != std::string::npos)
                std::_Exit(9);
            if (i % 50 == 0)
                own.clear();
        }
}
int main(int, char **argv)
{
    std::signal(SIGTERM, [](int) { stop = true; });
    std::vector<std::thread> threads;
    threads.emplace_back(watch, static_cast<std::atomic<unsigned long> *>(
        mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, open(argv[2], O_RDWR), 0)));
    for (unsigned i = 0; i < 64; i++)
        threads.emplace_back(turn, i + 1, std::chrono::milliseconds(std::atoi(argv[1])));
    std::puts("ready");
    std::fflush(stdout);
    for (auto &thread : threads)
        thread.join();
    std::puts("fine");
}
"""


class Program:
    """One that checks itself: it ends with 9 where something has changed, and says `fine` at its end."""

    def __init__(self, *command, by_input=False, watched=None):
        self.by_input, self.harm, self.gap = by_input, None, None
        if watched: # where the program notes the longest time in which its watching thread did not run
            watched.write_bytes(bytes(8))
            with open(watched, "r+b") as file:
                self.gap = mmap.mmap(file.fileno(), 8)
            command += (watched,)
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env=environment(), preexec_fn=end_with_us)
        if self.process.stdout.readline() != b"ready\n":
            raise SystemExit(f"bench: {command[0]} did not begin")
        self.pid = self.process.pid

    def longest(self):
        """The longest stop in ms since it was last asked; None: it does not watch."""
        if self.gap is None:
            return None
        ns, self.gap[:] = struct.unpack("Q", self.gap)[0], bytes(8)
        return ns / 1e6

    def harmed(self):
        return f"ended with {self.process.returncode}" if self.process.poll() is not None else self.harm

    def close(self):
        """Whatever has come of it, it does not outlive us."""
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def end(self):
        if not self.by_input:
            self.process.send_signal(signal.SIGTERM)
        try:
            said = self.process.communicate(timeout=PATIENCE_S)[0]
        except subprocess.TimeoutExpired:
            return "hangs at its end"
        return None if self.process.returncode == 0 and said == b"fine\n" else f"ended with {self.process.returncode}, {said[-300:]}"


class Server(Program):
    """One that answers: a thread of ours asks without a pause and holds each answer against what it has to be."""

    def __init__(self, command, port, find_pid=None, **settings):
        self.harm, self.port, self.over, self.asked, self.worst = None, port, threading.Event(), 0, 0
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        preexec_fn=end_with_us, **settings)
        while True:
            if self.process.poll() is not None:
                raise SystemExit(f"bench: {command[0]} did not begin")
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        self.pid = find_pid(self.process.pid) if find_pid else self.process.pid
        self.client = threading.Thread(target=self.run, daemon=True)
        self.client.start()

    def longest(self):
        worst, self.worst = self.worst, 0
        return worst

    def run(self):
        last = time.perf_counter()
        try:
            for self.asked, _ in enumerate(self.answers()):
                now = time.perf_counter()
                self.worst, last = max(self.worst, (now - last) * 1e3), now
                if self.over.is_set():
                    return
        except Exception as problem:
            self.harm = f"answers: {problem!r}"

    def end(self):
        self.over.set()
        self.client.join(PATIENCE_S)
        hangs = self.client.is_alive() and "hangs"
        self.process.terminate()
        self.process.wait()
        return self.harm or hangs or None


class Redis(Server):
    def answers(self):
        count, link = 0, socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)
        answers = link.makefile("rb")
        while True:
            value = b"%d" % count * (1 + count % 300)
            link.sendall(b"INCR count\r\nSET k%d %s\r\nGET k%d\r\n" % (count % 500, value, count % 500))
            count += 1
            got = [answers.readline() for _ in range(4)]
            if got != [b":%d\r\n" % count, b"+OK\r\n", b"$%d\r\n" % len(value), value + b"\r\n"]:
                raise ValueError(got)
            yield


class Nginx(Server):
    def answers(self):
        page = "/" + "x" * 50
        while True:
            link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
            for _ in range(50):
                link.request("GET", page, headers={"Accept-Encoding": "gzip"})
                answer = link.getresponse()
                if (answer.status, answer.read()) != (200, b"fine" * 500):
                    raise ValueError(answer.status)
                yield
            link.close()


class Database(Server):
    """A client asks the same all the time. What is attached to is the process that answers it."""

    def __init__(self, client, query, expected, *started, which=None, **settings):
        self.words, self.query, self.expected, self.which = [str(word) for word in client], query, expected, which
        super().__init__(*started, **settings)
        while not self.asked and not self.harmed():
            time.sleep(0.05)

    def answers(self):
        with subprocess.Popen(self.words, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              preexec_fn=end_with_us) as client:
            def ask(query):
                client.stdin.write(query + ";\n")
                client.stdin.flush()
                return client.stdout.readline().split()
            if self.which:
                self.pid = int(ask(self.which)[0])
            while not self.over.is_set():
                got = ask(self.query)
                if got != self.expected:
                    raise ValueError(got)
                yield
            client.stdin.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def child_of(pid):
    while True:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if children:
            return int(children[0])
        time.sleep(0.05)


class Attaching:
    def __init__(self, report, workshop, rounds, only):
        self.report, self.workshop, self.rounds, self.only = report, workshop, rounds, only
        self.chance = random.Random(1)

    def redis(self):
        return Redis(["redis-server", "--port", port := free_port(), "--save", "", "--dir", self.workshop.place], port)

    def place_of(self, name):
        """A directory of the server's own user; returns it and with which settings a process is that user's."""
        self.workshop.place.chmod(0o711)
        place = self.workshop.fresh(name)
        place.mkdir()
        if os.geteuid() != 0:
            return place, {"cwd": "/"}
        shutil.chown(place, name, name)
        return place, {"cwd": "/", "user": name, "group": name, "extra_groups": []}

    def make(self, command, settings):
        made = subprocess.run(command, capture_output=True, text=True, **settings)
        if made.returncode != 0:
            raise SystemExit(f"bench: {command[0]}: {made.stderr}")

    def postgres(self):
        (place, settings), port = self.place_of("postgres"), free_port()
        self.make(["initdb", "-D", place, "-A", "trust", "-U", "postgres"], settings)
        return Database(["psql", "-qAtX", "-F", " ", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "postgres"],
                        "select count(*), sum(length(repeat(md5(i::text), 20))), count(distinct i % 70) from generate_series(1, 300) i",
                        ["300", "192000", "70"], ["postgres", "-D", place, "-p", port, "-k", place, "-h", "127.0.0.1"], port,
                        which="select pg_backend_pid()", stderr=subprocess.DEVNULL, **settings)

    def mariadbd(self):
        (place, settings), port = self.place_of("mysql"), free_port()
        self.make(["mariadb-install-db", "--no-defaults", f"--datadir={place}", "--auth-root-authentication-method=normal"], settings)
        return Database(["mariadb", "--no-defaults", "-NBn", "-h", "127.0.0.1", "-P", port, "-u", "root"],
                        "select count(*), sum(length(repeat(md5(seq), 20))), count(distinct seq % 70) from mysql.seq_1_to_300",
                        ["300", "192000", "70"],
                        ["mariadbd", "--no-defaults", f"--datadir={place}", f"--port={port}", f"--socket={place}/s", "--bind-address=127.0.0.1"], port,
                        stderr=subprocess.DEVNULL, **settings)

    def python(self):
        return Program("/usr/bin/python3", "-S", "-c", PYTHON, watched=self.workshop.place / "gap")

    def node(self):
        return Program("node", "-e", NODE)

    def nginx(self):
        place, port = self.workshop.fresh("nginx"), free_port()
        place.mkdir()
        user = "user root;" if os.geteuid() == 0 else ""
        (place / "nginx.conf").write_text(
            f"{user} daemon off; pid {place}/pid; error_log {place}/log; worker_processes 2; events {{ }} http {{ access_log off; "
            + "".join(f"{name}_temp_path {place}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
            + f' server {{ listen 127.0.0.1:{port}; location / {{ return 200 "{"fine" * 500}"; }} }} }}')
        return Nginx(["nginx", "-p", place, "-c", place / "nginx.conf"], port, child_of)

    def java(self):
        place = self.workshop.place
        (place / "Turns.java").write_text(JAVA)
        subprocess.run(["javac", "-d", place, place / "Turns.java"], check=True)
        return Program("java", "-Xmx64m", "-cp", place, "Turns", by_input=True)

    def threads(self, rest_ms=0):
        place = self.workshop.place
        (place / "threads.cc").write_text(CXX)
        subprocess.run(["c++", "-O1", "-pthread", "-o", place / "threads", place / "threads.cc"], check=True)
        return Program(place / "threads", rest_ms, watched=place / "gap")

    def resting(self):
        """As many threads on a machine that is not overloaded: each rests after each turn."""
        return self.threads(20)

    def attach(self, program, *options):
        """Returns (whether it was recorded and left, what was said)."""
        directory = self.workshop.fresh("rec")
        recorder = subprocess.run([MALLAB, "record", "--pid", str(program.pid), "-o", directory, *options], env=environment(),
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=end_with_us)
        shutil.rmtree(directory, ignore_errors=True)
        return recorder.returncode == 0, recorder.stderr

    def kill(self, program):
        """A mallab that is killed at some moment; its collector is asked to end what goes on."""
        directory = self.workshop.fresh("rec")
        victim = subprocess.Popen([MALLAB, "record", "--quiet", "--pid", str(program.pid), "-o", directory, "--duration", "100ms"],
                                  env=environment(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=end_with_us)
        time.sleep(self.chance.random() * 0.5)
        victim.kill()
        victim.wait()
        if directory.exists():
            subprocess.run([MALLAB, "record", "--control", directory, "--end"], env=environment(), capture_output=True)
            shutil.rmtree(directory, ignore_errors=True)

    def turns(self, name, program):
        stops, seen, alone, refusals, killed, left = [], [], [], {}, 0, 0
        harm = None
        for number in range(self.rounds):
            program.longest()
            time.sleep(ALONE_S)
            alone.append(program.longest())
            if number % KILLED == KILLED - 1:
                self.kill(program)
                killed += 1
            else:
                done, said = self.attach(program, "--duration", "10ms", *(["--sites"] if number % 3 == 2 else []))
                left += done
                if not done:
                    reason = re.sub(r"\d+", "N", said.strip().splitlines()[-1])
                    refusals[reason] = refusals.get(reason, 0) + 1
                for size, unit in re.findall(r"stood still (?:for|was) ([\d.]+) (\w+)", said)[-1:]:
                    stops.append(float(size) * NS[unit] / 1e6)
            seen.append(program.longest())
            harm = program.harmed()
            if harm:
                break
        harm = harm or program.end()
        self.report.say(f"  {name:8} {number + 1:6} {left:6} {killed:6} {sum(refusals.values()):7}  {'HARMED: ' + harm if harm else 'none':10} "
                        f"{statistics.median(stops):7.1f} {max(stops):7.1f}" + (f"   {statistics.median(seen):7.1f} {max(seen):7.1f}"
                        f"   {statistics.median(alone):7.1f} {max(alone):7.1f}" if None not in seen + alone else "") + (f"  of {program.asked} answers" if hasattr(program, "asked") else ""))
        for reason, count in refusals.items():
            self.report.say(f"    {count} x {reason}")
        self.report.keep(f"{name}/stop", stops, "ms", 100)
        return harm is None

    def all(self):
        self.report.say("\nattached to and left: rounds, of which left as it was, with mallab killed, refused; harm; stop in ms: median, most; "
                        "as the program sees it; the same where nobody attaches")
        fine = True
        for name in ("redis", "postgres", "mariadbd", "python", "node", "nginx", "java", "resting", "threads"):
            needs = {"python": "/usr/bin/python3", "redis": "redis-server", "resting": "c++", "threads": "c++"}.get(name, name)
            if (not self.only or name in self.only) and shutil.which(needs):
                with contextlib.closing(getattr(self, name)()) as program:
                    fine = self.turns(name, program) and fine
        if not fine:
            raise SystemExit("bench: a program was harmed")
