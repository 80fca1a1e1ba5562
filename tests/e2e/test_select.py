"""Choosing what to convert: sections of time, the first calls. Selections of everything are the whole, parts add up to it, each result
replays on every allocator, and the same choice gives the same bytes. On a recording of a threaded program made here."""
import json
import random
import subprocess
import sys

import lab

SEED = 20261121


class Selecting(lab.Lab):
    """A program of several threads, recorded."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        keeper = cls.keeper()
        cls.recording = keeper.record(lab.PROGRAMS / "told", 3000, 3, stdout=subprocess.DEVNULL)
        (cls.footprint,) = cls.recording.glob("*.fp")
        cls.whole = keeper.place / "whole.wl"
        keeper.mallab("convert", "-o", cls.whole, cls.footprint)
        cls.facts = keeper.info(cls.whole)
        cls.seen = keeper.info(cls.footprint)

    def make(self, *options, source, name="selected.wl", status=lab.DONE):
        """Convert with a selection; returns the workload's facts."""
        out = self.place / name
        self.mallab("convert", "--force", "-o", out, *options, source, status=status)
        return self.info(out) if status == lab.DONE else None

    def report(self, *options, source, name="selected.wl"):
        return self.answer("convert", "--json", "--quiet", "--force", "-o", name, *options, source)

    def digest(self, workload):
        return self.answer("replay", "--json", "-a", "none", workload)["digest"]

    def test_info_lists_the_threads(self):
        threads = self.seen["thread_list"]
        self.assertGreater(len(threads), 2)
        self.assertEqual(sum(thread["events"] for thread in threads), self.seen["events"])
        self.assertEqual([thread["main"] for thread in threads].count(True), 1)
        self.assertEqual(len(threads), self.facts["threads"])
        text = self.mallab("info", "--details", self.footprint).stdout.decode()
        for thread in threads[:3]:
            self.assertIn(str(thread["thread_id"]), text)

    def test_everything_is_the_whole(self):
        for options in (["--from-time", "0", "--to-time", "end"], ["--to-time", "100%"]):
            with self.subTest(options=options):
                self.make(*options, source=self.footprint)
                self.assertEqual((self.place / "selected.wl").read_bytes(), self.whole.read_bytes())

    def test_filters_that_leave_nothing_out_change_nothing(self):
        """The filters are there this time, and all passes through them."""
        for options in (["--to-time", "2d"], ["--head", str(self.seen["events"] + 1)]):
            with self.subTest(options=options):
                facts = self.make(*options, source=self.footprint)
                self.assertIsNotNone(facts["selection"])
                for key in ("ops", "threads", "live_peak_bytes", "live_end_bytes", "requested_bytes", "ops_by_call",
                            "duration_ns", "complete", "irregularities"):
                    self.assertEqual(facts[key], self.facts[key], key)
                self.assertEqual(self.digest(self.place / "selected.wl"), self.digest(self.whole))

    def test_sections_add_up(self):
        """Wherever it is cut: each call is in one section, and what is alive goes from one to the next."""
        rng = random.Random(SEED)
        print(f"seed {SEED}", file=sys.stderr)
        # Many, for on a busy machine most calls may be of a few moments.
        calls = rng.sample(range(100, self.seen["events"] - 100), 60)
        times = sorted({self.report("--head", str(n), source=self.footprint)["duration_ns"] for n in calls})
        self.assertGreater(len(times), 2)
        cuts = [0, *times[::len(times) // 8 + 1], None]
        events, before = 0, None
        for number, (begin, stop) in enumerate(zip(cuts, cuts[1:])):
            options = ["--from-time", f"{begin}ns"] if begin else []
            options += ["--to-time", f"{stop}ns"] if stop else []
            report = self.report(*options, source=self.footprint, name=f"part{number}.wl")
            events += report["events"]
            self.assertEqual(report["ops"] - report["inherited_objects"] + report["irregularities"]["failed_calls"],
                             report["events"])
            if before is not None:
                self.assertEqual(report["inherited_bytes"], before["live_end_bytes"])
                self.assertEqual(report["inherited_objects"], before["live_end_objects"])
            if stop:
                self.assertEqual(report["duration_ns"], stop - begin)
            self.assertEqual({n for n, count in report["irregularities"].items() if count} - {"failed_calls"}, set())
            before = report
        self.assertEqual(events, self.seen["events"])
        self.assertEqual(before["live_end_bytes"], self.facts["live_end_bytes"])
        self.replay_everywhere(self.place / "part1.wl")

    def test_ab_selects_and_says_so(self):
        out = self.place / "result.json"
        self.mallab("ab", "-q", "-a", "glibc", "-n", "1", "--seed", "1", "--head", "1000", "-o", out, self.footprint)
        (workload,) = json.loads(out.read_text())["workloads"]
        self.assertEqual(workload["selection"], "first 1000 calls")
        self.assertIn("first 1000 calls", self.mallab("report", out).stdout.decode())
        self.assertEqual(workload["ops"], self.report("--head", "1000", source=self.footprint)["ops"])
