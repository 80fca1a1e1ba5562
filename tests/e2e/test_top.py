#!/usr/bin/env python3
"""`mallab top` beside real programs: its frames against what the program says it has made, its end with the recording's,
and the terminal as it was."""
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import unittest

import lab

PYTHON = "/usr/bin/python3"

# Keeps as many blocks of 100,000 bytes as it is told, says so, and makes THREADS threads that do no more than wait.
PROGRAM = """
import sys, threading
kept, done = [], threading.Event()
threads = [threading.Thread(target=done.wait) for _ in range(int(sys.argv[1]))]
[t.start() for t in threads]
print("ready", flush=True)
for line in sys.stdin:
    number = int(line)
    while len(kept) < number:
        kept.append(bytearray(100_000))
    del kept[number:]
    print(len(kept), flush=True)
done.set()
"""


class Recorded:
    """A program that is being recorded, and does what it is told."""

    def __init__(self, test, *options, threads=0):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLAB_") and k != "LD_PRELOAD"}
        environment["PYTHONMALLOC"] = "malloc"
        self.directory = test.place / "recording"
        self.process = subprocess.Popen(
            [str(lab.BUILD / "mallab"), "record", "--quiet", "-o", str(self.directory), *options, "--", PYTHON, "-c",
             PROGRAM, str(threads)], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        test.addCleanup(self.end)
        assert self.process.stdout.readline() == b"ready\n"

    def keep(self, blocks):
        self.process.stdin.write(b"%d\n" % blocks)
        self.process.stdin.flush()
        assert int(self.process.stdout.readline()) == blocks

    def end(self):
        if self.process.stdin.closed:
            return
        self.process.stdin.close()
        self.process.wait(lab.PATIENCE_S)
        self.process.stdout.close()


def blocks_of(frame):
    """Objects and bytes of the class in which the program's blocks are."""
    return next(((size["live_objects"], size["live_bytes"]) for size in frame["sizes"] if size["from_bytes"] == 65536),
                (0, 0))


@unittest.skipUnless(os.access(PYTHON, os.X_OK), f"no {PYTHON}")
class Top(lab.Lab):
    def frame(self, *options):
        frame = self.answer("top", "--once", "--json", *options, "recording")
        self.assertEqual(frame["schema"], "mallab-top/1")
        return frame

    def test_frames_show_what_the_program_has_made(self):
        program = Recorded(self, threads=3)
        before = self.frame()
        self.assertEqual((before["state"], before["ended"]), ("recording", False))
        self.assertEqual((before["processes"], before["processes_running"]), (1, 1))
        self.assertEqual((before["threads"], before["threads_running"]), (4, 4))
        self.assertEqual(before["program"], "python3")
        self.assertGreater(before["ring"]["chunks_most"], 0)
        self.assertEqual(sum(before["lost"].values()), 0)
        objects, _ = blocks_of(before)
        for kept in (10, 50, 20):
            program.keep(kept)
            frame = self.frame()  # all of it, although the program waits and has filled no chunk
            now, size = blocks_of(frame)
            self.assertEqual(now - objects, kept)
            self.assertGreaterEqual(size, kept * 100_000)
            self.assertGreater(frame["events"], before["events"])
            self.assertEqual(frame["events"], sum(call["count"] for call in frame["calls"]))
            self.assertEqual(frame["events"], sum(thread["events"] for thread in frame["thread_list"]))
            self.assertGreaterEqual(frame["live_peak_bytes"], frame["live_bytes"])
        program.end()
        last, info = self.frame(), self.info("recording")
        self.assertEqual((last["state"], last["ended"], last["processes_running"]), ("finished", True, 0))
        self.assertEqual(last["events"], info["events"])
        self.assertEqual(last["threads"], info["threads"])
        self.assertEqual(last["bytes"], info["file_bytes"])
        self.assertEqual(last["live_objects"], 0)
        self.assertEqual(last["left_objects"], info["live_end_objects"])
        self.assertLess(abs(last["left_bytes"] - info["live_end_bytes"]), 1000)
        self.assertEqual({call["call"]: call["count"] for call in last["calls"]}, info["events_by_call"])

    def test_one_thread_exactly(self):
        program = Recorded(self)
        program.keep(30)
        program.end()
        last, info = self.frame(), self.info("recording")
        for one, other in (("left_bytes", "live_end_bytes"), ("left_objects", "live_end_objects"),
                           ("live_peak_bytes", "live_peak_bytes"), ("live_peak_objects", "live_peak_objects"),
                           ("events", "events")):
            self.assertEqual(last[one], info[other], one)

    def test_it_follows_to_the_end(self):
        program = Recorded(self)
        top = subprocess.Popen([str(lab.BUILD / "mallab"), "top", "--json", "--interval", "100ms", "--count", "600",
                                "recording"], cwd=self.place, stdout=subprocess.PIPE)
        frames = [json.loads(top.stdout.readline())]
        objects, _ = blocks_of(frames[0])
        program.keep(40)
        while blocks_of(frames[-1])[0] != objects + 40:
            frames.append(json.loads(top.stdout.readline()))
        self.assertGreater(frames[-1]["events_per_s"], 0)
        program.end()
        frames += [json.loads(line) for line in top.stdout]
        top.stdout.close()
        self.assertEqual(top.wait(lab.PATIENCE_S), 0)
        self.assertEqual([frame["ended"] for frame in frames], [False] * (len(frames) - 1) + [True])
        for one, other in zip(frames, frames[1:]):
            self.assertGreaterEqual(other["events"], one["events"])
            self.assertGreater(other["interval_ns"], 0)
        self.assertEqual(frames[-1]["events"], self.info("recording")["events"])

    def test_windows_are_one_process(self):
        program = Recorded(self, "--window", "1s", "--keep", "1")
        top = subprocess.Popen([str(lab.BUILD / "mallab"), "top", "--json", "--interval", "100ms", "--count", "600",
                                "recording"], cwd=self.place, stdout=subprocess.PIPE)
        frame = json.loads(top.stdout.readline())
        objects, _ = blocks_of(frame)
        program.keep(25)
        kept = 25
        while not any(path.name.endswith(".w0003.fp") for path in (self.place / "recording").iterdir()):
            kept += 1
            program.keep(kept)
            frame = json.loads(top.stdout.readline())
        while blocks_of(frame)[0] != objects + kept:
            frame = json.loads(top.stdout.readline())
        self.assertEqual(frame["processes"], 1)
        self.assertEqual(frame["processes_running"], 1)
        self.assertFalse(frame["ended"])
        program.end()
        lines = top.stdout.readlines()
        top.stdout.close()
        self.assertEqual(top.wait(lab.PATIENCE_S), 0)
        self.assertTrue(json.loads(lines[-1])["ended"])

    def on_terminal(self, *options):
        """mallab top on a terminal of 24 lines: (process, the terminal's other end)."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        top = subprocess.Popen([str(lab.BUILD / "mallab"), "top", *options, "recording"], cwd=self.place, stdin=theirs,
                               stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"}, start_new_session=True)
        os.close(theirs)
        self.addCleanup(os.close, ours)
        return top, ours

    def read_all(self, terminal):
        seen = b""
        while True:
            try:
                more = os.read(terminal, 65536)
            except OSError:  # the last one has closed it
                return seen
            if not more:
                return seen
            seen += more

    def check_screen(self, seen):
        """The frames on it: each fits, and the terminal is on a line of its own behind the last."""
        self.assertTrue(seen.startswith(b"\x1b[H"), seen[:40])
        self.assertTrue(seen.endswith(b"\x1b[J\r\n"), seen[-40:])
        frames = seen.decode()[len("\x1b[H"):-len("\r\n")].split("\x1b[H")
        for frame in frames:
            self.assertTrue(frame.endswith("\x1b[K\x1b[J"))
            lines = re.sub(r"\x1b\[[KJ]", "", frame).split("\r\n")
            self.assertLessEqual(len(lines), 24)
            self.assertLessEqual(max(map(len, lines)), 80)
            self.assertIn("python3: ", lines[0])
        return frames

    def test_ctrl_c_leaves_the_terminal_as_it_was(self):
        program = Recorded(self)
        top, terminal = self.on_terminal("--interval", "100ms")
        seen = b""
        while seen.count(b"\x1b[H") < 3:
            seen += os.read(terminal, 65536)
        top.send_signal(signal.SIGINT)
        seen += self.read_all(terminal)
        self.assertEqual(top.wait(lab.PATIENCE_S), 0)
        self.assertIn("python3: recording", self.check_screen(seen)[-1])
        program.keep(1)  # and the recording went on

    def test_keys_sort_and_quit(self):
        Recorded(self)
        fresh = pty.openpty()
        before = termios.tcgetattr(fresh[1])
        for end in fresh:
            os.close(end)
        top, terminal = self.on_terminal("--interval", "1h")
        seen = os.read(terminal, 65536)
        os.write(terminal, b"s")
        while seen.count(b"\x1b[H") < 2:  # at once, not after an hour
            seen += os.read(terminal, 65536)
        self.assertFalse(termios.tcgetattr(terminal)[3] & (termios.ECHO | termios.ICANON))
        os.write(terminal, b"xq")
        seen += self.read_all(terminal)
        self.assertEqual(top.wait(lab.PATIENCE_S), 0)
        self.check_screen(seen)
        self.assertEqual(termios.tcgetattr(terminal)[3], before[3])

    def test_the_last_frame_on_a_terminal_says_so(self):
        program = Recorded(self)
        top, terminal = self.on_terminal("--interval", "100ms")
        seen = os.read(terminal, 65536)
        program.end()
        seen += self.read_all(terminal)
        self.assertEqual(top.wait(lab.PATIENCE_S), 0)
        self.assertIn("python3: finished", self.check_screen(seen)[-1])

    def test_who_runs_on_has_not_ended(self):
        program = Recorded(self)
        program.keep(30)
        self.mallab("record", "--control", "recording", "--end")
        frame = self.frame()
        self.assertEqual((frame["state"], frame["processes_running"], frame["left_objects"]), ("finished", 1, 0))
        self.assertGreaterEqual(blocks_of(frame)[0], 30)
        text = self.mallab("top", "--once", "recording").stdout.decode()
        self.assertIn("1 ran on, 1 in all", text)
        self.assertNotIn("left ", text)

    def test_a_collector_that_does_not_answer(self):
        program = Recorded(self)
        program.keep(5)
        collector = self.frame()["collector_pid"]
        lab.halt(collector)
        try:
            frame = self.frame()
            self.assertEqual((frame["answered"], frame["lost_known"], frame["ring"]), (False, False, None))
            text = self.mallab("top", "--once", "recording").stdout.decode()
            self.assertIn(f"the collector ({collector}) does not answer", text)
            self.assertRegex(text, "lost +not told")
        finally:
            os.kill(collector, signal.SIGCONT)
        lab.wait_for(lambda: self.frame()["answered"], "its answer")
        self.assertIs(self.frame()["lost_known"], True)

    def test_what_a_pause_makes_inexact(self):
        program = Recorded(self)
        self.assertIsNone(self.frame()["live_inexact_why"])
        self.mallab("record", "--control", "recording", "--stop")
        program.keep(5)
        self.assertIn("pause", self.frame()["live_inexact_why"])
        self.mallab("record", "--control", "recording", "--start")
        self.assertIn("live is inexact", self.mallab("top", "--once", "recording").stdout.decode())

    def test_what_a_day_would_come_to(self):
        """After ten seconds."""
        said = self.mallab("record", "-o", "out", "--", "sleep", "10").stderr
        self.assertRegex(said, rb"bytes each, at this rate [0-9.]+ .B a day, written to out; lost 0")
        self.assertRegex(self.mallab("top", "out").stdout, rb"B a call, at this rate [0-9.]+ .B a day\n")

    def test_what_is_no_directory(self):
        program = Recorded(self)
        program.keep(1)
        program.end()
        footprint = next((self.place / "recording").glob("*.fp"))
        for path in (footprint, self.convert(self.place / "recording")):
            self.assert_one_line(self.mallab("top", path, status=lab.BAD_INPUT), path, "mallab info")

    def test_a_dead_collector_ends_it(self):
        program = Recorded(self)
        program.keep(5)
        collector = self.frame()["collector_pid"]
        os.kill(collector, signal.SIGKILL)
        frame = self.frame()
        while not frame["ended"]:
            frame = self.frame()
        self.assertEqual((frame["state"], frame["lost_known"]), ("ended_early", False))
        self.assertEqual(frame["processes_running"], 1)
        self.assertRegex(self.mallab("top", "recording").stdout.decode(), "lost +not known")
        self.assertGreater(frame["events"], 0)


if __name__ == "__main__":
    lab.main()
