"""The main job: record, convert, replay interleaved, print the table; and the JSON that scripts rely on."""
import json

import lab

MACHINE = ("kernel", "cpus", "libc")
TIME = ("steady_ns_per_op", "ratio", "ratio_low", "ratio_high", "verdict")
RESIDENT = ("peak_bytes", "mean_bytes", "end_bytes", "idle_bytes")
VERDICTS = ("faster", "slower", "same", "undecided")


class Ab(lab.Lab):
    def check_result(self, result, rounds):
        self.assertEqual(result["baseline"], "glibc")
        self.assertEqual(result["rounds"], rounds)
        self.assertIn("seed", result)
        for key in MACHINE:
            self.assertTrue(result["machine"][key])
        (workload,) = result["workloads"]
        self.assertTrue(workload["name"])
        self.assertTrue(workload["digest"])
        self.assertGreater(workload["ops"], 100_000)
        found = {candidate["name"] for candidate in workload["candidates"]}
        self.assertLessEqual(set(lab.candidates()), found)
        for candidate in workload["candidates"]:
            with self.subTest(candidate=candidate["name"]):
                self.assertTrue(candidate["version"])
                self.assertTrue(candidate["library"])
                for key in TIME:
                    self.assertIn(key, candidate["time"])
                # Fewer than 8 rounds print no verdict.
                self.assertIn(candidate["time"]["verdict"], VERDICTS)
                for key in RESIDENT:
                    self.assertIn(key, candidate["resident"])
                self.assertGreaterEqual(candidate["resident"]["peak_bytes"], candidate["resident"]["end_bytes"])
                # A time run and a memory run are separate passes: each round has at least the one.
                self.assertGreaterEqual(len(candidate["runs"]), rounds)
        return workload

    def test_a_command_from_start_to_table(self):
        """One command line: every step that is missing is done; nothing is left but what was asked for."""
        result = self.mallab("ab", "-n", 2, "-o", "result.json", "--", lab.PROGRAMS / "repeat", 60_000)
        table = result.stdout.decode()
        self.assertIn("done", table + result.stderr.decode())  # the command's own output is not swallowed
        for name in lab.candidates():
            self.assertIn(name, table)
        self.check_result(json.loads((self.place / "result.json").read_text()), 2)
        shown = self.mallab("report", "result.json").stdout.decode()
        for name in lab.candidates():
            self.assertIn(name, shown)
        self.assertEqual(self.mallab("report", "--json", "result.json").stdout, (self.place / "result.json").read_bytes())

    def test_json_of_a_workload(self):
        workload = self.convert(self.record(lab.PROGRAMS / "repeat", 60_000, stdout=lab.subprocess.DEVNULL))
        result = self.answer("ab", "-n", 2, "--json", workload)
        first = self.check_result(result, 2)
        again = self.answer("ab", "-n", 1, "-a", "glibc", "--json", workload)["workloads"][0]
        self.assertEqual(first["digest"], again["digest"])

    def test_a_failing_command_is_said_to_have_failed_and_still_measured(self):
        result = self.mallab("ab", "-n", 2, "-a", "glibc", "--", "sh", "-c", f"{lab.PROGRAMS}/repeat 50000; exit 7")
        self.assertIn("7", result.stderr.decode())
        self.assertIn("glibc", result.stdout.decode())
