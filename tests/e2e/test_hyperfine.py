#!/usr/bin/env python3
"""Whole processes by hyperfine: every round of every candidate in the result, the same samples in a file of hyperfine's own
form, a line with --details; hyperfine that is absent is told before any work, one that answers nonsense is told at the end."""
import json
import os
import shutil
import statistics
import subprocess

import lab

ROUNDS = 3
QUICK = ("-q", "-n", str(ROUNDS), "--memory-rounds", "0", "--no-syscalls", "-a", "glibc,glibc+nocache")


@lab.needs("hyperfine", "sqlite3")
class Hyperfine(lab.Lab):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        keeper = cls.keeper()
        recording = keeper.record("sqlite3", ":memory:", "create table t(a); insert into t values (1),(2);")
        cls.workload = keeper.convert(recording)

    def own_form(self):
        """What hyperfine itself writes for two runs with a parameter."""
        subprocess.run(["hyperfine", "-N", "--runs", "2", "--export-json", "own.json", "-L", "candidate", "true", "{candidate}"],
                       cwd=self.place, check=True, capture_output=True)
        return json.loads((self.place / "own.json").read_text())

    def test_samples_and_export(self):
        table = self.mallab("ab", *QUICK, "--details", "--hyperfine=times.json", "-o", "result.json", self.workload).stdout
        self.assertIn(b"processes   whole replays by hyperfine", table)
        result = json.loads((self.place / "result.json").read_text())
        (workload,) = result["workloads"]
        self.assertNotIn("whole_process", workload["control"])
        entries = workload["candidates"] + [workload["floor"]]
        export = json.loads((self.place / "times.json").read_text())
        self.assertEqual([one["command"] for one in export["results"]], [entry["name"] for entry in entries])
        form = self.own_form()
        self.assertEqual(list(export), list(form))
        for entry, one in zip(entries, export["results"]):
            with self.subTest(candidate=entry["name"]):
                self.assertEqual({key: type(value) for key, value in one.items()},
                                 {key: type(value) for key, value in form["results"][0].items()})
                whole = entry["whole_process"]
                self.assertIsNone(whole["failed"])
                self.assertEqual(whole["exit_codes"], [0] * ROUNDS)
                for key in ("wall_ns", "user_ns", "system_ns"):
                    self.assertEqual(len(whole[key]), ROUNDS)
                for seconds, ns in zip(one["times"], whole["wall_ns"]):
                    self.assertAlmostEqual(seconds, ns / 1e9, places=9)
                self.assertAlmostEqual(one["mean"], statistics.mean(one["times"]))
                self.assertAlmostEqual(one["stddev"], statistics.stdev(one["times"]))
                self.assertAlmostEqual(one["median"], statistics.median(one["times"]))
                self.assertEqual((one["min"], one["max"]), (min(one["times"]), max(one["times"])))
                self.assertAlmostEqual(one["user"], statistics.mean(whole["user_ns"]) / 1e9)
                self.assertAlmostEqual(one["system"], statistics.mean(whole["system_ns"]) / 1e9)
                self.assertEqual(one["parameters"], {"candidate": entry["name"], "workload": workload["name"]})
        baseline, other, floor = (entry["whole_process"] for entry in entries)
        ratios = [mine / base for mine, base in zip(other["wall_ns"], baseline["wall_ns"])]
        self.assertAlmostEqual(other["ratio"], statistics.median(ratios), places=6)
        self.assertLessEqual(other["ratio_low"], other["ratio"])
        self.assertNotIn("ratio", baseline)
        self.assertNotIn("ratio", floor)
        shown = self.mallab("report", "--details", "result.json").stdout
        self.assertEqual(shown.decode().count("processes   whole replays"), 1)

    def test_not_asked_for(self):
        result = self.answer("ab", *QUICK, "--json", self.workload)
        self.assertNotIn("whole_process", result["workloads"][0]["candidates"][0])

    def test_absent(self):
        result = self.mallab("ab", *QUICK, "--hyperfine", "-o", "result.json", self.workload, status=lab.FAILED,
                             env={"PATH": "/nonexistent"})
        self.assert_one_line(result, "apt-get install hyperfine")
        self.assertEqual(os.listdir(self.place), [])

    def test_file_exists(self):
        (self.place / "times.json").write_text("mine")
        result = self.mallab("ab", *QUICK, "--hyperfine=times.json", self.workload, status=lab.FAILED)
        self.assert_one_line(result, "times.json", "--force")
        self.assertEqual((self.place / "times.json").read_text(), "mine")
        self.mallab("ab", *QUICK, "--hyperfine=", self.workload, status=lab.MISUSE)

    def test_nonsense(self):
        """A hyperfine that writes what is none of its results: our own figures stand, the file is not written."""
        tools = self.place / "tools"
        tools.mkdir()
        fake = tools / "hyperfine"
        fake.write_text('#!/bin/sh\nwhile [ "$1" != --export-json ]; do shift; done\necho "{\\"results\\": [{}]}" >"$2"\n')
        fake.chmod(0o755)
        result = self.mallab("ab", *QUICK, "--details", "--hyperfine=times.json", "-o", "result.json", self.workload,
                             status=lab.FAILED, env={"PATH": f"{tools}:{os.environ['PATH']}"})
        lines = result.stderr.decode().splitlines()
        self.assertEqual(len(lines), 4, lines)  # each candidate, the floor, and the file
        self.assertTrue(all("failed: hyperfine's result is not what" in line for line in lines[:3]), lines)
        self.assertIn("'times.json' is not written", lines[3])
        self.assertIn(b"processes   whole replays", result.stdout)
        self.assertFalse((self.place / "times.json").exists())
        kept = json.loads((self.place / "result.json").read_text())["workloads"][0]["candidates"][0]
        self.assertEqual(kept["whole_process"]["rounds"], 0)
        self.assertGreater(kept["time"]["typical_ns_per_op"], 0)
        shutil.rmtree(tools)


if __name__ == "__main__":
    lab.main()
