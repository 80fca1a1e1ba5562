"""Where resident memory goes: the parts add up, come from the allocator, and are null where it does not tell. Large objects that a program
uses in part are noted when they go and at the end, carried through every format, and a replay is as large as the program was."""

import lab

PARTS = ("live_bytes", "rounding_bytes", "cached_bytes", "metadata_bytes", "rest_bytes")
STATISTICS = {"glibc": "uordblks", "jemalloc": "stats.allocated", "tcmalloc": "generic.current_allocated_bytes",
              "mimalloc": "current_commit"}


class Waste(lab.Lab):
    def setUp(self):
        super().setUp()
        self.workload = self.made(8, 60_000, 31, 500)

    def test_parts(self):
        for name in lab.candidates():
            run = self.answer("replay", "--json", "-a", name, self.workload)
            for moment, sample in run["waste"].items():
                with self.subTest(candidate=name, moment=moment):
                    self.assertEqual(sum(sample[part] or 0 for part in PARTS), sample["resident_bytes"])
                    self.assertEqual(sample["rounding_bytes"], sample["usable_bytes"] - sample["live_bytes"])
                    self.assertGreater(sample["rounding_bytes"], 0)
                    self.assertGreaterEqual(sample["huge_page_bytes"], 0)
                    self.assertGreater(sample["allocator_bytes"][STATISTICS[name]], 0)
                    self.assertEqual(sample["cached_bytes"] is None, name == "mimalloc")
            end, peak = run["waste"]["end"], run["waste"]["peak"]
            # The live figures are the workload's, counted twice: by the converter and here.
            self.assertEqual(end["live_bytes"], run["live_end_bytes"])
            self.assertEqual(end["ops"], run["ops"])
            self.assertEqual(end["resident_bytes"], run["resident"]["end_bytes"])
            index = run["samples"]["time_ns"].index(peak["time_ns"])
            self.assertLessEqual(peak["live_bytes"], run["live_peak_bytes"])
            self.assertIn(peak["live_bytes"], run["samples"]["live_bytes"][index:])
            self.assertEqual(peak["live_bytes"], max(run["samples"]["live_bytes"]))

    def test_a_small_heap_has_no_negative_parts(self):
        """Memory that an allocator had free before the first call is handed out later: what it has cached is not known then."""
        small = self.made(1, 300, 31, 40, name="small.wl")
        # On the recorded clock windows are replayed in slices, and a sample is of whole windows all the same.
        for name, clock in [(name, clock) for name in lab.candidates() for clock in ("real", "recorded")]:
            for moment, sample in self.answer("replay", "--json", "-a", name, "--clock", clock, small)["waste"].items():
                with self.subTest(candidate=name, moment=moment, clock=clock):
                    for part in ("rounding_bytes", "cached_bytes", "metadata_bytes"):
                        self.assertGreaterEqual(sample[part] or 0, 0, part)
                    self.assertEqual(sum(sample[part] or 0 for part in PARTS), sample["resident_bytes"])

    def test_the_allocator_agrees(self):
        """What jemalloc and tcmalloc count as allocated is at least what the live objects take."""
        for name in ("jemalloc", "tcmalloc"):
            if name not in lab.candidates():
                continue
            for sample in self.answer("replay", "--json", "-a", name, self.workload)["waste"].values():
                self.assertGreaterEqual(sample["allocator_bytes"][STATISTICS[name]], sample["usable_bytes"])

    def test_not_where_nobody_asks(self):
        self.assertIsNone(self.answer("replay", "--json", "-a", "none", self.workload)["waste"])
        self.assertIsNone(self.answer("replay", "--json", "--promises", "-a", "glibc", self.workload)["waste"])


MIB = 1 << 20
TRULY = 6 * MIB + 4000 * 112  # 4 of one buffer, 2 of the kept one, small objects


class Sparse(lab.Lab):
    @classmethod
    def setUpClass(cls):
        cls.lab = cls.keeper()
        cls.recording = cls.lab.record(lab.PROGRAMS / "parts", "half", 3)
        cls.workload = cls.lab.convert(cls.recording)

    def peak(self, workload, candidate="glibc"):
        return self.answer("replay", "-a", candidate, "--json", workload)["resident"]["peak_bytes"]

    def test_shares_are_known_of_all(self):
        for path in (self.recording, self.workload):
            info = self.info(path)
            self.assertEqual(info["large_objects"], 4)
            self.assertEqual(info["large_noted"], 4)
            self.assertEqual(info["large_noted_bytes"], 40 * MIB)
            # A page more or less where an object begins amid one, and shares are in 256th parts.
            self.assertAlmostEqual(info["large_resident_bytes"] / MIB, 14, delta=0.5)
        self.assertRegex(self.mallab("info", "--details", self.recording).stdout.decode(), r"large objects +4 of 64 KiB and more; known of 4")

    def test_a_replay_is_as_large_as_the_program_was(self):
        for candidate in [name for name in lab.candidates() if name in ("glibc", "jemalloc", "tcmalloc", "mimalloc")]:
            with self.subTest(candidate=candidate):
                self.assertAlmostEqual(self.peak(self.workload, candidate=candidate) / TRULY, 1, delta=0.35)
        self.assertAlmostEqual(self.peak(self.workload) / TRULY, 1, delta=0.1)

    def test_what_earlier_objects_left_is_not_taken_for_used(self):
        """320 blocks of which an eighth is used; those of one round are used whole, and all that come later find every page there."""
        info = self.info(self.record(lab.PROGRAMS / "parts", "blocks", 20, name="blocks"))
        self.assertEqual(info["large_objects"], 320)
        self.assertGreater(info["large_noted"], 300)
        share = info["large_resident_bytes"] / info["large_noted_bytes"]
        self.assertGreater(share, 0.10)
        self.assertLess(share, 0.35)

    def test_what_calloc_zeroed_is_not_taken_for_written(self):
        """jemalloc hands out pages that are zero already: a replay that wrote to all of them held twice what the program held."""
        if "jemalloc" not in lab.candidates():
            self.skipTest("needs jemalloc")
        workload = self.convert(self.record(lab.PROGRAMS / "parts", "blank", name="blank"))
        self.assertLess(self.peak(workload, candidate="jemalloc"), 0.75 * self.info(workload)["live_peak_bytes"])

    def test_without_residency_all_pages_are_taken_for_used(self):
        recording = self.record(lab.PROGRAMS / "parts", "half", 3, name="plain", options=("--no-residency",))
        self.assertEqual(self.info(recording)["large_noted"], 0)
        self.assertIn("is not known", self.mallab("info", "--details", recording).stdout.decode())
        self.assertGreater(self.peak(self.convert(recording)), 24 * MIB)
