#!/usr/bin/env python3
"""What convert, info and ab say of recordings that are not all of what the program did: its collector was killed and the
program ran on, recording ended before it, was paused, its windows one by one. Said each time, in words and in JSON."""

import json
import os
import pathlib
import signal
import unittest

import lab
from test_control import Steps


def state_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return "gone"


def kill_collector(steps):
    collector = steps.json()["collector"]["pid"]
    os.kill(collector, signal.SIGKILL)
    lab.wait_for(lambda: state_of(collector) in ("Z", "gone"), "its death")
    return collector


class Killed(lab.Lab):
    def check_unknown(self, path, pid):
        """What is not known is not called nothing; a second look says the same."""
        for _ in range(2):
            info = self.info(path)
            self.assertIs(info["complete"], False)
            self.assertIs(info["lost_known"], False)
            self.assertIn(f"process {pid} ran on", info["incomplete_why"])
            text = self.mallab("info", path).stdout.decode()
            self.assertRegex(text, r"lost +not known")
            self.assertNotRegex(text, r"lost +nothing")
            report = self.mallab("convert", "--json", "-f", "-o", "out.wl", path)
            self.assertIn("the recording is not whole: its collector was killed", report.stderr.decode())
            told = json.loads(report.stdout)
            self.assertEqual((told["complete"], told["lost_known"]), (False, False))
            workload = self.info(self.place / "out.wl")
            self.assertEqual((workload["complete"], workload["lost_known"]), (False, False))

    def test_recovered_while_the_program_lives(self):
        steps = Steps(self)
        steps.do("take 100 1000")
        kill_collector(steps)
        said = self.mallab("convert", "-o", "first.wl", steps.directory).stderr.decode()
        self.assertIn("its collector was killed", said)
        steps.do("churn 200000 1000")  # nobody counts these
        steps.end()
        info = self.info(steps.directory)
        self.assertEqual(info["events_by_call"]["malloc"], 100)
        [process] = info["process_list"]
        self.assertEqual(process["ended"], "running")
        self.check_unknown(steps.directory, process["pid"])
        self.check_unknown(steps.directory / process["file"], process["pid"])  # also by itself

    def test_recovered_after_the_program(self):
        """What the program counted itself is known: there is nothing more."""
        steps = Steps(self)
        steps.do("take 100 1000")
        kill_collector(steps)
        steps.do("take 11 1000")
        steps.end()
        info = self.info(steps.directory)
        self.assertIs(info["lost_known"], True)
        self.assertEqual(info["events_by_call"]["malloc"] + sum(info["lost"].values()), 111)

    def test_a_dead_collector_that_nobody_waits_for(self):
        """Dead is dead, though its number still answers: what it left is written at once."""
        steps = Steps(self)
        steps.do("take 100 1000")
        steps.process.send_signal(signal.SIGSTOP)  # its parent, which waits for it
        try:
            collector = kill_collector(steps)
            self.mallab("convert", "-o", "out.wl", steps.directory)
            self.assertEqual(self.info(self.place / "out.wl")["ops"], 100)
            self.assertEqual(state_of(collector), "Z")
        finally:
            steps.process.send_signal(signal.SIGCONT)
        steps.end()


class Ended(lab.Lab):
    def test_before_the_program(self):
        for options, end in (((), True), (("--duration", "1s"), False)):
            with self.subTest(options=options):
                steps = Steps(self, *options, name="recording" + str(len(options)))
                steps.do("take 11 1000")
                if end:
                    steps.ask("--end")
                else:
                    lab.wait_for(lambda: "collector" not in steps.json(), "the end of recording")
                steps.do("take 13 1000")
                steps.end()
                info = self.info(steps.directory)
                self.assertEqual((info["complete"], info["lost_known"]), (False, True))
                self.assertRegex(info["incomplete_why"], r"recording ended after [\d.]+ s and process \d+ ran on")
                report = self.mallab("convert", "--json", "-f", "-o", "out.wl", steps.directory)
                self.assertIs(json.loads(report.stdout)["complete"], False)
                self.assertIn("recording ended after", report.stderr.decode())

    def test_with_it(self):
        steps = Steps(self)
        steps.do("take 11 1000")
        steps.end()
        self.assert_whole(self.info(steps.directory))
        self.assertNotIn("whole", self.mallab("convert", "-o", "out.wl", steps.directory).stderr.decode())


if __name__ == "__main__":
    lab.main()
