"""What convert, info and ab say of recordings that are not all of what the program did: its collector was killed and the
program ran on, recording ended before it, was paused, its windows one by one. Said each time, in words and in JSON."""

import json
import os
import signal

import lab
from test_control import Steps


def kill_collector(steps):
    collector = steps.json()["collector"]["pid"]
    os.kill(collector, signal.SIGKILL)
    lab.wait_for(lambda: not lab.is_running(collector), "its death")
    return collector


class Killed(lab.Lab):

    def test_what_is_left_in_shared_memory_is_said(self):
        """With `mallab record` killed too nobody recovers it, until somebody asks for it."""
        steps = Steps(self)
        steps.do("take 100 1000")
        steps.process.kill()
        kill_collector(steps)
        for asked in (("info", steps.directory), ("top", "--once", steps.directory),
                      ("record", "--control", steps.directory, "--status")):
            result = self.mallab(*asked, status=None)
            said = " ".join((result.stdout + result.stderr).decode().split())
            self.assertRegex(said, "what it left in shared memory is written by 'mallab convert' and 'mallab ab'|"
                                   "'mallab convert' and 'ab' write what it left in shared memory", asked)
        self.assertIn("left in shared memory", self.mallab("top", "--once", steps.directory).stdout.decode())
        self.mallab("convert", "-o", "out.wl", steps.directory)
        self.assertEqual(self.info(self.place / "out.wl")["ops"], 100)
        self.assertNotIn("shared memory", self.mallab("info", steps.directory).stdout.decode())

    def test_a_dead_collector_that_nobody_waits_for(self):
        """Dead is dead, though its number still answers: what it left is written at once."""
        steps = Steps(self)
        steps.do("take 100 1000")
        lab.halt(steps.process.pid)  # its parent, which waits for it
        try:
            collector = kill_collector(steps)
            self.mallab("convert", "-o", "out.wl", steps.directory)
            self.assertEqual(self.info(self.place / "out.wl")["ops"], 100)
            self.assertEqual(lab.state_of(collector), "Z")
        finally:
            steps.process.send_signal(signal.SIGCONT)
        steps.end()


class OneWindow(lab.Lab):
    """What a window begins with is created before the clock starts: its figures are of what happened in it."""

    OLD, NEW = 20_000, 3_000

    def setUp(self):
        super().setUp()
        steps = Steps(self, "--window", "1h")
        steps.play(f"take {self.OLD} 1000", "--rotate", f"churn {self.NEW} 100")
        steps.end()
        self.footprint = steps.window(2)
        self.workload = self.convert(self.footprint)

    def test_a_run_times_only_what_was_recorded(self):
        for name, run in self.replay_everywhere(self.workload).items():
            with self.subTest(candidate=name):
                self.assertEqual((run["ops"], run["inherited_ops"]), (self.OLD + 2 * self.NEW, self.OLD))
                self.assertEqual(len(run["batch_ns"]), run["windows"])
                self.assertEqual(run["samples"]["live_bytes"][0], self.OLD * 1000)
                timed = sum(run["batch_ns"])
                self.assertAlmostEqual(run["whole_ns_per_op"] * 2 * self.NEW, timed, delta=run["windows"] + 0.01 * timed)
                if name != "none":  # old and new in memory, touched before: only that is not counted anew
                    self.assertGreater(run["resident"]["mean_bytes"], self.OLD * 900)
                    self.assertLess(run["faults_minor"], self.OLD * 1000 / 4096)

    def test_without_what_it_begins_with(self):
        self.mallab("convert", "-o", "without.wl", "--no-inherited", self.footprint)
        run = self.answer("replay", "--json", "without.wl")
        self.assertEqual((run["ops"], run["inherited_ops"]), (2 * self.NEW, 0))

    def test_of_a_selection(self):
        """A head counts such objects by themselves: they do not become a window each."""
        self.mallab("convert", "-o", "head.wl", "--head", "50", self.footprint)
        facts = self.info(self.place / "head.wl")
        run = self.answer("replay", "--json", "head.wl")
        self.assertEqual(run["inherited_ops"], facts["inherited_objects"])
        self.assertGreater(run["inherited_ops"], 1000)
        self.assertLess(run["inherited_ops"], run["ops"])
        self.assertLess(facts["windows"], 10)


class Kept(lab.Lab):
    def test_a_saved_table_says_what_the_recording_lacks(self):
        steps = Steps(self)
        steps.play("churn 30000 1000", "--end")
        steps.end()
        result = self.mallab("ab", "-n", 2, "-a", "glibc", "-o", "result.json", steps.directory)
        [workload] = json.loads((self.place / "result.json").read_text())["workloads"]
        self.assertEqual((workload["complete"], workload["lost_calls"], workload["lost_known"]), (False, 0, True))
        for text in (result, self.mallab("report", "result.json")):
            self.assertIn("recorded the recording is not whole: recording ended after",
                          " ".join(text.stdout.decode().split()))

    def test_memory_of_what_begins_in_the_middle(self):
        """The flight recorder does not know what was live before: no verdict on memory, however it is handed on."""
        steps = Steps(self, "--window", "1h", "--keep-windows", "1")
        steps.play("take 1000 3000", "--rotate", "take 100 1000", "drop 300")
        steps.ask("--status")  # writes what there is
        [running] = [one["ended"] for one in self.info(steps.directory)["process_list"]]
        self.assertEqual(running, "running")
        steps.play("--rotate", "take 100 1000", "drop 300")
        steps.end()
        info = self.info(steps.directory)
        self.assertEqual((info["live"], sum(info["lost"].values()), info["lost_known"]), ("from_middle", 0, True))
        self.assertEqual(info["events_removed"], steps.json()["events_removed"])
        self.assertRegex(self.mallab("info", steps.directory).stdout.decode(), r"\nlive +what was live .* lower bounds")
        self.mallab("convert", "-q", "-o", "out.wl", steps.directory)
        self.assertEqual(self.info(self.place / "out.wl")["live"], "from_middle")
        table = self.mallab("ab", "-q", "--details", "-n", 8, "-a", "glibc,glibc+tcache_count=0", "-o", "result.json", "out.wl").stdout
        [workload] = json.loads((self.place / "result.json").read_text())["workloads"]
        self.assertEqual((workload["live"], workload["lost_calls"]), ("from_middle", 0))
        self.assertEqual(workload["left_out_calls"], info["irregularities"]["unrecorded_objects"])
        self.assertGreater(workload["left_out_calls"], 0)
        self.assertEqual(workload["removed_calls"], info["events_removed"])
        words = " ".join(table.decode().split())
        self.assertIn("live bytes and resident memory are not exact: ", words)
        self.assertIn("memory: not known, the program had memory before recording began", words)
        self.assertIn(f"{info['events_removed']:,} calls were in windows that are removed", words)
