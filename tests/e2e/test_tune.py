#!/usr/bin/env python3
"""mallab tune: it finds the setting that helps and confirms it with fresh rounds, says when none does, drops what does not take
effect, and prints what it has when it is stopped. Budgets are upper bounds: searches as small as these end before."""

import json
import shlex
import signal
import subprocess
import sys

import lab
import schema

INI = """[allocator]
name = {name}
replay = glibc
library = libc.so.6
proof = glibc
"""


class Tune(lab.Lab):
    def setUp(self):
        super().setUp()
        self.workload = self.place / "one.wl"
        lab.run([lab.PROGRAMS / "replay_workload", self.workload, 1, 20_000, 5]).check_returncode()
        if b"san." in lab.run([lab.BUILD / "mallab-replay-glibc", self.workload]).stderr:
            self.skipTest("a sanitizer stands in for the allocators of this build")

    def allocator(self, ranges, name="glibc"):
        """A directory with one candidate; what to put into the environment."""
        directory = self.place / "allocators"
        directory.mkdir(exist_ok=True)
        (directory / f"{name}.ini").write_text(INI.format(name=name) + (f"[ranges]\n{ranges}" if ranges else ""))
        return {"env": {"MALLAB_ALLOCATORS": str(directory)}}

    def test_what_helps_is_found_confirmed_and_pasted(self):
        """Without thread caches this workload's peak is a sixth lower. arenamax is misspelt: it must not pass for tried."""
        settings = self.allocator("tcache_count = 0, 7\narena_max = 1, 4\narenamax = 1\n")
        result = self.answer("tune", "--json", "-q", "--seed", "3", "--budget", "40s", "-o", "kept.json", self.workload,
                             **settings)
        self.assertEqual(json.loads((self.place / "kept.json").read_text()), result)
        if schema.jsonschema:
            self.assertEqual(schema.faults("mallab-experiment-1", result), [])
        tune = result["tune"]
        self.assertIs(tune["confirmed"], True)
        self.assertEqual((tune["memory"], tune["default"], tune["declared"]), ("peak", "glibc", 5))

        found = [row for row in tune["front"] if row["settings"].get("tcache_count") == "0"]
        self.assertTrue(found, tune["front"])
        row = found[0]
        self.assertEqual(row["memory"]["verdict"], "less")
        self.assertLess(row["memory"]["ratio_high"], 1)
        self.assertLess(row["memory"]["p"], tune["p_needed"])

        points = {point["name"]: point for point in tune["points"]}
        self.assertEqual(sum(tune["counts"].values()), len(points))
        failed = [name for name, point in points.items() if point["state"] == "failed"]
        self.assertEqual(failed, ["glibc+arenamax=1"])
        self.assertIn("arenamax", points["glibc+arenamax=1"]["failed"])
        for name, point in points.items():
            if point["state"] not in ("failed", "untried"):
                self.assertTrue(point["time_ratios"] and point["memory_ratios"], name)

        # The confirmation is an ordinary experiment of its own rounds: default, finalists, control.
        workload = result["workloads"][0]
        rows = tune["front"] + tune["beaten"]
        self.assertGreaterEqual(workload["rounds"], 10)
        self.assertEqual(workload["rounds"], tune["confirmation_rounds"])
        self.assertEqual({one["name"] for one in workload["candidates"]}, {one["name"] for one in rows})
        for candidate in workload["candidates"]:
            self.assertEqual(len(candidate["runs"]), workload["rounds"])
            self.assertEqual(len(candidate["memory_runs"]), 5)
            self.assertEqual(candidate["environment"],
                             next(one["environment"] for one in rows if one["name"] == candidate["name"]))

        # What is printed to paste is what ran, and another run with it proves it.
        self.assertEqual(dict(word.split("=", 1) for word in shlex.split(row["paste"])), row["environment"])
        proof = self.answer("replay", "--json", "-a", row["name"], self.workload, **settings)["proof"]
        self.assertEqual(proof["settings"]["glibc.malloc.tcache_count"]["found"], "0")
        # Nothing to paste whose time the machine's noise hid: by this workload's interval it may be a slow-down.
        shown = self.mallab("report", "kept.json").stdout.decode()
        document = self.mallab("report", "--format", "md", "kept.json").stdout.decode()
        if row["time"]["verdict"] in ("faster", "slower") or row["time"]["ratio_high"] <= 1.05:
            self.assertIn(row["paste"], shown)
            self.assertRegex(" ".join(shown.split()), "[Tt]ry glibc\\+")
            self.assertIn(f"```sh\n{row['paste']}\n```", document)
        else:
            self.assertNotIn(f"    {row['paste']}\n", shown)
            self.assertNotIn(f"```sh\n{row['paste']}\n```", document)
            self.assertRegex(" ".join(shown.split()), "time is not known|[Tt]ry glibc\\+")
        self.assertIn("| settings | time against glibc | 95 % range | verdict |", document)
        self.assertRegex(document, r"(?m)^- tried: \d+ settings and combinations")
        self.assertIn("ns/op", self.mallab("report", "--format", "md", "--details", "kept.json").stdout.decode())
        self.assertLessEqual(max(map(len, shown.replace(row["paste"], "").splitlines())), 100)
        self.assertIn("glibc", self.mallab("report", "--format", "csv", "kept.json").stdout.decode())

    def test_where_nothing_helps_the_default_stays(self):
        """One thread has one arena, whatever the limit. By design one search of twenty may claim otherwise: hence two."""
        settings = self.allocator("arena_max = 8, 16\n")
        for seed in (1, 2):
            result = self.mallab("tune", "-q", "--seed", seed, "--budget", "40s", "-o", f"{seed}.json", self.workload, **settings)
            tune = json.loads((self.place / f"{seed}.json").read_text())["tune"]
            self.assertIs(tune["confirmed"], True)
            if [row["name"] for row in tune["front"]] == ["glibc"]:
                self.assertIn("Stay with glibc as it is", result.stdout.decode())
                self.assertNotIn("to paste", result.stdout.decode())
                return
        self.fail("a setting without effect was called better twice")

    def interrupted(self, lines, settings):
        """What a search prints that is interrupted behind so many lines of progress about single settings, each of another heat."""
        process = subprocess.Popen(
            [lab.BUILD / "mallab", "tune", "--progress", "--budget", "10m", "-o", "cut.json", str(self.workload)],
            cwd=self.place, env={"PATH": "/usr/bin:/bin", **settings["env"]}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        for line in process.stderr:
            lines -= b"single settings" in line
            if lines == 0:
                break
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=lab.PATIENCE_S)
        return process.returncode, shown.decode(), said.decode()

    def test_an_interrupt_prints_what_there_is(self):
        settings = self.allocator("tcache_count = 0..400 step 4\n")
        code, shown, said = self.interrupted(1, settings)
        if "before anything was compared" in said:  # a busy machine: it is the first heat's; behind another line that is over
            code, shown, said = self.interrupted(2, settings)
        self.assertEqual(code, -signal.SIGINT, said)
        self.assertIn("not confirmed", shown)
        self.assertNotIn("Try ", shown)
        self.assertNotIn("to paste", shown)
        self.assertNotIn("GLIBC_TUNABLES=", shown)
        tune = json.loads((self.place / "cut.json").read_text())["tune"]
        self.assertEqual((tune["confirmed"], tune["stopped"]), (False, True))
        self.assertEqual({row["time"]["verdict"] for row in tune["front"]}, {"undecided"})
        self.assertIn("not confirmed", self.mallab("report", "cut.json").stdout.decode())
        document = self.mallab("report", "--format", "md", "cut.json").stdout.decode()
        self.assertIn("not confirmed", document)
        self.assertNotIn("```", document)

    def test_a_workload_without_time_has_memory_of_its_timed_runs(self):
        ops = "".join(f"a {i} {(i * 37) % 3000 + 1}\n" for i in range(2000)) + "".join(f"f {i}\n" for i in range(2000))
        (self.place / "lab.rep").write_text(f"8000000\n2000\n4000\n1\n{ops}")
        settings = self.allocator("tcache_count = 0\n")
        result = self.answer("tune", "--json", "-q", "--budget", "40s", "lab.rep", **settings)
        self.assertIs(result["tune"]["confirmed"], True)
        self.assertEqual(result["workloads"][0]["memory_rounds"], 0)
        self.assertGreater(result["tune"]["front"][0]["memory"]["bytes"], 0)
        said = self.mallab("tune", "-q", "--memory", "idle", "lab.rep", status=lab.FAILED, **settings)
        self.assert_one_line(said, "lab.rep", "no recorded time", "--memory peak")

    def test_memory_that_is_a_bound_is_claimed_nothing_of(self):
        """What was live when the recording begins is not known: `ab` gives no verdict on memory then, nor does a search."""
        held = "import os; held = [bytes(100000) for _ in range(100)]; os._exit(0)"
        recording = self.record(sys.executable, "-c", held)
        text = self.place / "held.txt"
        self.mallab("convert", "-q", "--to", "text", "-o", text, recording)
        text.write_text(text.read_text().replace("note complete=yes\n", "note complete=yes\nnote live=from_middle\n"))
        self.mallab("convert", "-q", "-o", "left.wl", text)
        settings = self.allocator("tcache_count = 0\nmmap_threshold = 4096\n")
        shown = self.mallab("tune", "-q", "--seed", "3", "--budget", "40s", "-o", "left.json", "left.wl", **settings).stdout.decode()
        self.assertRegex(" ".join(shown.split()), "live +what was live when the recording begins .* lower bounds")
        tune = json.loads((self.place / "left.json").read_text())["tune"]
        self.assertIs(tune["confirmed"], True)
        self.assertEqual(tune["workload"]["live"], "from_middle")
        self.assertEqual({row["memory"]["verdict"] for row in tune["front"] + tune["beaten"] if not row["is_default"]} - {"undecided", None}, set())
        self.assertIn("- live: what was live", self.mallab("report", "--format", "md", "left.json").stdout.decode())

    def test_a_command_is_recorded_first(self):
        self.allocator("tcache_count = 0\n")
        result = self.answer("tune", "--json", "-q", "--budget", "40s", "--", lab.PROGRAMS / "repeat", "2000",
                             **self.allocator("tcache_count = 0\n"))
        self.assertEqual(result["tune"]["workload"]["program"], "repeat")

    def test_refusals(self):
        settings = self.allocator("tcache_count = 0, 7\n")
        self.allocator("", name="plain")
        for arguments, fragment in (
                (["-a", "plain", self.workload], "declares no settings to try"),
                (["-a", "unheard", self.workload], "unheard"),
                (["--budget", "soon", self.workload], "--budget takes a time of a week at most"),
                (["--memory", "all", self.workload], "'peak', 'mean', 'end' or 'idle'"),
                ([self.workload, self.workload], "one workload at a time"),
                ([self.workload, "--", "true"], "one workload at a time"),
                ([], "nothing to replay")):
            with self.subTest(arguments=arguments):
                said = self.mallab("tune", *arguments, status=lab.MISUSE, **settings)
                self.assertEqual(said.stdout, b"")
                self.assertIn(fragment, said.stderr.decode())
        said = self.mallab("tune", "-q", "--budget", "20ms", self.workload, status=lab.FAILED, **settings)
        self.assert_one_line(said, "the budget is too short", "--budget")
        (self.place / "bad.wl").write_bytes(self.workload.read_bytes()[:100])
        self.mallab("tune", "-q", "bad.wl", status=lab.BAD_INPUT, **settings)
        (self.place / "there.json").write_text("{}")
        said = self.mallab("tune", "-q", "-o", "there.json", self.workload, status=lab.FAILED, **settings)
        self.assert_one_line(said, "there.json")


if __name__ == "__main__":
    lab.main()
