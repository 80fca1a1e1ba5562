"""`mallab top` beside real programs: what the collector knows in its frames, its end with the recording's, and what is on
the terminal."""
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios

import lab
from test_control import Steps


class Recorded(Steps):
    """steps.c, which is being recorded."""

    def __init__(self, test, *options, threads=0):
        super().__init__(test, "--quiet", *options)
        for _ in range(threads):
            self.do("thread 1 100")
        self.take(1)

    def take(self, blocks):
        assert self.do(f"take {blocks} 100000") == "ok"


class Top(lab.Lab):
    def frame_of(self, directory):
        frame = self.answer("top", "--once", "--json", directory)
        self.assertEqual(frame["schema"], "mallab-top/1")
        return frame

    def frame(self):
        return self.frame_of("recording")

    def test_frames_show_what_the_program_does(self):
        program = Recorded(self, "--max-size", "1G", threads=3)
        before = self.frame()
        self.assertEqual((before["state"], before["ended"], before["answered"]), ("recording", False, True))
        self.assertEqual((before["processes"], before["processes_running"], before["pauses"]), (1, 1, 0))
        self.assertEqual((before["lost_calls"], before["lost_known"], before["max_size_bytes"]), (0, True, 1 << 30))
        self.assertEqual(before["interval_ns"], before["duration_ns"])
        self.assertGreater(before["collector_cpu_share"], 0)
        self.assertGreater(before["segment_bytes"], 0)
        for taken in (10, 50, 20):
            program.take(taken)
            frame = self.frame()  # all of it, although the program waits and has filled no chunk
            self.assertGreater(frame["events"], before["events"])
            [process] = frame["process_list"]
            self.assertEqual((process["name"], process["running"], process["threads"]), ("steps", True, 4))
            self.assertEqual((process["events"], process["bytes"]), (frame["events"], frame["bytes"]))
            before = frame
        program.end()
        last, info = self.frame(), self.info("recording")
        self.assertEqual((last["state"], last["ended"], last["processes_running"]), ("ended", True, 0))
        self.assertEqual((last["answered"], last["lost_known"], last["complete"]), (None, True, True))
        self.assertEqual((last["events"], last["bytes"]), (info["events"], info["file_bytes"]))
        self.assertIsNone(last["process_list"][0]["rss_bytes"])

    def test_it_follows_to_the_end(self):
        program = Recorded(self)
        top = subprocess.Popen([str(lab.BUILD / "mallab"), "top", "--json", "--interval", "100ms", "--count", "600",
                                "recording"], cwd=self.place, stdout=subprocess.PIPE)
        frames = [json.loads(top.stdout.readline())]
        program.take(40)
        while frames[-1]["events"] < frames[0]["events"] + 40:
            frames.append(json.loads(top.stdout.readline()))
        program.end()
        frames += [json.loads(line) for line in top.stdout]
        top.stdout.close()
        self.assertEqual(top.wait(lab.PATIENCE_S), 0)
        self.assertEqual([frame["ended"] for frame in frames], [False] * (len(frames) - 1) + [True])
        for one, other in zip(frames, frames[1:]):
            self.assertEqual(other["interval_ns"], other["duration_ns"] - one["duration_ns"])
            calls = other["events"] - one["events"]
            self.assertAlmostEqual(other["events_per_s"], calls * 1e9 / other["interval_ns"], delta=1)
            self.assertAlmostEqual(other["process_list"][0]["events_per_s"], other["events_per_s"], delta=1)
        self.assertEqual(frames[-1]["events"], self.info("recording")["events"])

    def test_the_busiest_first(self):
        """Those that run before those that have ended, though they called most."""
        churn = lab.BUILD / "tests" / "shim" / "shim_churn"
        record = subprocess.Popen([str(lab.BUILD / "mallab"), "record", "--quiet", "-o", "recording", "--", "sh", "-c",
                                   f"{churn} 1000; {churn} 5000; echo ready; cat; true"], cwd=self.place,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with record:
            self.assertEqual(record.stdout.readline(), b"ready\n")
            rows = self.frame()["process_list"]
            self.assertIn(("sh", True), [(row["name"], row["running"]) for row in rows])
            self.assertEqual([row["running"] for row in rows], [True] * (len(rows) - 2) + [False, False])
            self.assertEqual([(row["name"], row["events"]) for row in rows[-2:]], [("shim_churn", 10000), ("shim_churn", 2000)])
            record.stdin.close()
            self.assertEqual(record.wait(lab.PATIENCE_S), 0)

    def test_windows_are_one_process(self):
        program = Recorded(self, "--window", "1h", "--keep-windows", "1")
        program.take(25)
        before = self.frame()
        self.mallab("record", "--control", "recording", "--rotate")
        program.take(50)
        frame = self.frame()
        self.assertEqual((frame["processes"], frame["windows"], frame["windows_removed"]), (1, 2, 1))
        self.assertGreaterEqual(frame["events_removed"], before["events"])
        self.assertEqual(frame["process_list"][0]["events"], frame["events"] + frame["events_removed"])
        self.assertRegex(self.mallab("top", "recording").stdout.decode(), r"^recording after .*, window 2: ")

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
        """The frames on it: each fits, and the cursor is below the last."""
        clear = b"\x1b[H\x1b[J"
        self.assertTrue(seen.startswith(clear), seen[:40])
        self.assertTrue(seen.endswith(b"\r\n"), seen[-40:])
        frames = seen.decode()[len(clear):].split(clear.decode())
        for frame in frames:
            lines = frame.split("\r\n")
            self.assertLessEqual(sum(1 + len(line) // 80 for line in lines), 24)
            self.assertNotIn("\x1b", frame)
        return frames

    def test_ctrl_c_ends_it(self):
        program = Recorded(self)
        top, terminal = self.on_terminal("--interval", "100ms")
        seen = b""
        while seen.count(b"\x1b[H") < 3 or not seen.endswith(b"\r\n"):
            seen += os.read(terminal, 65536)
        top.send_signal(signal.SIGINT)
        self.assertEqual(top.wait(lab.PATIENCE_S), -signal.SIGINT)
        self.assertRegex(self.check_screen(seen)[0], "^recording after ")
        program.take(1)  # and the recording went on

    def test_the_last_frame_on_a_terminal_says_so(self):
        program = Recorded(self)
        top, terminal = self.on_terminal("--interval", "100ms")
        seen = os.read(terminal, 65536)
        program.end()
        seen += self.read_all(terminal)
        self.assertEqual(top.wait(lab.PATIENCE_S), 0)
        self.assertRegex(self.check_screen(seen)[-1], "^the recording has ended after ")

    def test_a_collector_that_does_not_answer(self):
        program = Recorded(self)
        program.take(5)
        collector = self.frame()["collector_pid"]
        lab.halt(collector)
        try:
            frame = self.frame()
            self.assertEqual((frame["answered"], frame["lost_known"], frame["ended"]), (False, False, False))
            self.assertIn(f"the collector ({collector}) does not answer: this is what it wrote last",
                          self.mallab("top", "--once", "recording").stdout.decode())
        finally:
            os.kill(collector, signal.SIGCONT)
        lab.wait_for(lambda: self.frame()["answered"], "its answer")
        self.assertIs(self.frame()["lost_known"], True)
