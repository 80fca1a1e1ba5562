"""The main job: record, convert, replay interleaved, print the table; and the JSON that scripts rely on. The answer about a program: figures
beside the whole process, the allocator that it runs on as baseline, on one screen."""
import json
import os
import subprocess

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

    def test_a_failing_command_is_said_to_have_failed_and_still_measured(self):
        result = self.mallab("ab", "-n", 2, "-a", "glibc", "--", "sh", "-c", f"{lab.PROGRAMS}/repeat 50000; exit 7")
        self.assertIn("7", result.stderr.decode())
        self.assertIn("glibc", result.stdout.decode())


PYTHON = ("/usr/bin/python3", "-c", "data = [str(i) * 200 for i in range(20000)]; print(len(data))")


class Verdict(lab.Lab):
    def test_beside_the_whole_process(self):
        out = self.place / "result.json"
        told = self.mallab("ab", "-n", 2, "-o", out, "--", *PYTHON)
        result = json.loads(out.read_text())
        (workload,) = result["workloads"]
        process, share = workload["process"], workload["share"]
        self.assertEqual((workload["runs_on"]["name"], workload["runs_on"]["how"]), ("glibc", "libc"))
        cpu_ns = process["cpu_user_ns"] + process["cpu_system_ns"]
        self.assertGreater(cpu_ns, 0)
        base = workload["candidates"][0]
        steady = base["time"]["steady_ns_per_op"] * (workload["ops"] - workload["inherited_ops"])
        self.assertAlmostEqual(share["time"], steady / cpu_ns)
        self.assertLess(base["resident"]["peak_bytes"] / process["rss_peak_bytes"], share["memory"] + 1e-9)
        self.assertEqual(result["verdict"], workload["verdict"])
        self.assertNotEqual(result["verdict"]["time"]["answer"], "does_not_matter")
        screen = told.stdout.decode()
        self.assertLessEqual(len(screen.splitlines()), 14, screen)
        self.assertLessEqual(max(map(len, screen.splitlines())), 78, screen)
        self.assertIn(", on glibc", screen)
        self.assertIn(" CPU (", screen)
        self.assertNotIn("share is unknown", screen)
        # Shown again it is the same, but for what the verb takes more; details follow the screen.
        again = self.mallab("report", self.place / "result.json").stdout.decode()
        self.assertIn("\nmore  ", screen)
        self.assertEqual(again[:again.index("\nmore  ")], screen[:screen.index("\nmore  ")])
        details = self.mallab("report", "--details", self.place / "result.json").stdout.decode()
        self.assertTrue(details.startswith(screen[:screen.index("VERDICT")]))
        self.assertIn("95 % range", details)

    def test_ab_and_confirm_have_one_baseline(self):
        """A program that is linked with an allocator: that is its baseline, recorded or not, and its start is in all candidates."""
        known = {one["name"]: one for one in json.loads(self.mallab("allocators", "--json").stdout)["allocators"]}
        if not known["tcmalloc-minimal"]["found"]:
            self.skipTest("no tcmalloc-minimal")
        (self.place / "linked.c").write_text("#include <stdlib.h>\nint main(void) { for (int i = 1; i < 3000; i++) if (i % 3) free(malloc(i));"
                                             " else if (!malloc(i)) return 1; return 0; }\n")
        subprocess.run(["cc", "-O0", "-o", "linked", "linked.c", "-Wl,--no-as-needed", known["tcmalloc-minimal"]["library"]], cwd=self.place, check=True)
        recorded = json.loads(self.mallab("ab", "--json", "-n", 3, "-a", "glibc", "--", "./linked").stdout)
        confirmed = json.loads(self.mallab("confirm", "--json", "-n", 1, "-a", "glibc", "--", "./linked").stdout)
        self.assertEqual((recorded["baseline"], confirmed["baseline"]), ("tcmalloc-minimal", "tcmalloc-minimal"))
        (workload,) = recorded["workloads"]
        self.assertEqual(workload["runs_on"]["how"], "linked")
        starts = [one["resident"]["own_start_bytes"] for one in workload["candidates"]]
        self.assertGreaterEqual(starts[1], starts[0])
        self.assertEqual(json.loads(self.mallab("confirm", "--json", "-n", 1, "-a", "glibc,jemalloc", "--", "/usr/bin/true").stdout)["baseline"], "glibc")

    def test_the_baseline_is_what_it_runs_on(self):
        library = json.loads(self.mallab("allocators", "--json").stdout)
        (jemalloc,) = [one for one in library["allocators"] if one["name"] == "jemalloc"]
        if not jemalloc["found"]:
            self.skipTest("no jemalloc")
        env = {**os.environ, "LD_PRELOAD": jemalloc["library"]}
        recording = self.place / "preloaded"
        subprocess.run([lab.BUILD / "mallab", "record", "-q", "-o", recording, "--", *PYTHON], env=env, check=True,
                       stdout=subprocess.DEVNULL)
        for options, names, words in (((), None, b"runs on jemalloc: it is the baseline"), (("-a", "glibc"), ["jemalloc", "glibc"], b"it is"),
                                      (("-a", "glibc,jemalloc", "-b", "glibc"), ["glibc", "jemalloc"], None)):
            told = self.mallab("ab", "--json", "-n", 1, *options, recording)
            result = json.loads(told.stdout)
            found = [one["name"] for one in result["workloads"][0]["candidates"]]
            self.assertEqual(result["baseline"], found[0])
            self.assertEqual(found[0], names[0] if names else "jemalloc")
            self.assertEqual(found, names or found)
            self.assertIn(words or b"", told.stderr)
            self.assertEqual(words is not None, b"is the baseline" in told.stderr)

    def test_of_two_each_has_its_screen_and_none_is_the_results(self):
        (self.place / "trace.rep").write_text("1000\n2\n4\n1\na 0 100\na 1 200\nf 0\nf 1\n")
        for name in ("one.wl", "two.wl"):
            self.mallab("convert", "-q", "-o", self.place / name, self.place / "trace.rep")
        told = self.mallab("ab", "-q", "-n", 1, "-a", "glibc", "-o", self.place / "both.json", self.place / "one.wl", self.place / "two.wl")
        screen = told.stdout.decode()
        self.assertEqual(screen.count("VERDICT"), 2)
        self.assertEqual(screen.count("share is unknown: it was not recorded"), 2)
        self.assertIn("resolution  4 calls are too few", screen)
        both = json.loads((self.place / "both.json").read_text())
        self.assertNotIn("verdict", both)
        self.assertNotIn("fleet", both)  # nothing to compare
