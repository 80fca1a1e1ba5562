"""Where resident memory goes: the parts add up, come from the allocator, and are null where it does not tell."""
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

    def test_in_the_text_of_a_replay_and_in_a_comparison(self):
        text = self.mallab("replay", "-a", "glibc", self.workload).stdout.decode()
        for line in text.splitlines():
            self.assertRegex(line, r"^.{35} \S", "keys and values stand in columns")
        for part in ("live", "rounding", "cached", "metadata", "rest"):
            self.assertRegex(text, rf"(?m)^waste\.peak\.{part}_bytes +-?[\d,]+$")
        result = self.answer("ab", "--json", "-q", "-n", "1", "-a", "glibc", self.workload)["workloads"][0]
        self.assertGreater(result["candidates"][0]["waste"]["peak"]["live_bytes"], 0)
        self.assertIsNone(result["candidates"][0]["runs"][0]["waste"], "only the warm-up looks")
