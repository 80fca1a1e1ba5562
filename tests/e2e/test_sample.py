#!/usr/bin/env python3
"""A recording of a sample of objects: whole lives or nothing, estimates that hold, and what is not claimed for it."""
import json
import math

import lab

SMALL, GROWN, LARGE, ONE_IN = 20000, 3000, 200, 8


class Sample(lab.Lab):
    @classmethod
    def setUpClass(cls):
        cls.lab = cls.keeper()
        cls.full = cls.lab.record(lab.PROGRAMS / "sampled", name="full")
        cls.recording = cls.lab.record(lab.PROGRAMS / "sampled", name="sample", options=("--sample", f"1/{ONE_IN}"))
        cls.workload = cls.lab.convert(cls.footprints(cls.recording)[0])

    def parent(self, recording):
        return self.info(self.footprints(recording)[0])

    @staticmethod
    def footprints(recording):
        return sorted(recording.glob("*.fp"), key=lambda path: int(path.stem.split(".")[-1].split("-")[0]))

    def test_an_object_is_there_for_its_whole_life(self):
        for path in self.footprints(self.recording):
            info = self.info(path)
            odd = {name: count for name, count in info["irregularities"].items() if count > 0}
            self.assertEqual(odd, {}, path)
            self.assertTrue(info["complete"])

    def test_large_ones_are_all_there_and_count_once(self):
        full, sample = self.parent(self.full), self.parent(self.recording)
        wanted = {row["from_bytes"]: row for row in full["sizes"] if row["from_bytes"] >= 16384}
        found = {row["from_bytes"]: row for row in sample["sizes"] if row["from_bytes"] >= 16384}
        self.assertEqual(found, wanted)
        self.assertGreaterEqual(sum(row["count"] for row in wanted.values()), LARGE + 2 * GROWN)

    def test_estimates_hold(self):
        full, sample = self.parent(self.full), self.parent(self.recording)
        self.assertEqual((full["one_in"], full["live_peak_error"], full["live"]), (1, 0, "known"))
        self.assertEqual((sample["one_in"], sample["live"]), (ONE_IN, "sampled"))
        self.assertGreater(sample["live_peak_error"], 0.001)
        self.assertLess(sample["live_peak_error"], 0.2)
        # The error is 1.96 sigma; 5 sigma are passed once in two million recordings. Objects as the binomial distribution has them.
        self.assertLess(abs(sample["live_peak_bytes"] / full["live_peak_bytes"] - 1), 5 / 1.96 * sample["live_peak_error"])
        for key in ("live_peak_objects", "events"):
            self.assertLess(abs(sample[key] / full[key] - 1), 5 * math.sqrt(ONE_IN / SMALL) + GROWN / full["events"], key)
        self.assertLess(sample["file_bytes"], full["file_bytes"])

    def test_a_child_knows_which_of_its_parents_objects_are_in_it(self):
        full, sample = self.info(self.footprints(self.full)[1]), self.info(self.footprints(self.recording)[1])
        self.assertLess(abs(sample["inherited_objects"] / full["inherited_objects"] - 1), 5 * math.sqrt(ONE_IN / SMALL))
        self.assertLess(sample["live_end_objects"], LARGE + 100)  # the large ones it leaves
        self.assertGreaterEqual(sample["events"], 0.9 * SMALL)

    def test_the_screens_say_so(self):
        self.assertRegex(self.mallab("info", self.footprints(self.recording)[0]).stdout.decode(), r"sample +about one small object in 8, and all of 16 KiB")
        self.assertIn("sample, about one small object in 8", self.mallab("top", "--once", self.recording).stdout.decode())
        self.assertEqual(json.loads(self.mallab("top", "--once", "--json", self.recording).stdout)["one_in"], ONE_IN)

    def test_a_workload_has_as_many_calls_and_ab_says_what_they_are(self):
        info, full = self.info(self.workload), self.parent(self.full)
        self.assertEqual((info["one_in"], info["live"]), (ONE_IN, "sampled"))
        self.assertLess(abs(info["ops"] / full["events"] - 1), 0.3)
        result = self.place / "r.json"
        self.mallab("ab", "-n", "2", "-a", "glibc", "-o", result, self.workload)
        workload = json.loads(result.read_text())["workloads"][0]
        self.assertEqual(workload["live"], "sampled")
        self.assertIn("sample of its objects", workload["trust"]["time"])

    def test_what_is_refused(self):
        for value in ("16", "1/0", "1/1025", "1/-2", "2/16", "1/16x", ""):
            self.mallab("record", "--sample", value, "--", "true", status=lab.MISUSE)
        self.mallab("record", "--sample", "1/16", "--sites", "--", "true", status=lab.MISUSE)


lab.main()
