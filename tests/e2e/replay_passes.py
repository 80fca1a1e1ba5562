"""The passes besides time: every call counted by its latency; and no figure of one pass in another."""
import json
import math

import lab

class Passes(lab.Lab):
    def setUp(self):
        super().setUp()
        self.many = self.made(12, 30_000, 5, 100)

    def replay(self, name, *arguments, before=(), **settings):
        return lab.run([*before, lab.BUILD / f"mallab-replay-{name}", *arguments], **settings)

    def run_json(self, name, *arguments, **settings):
        result = self.replay(name, "--json", *arguments, **settings)
        self.assertEqual(result.returncode, lab.DONE, result.stderr)
        return json.loads(result.stdout)

    def test_latency_counts_every_call(self):
        for how in ([], ["--threads", "1"]):
            run = self.run_json("glibc", "--latency", *how, self.many)
            latency = run["latency"]
            self.assertEqual((run["pass"], run["whole_ns_per_op"], run["batch_ns"], run["allocator_ns"]),
                             ("latency", None, None, None))
            self.assertEqual(latency["count"], run["ops"])
            for groups in ("by_call", "by_size_class", "by_call_and_size_class"):
                self.assertEqual(sum(group["count"] for group in latency[groups]), run["ops"], groups)
            calls = {group["call"]: group for group in latency["by_call"]}
            for call, group in calls.items():
                pairs = [pair for pair in latency["by_call_and_size_class"] if pair["call"] == call]
                self.assertEqual(sum(pair["count"] for pair in pairs), group["count"])
                self.assertLessEqual(max(pair["max_ns"] for pair in pairs), latency["max_ns"])
                mean = sum(pair["mean_ns"] * pair["count"] for pair in pairs) / group["count"]
                self.assertAlmostEqual(mean, group["mean_ns"], delta=0.001 * (1 + mean))
            self.assertIn("malloc", calls)
            self.assertGreater(latency["clock_cost_ns"], 0)

    def test_passes_on_the_recorded_clock(self):
        """Ops run in steps then; and what comes after the last of them, the rest and the proof of settings, is no part
        of the pass."""
        digest = self.run_json("glibc", self.many)["digest"]
        for name in lab.candidates():
            for how, name_of_pass in ([], "memory"), (["--latency"], "latency"), (["--promises"], "check"):
                if (name, name_of_pass) == ("mimalloc", "check"):
                    continue  # it breaks a promise: test_broken.py
                with self.subTest(candidate=name, run=name_of_pass):
                    run = self.run_json(name, *how, "--clock", "recorded", "--idle-ms", 5000, self.many)
                    self.assertEqual((run["pass"], run["allocator_clock"], run["digest"], run["whole_ns_per_op"]),
                                     (name_of_pass, "recorded", digest, None))
                    if run["latency"]:
                        self.assertEqual(run["latency"]["count"], run["ops"])
        run = self.answer("replay", "--json", "--latency", "-a", "glibc+mmap", self.many)
        self.assertEqual(run["latency"]["count"], run["ops"])

    def test_longest_window(self):
        """A window is the furthest that a thread can be ahead of another in recorded time."""
        run = self.run_json("glibc", self.many)
        times = run["samples"]["time_ns"]
        gaps = [after - before for before, after in zip([0] + times, times)]
        self.assertGreater(run["window_max_ns"], 0)
        self.assertLessEqual(run["window_max_ns"], max(gaps))

    def test_ab(self):
        """Both passes behind the rounds: medians of passes, nothing of them in the rounds."""
        result = self.mallab("ab", "-a", "glibc", "-n", 2, "--latency", "--json", self.many)
        answer = json.loads(result.stdout)
        workload = answer["workloads"][0]
        glibc = workload["candidates"][0]
        self.assertEqual(len(glibc["runs"]), 2)
        self.assertTrue(all(run["pass"] == "time" for run in glibc["runs"]))
        latency = glibc["latency"]
        self.assertEqual((latency["passes"], len(latency["runs"])), (3, 3))
        self.assertEqual(latency["count"], workload["ops"])
        control = workload["control"]["latency"]  # what the baseline's percentiles differ by from themselves
        self.assertEqual((control["passes"], control["count"]), (3, workload["ops"]))
        for name in ("p99", "p99_9"):
            ratios = [one[f"{name}_ns"] / other[f"{name}_ns"] for one, other in zip(control["runs"], latency["runs"])]
            self.assertAlmostEqual(control[f"{name}_ratio"], math.prod(ratios) ** (1 / 3))
            self.assertNotIn(f"{name}_ratio", latency)
        for disturbance in answer["disturbances"]:
            self.assertTrue(disturbance["text"] and disturbance["remedy"])
