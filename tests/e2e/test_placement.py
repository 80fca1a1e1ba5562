#!/usr/bin/env python3
"""The placement figure: two allocators made for it get exactly the figures that their placement has, in `replay` and in `ab`;
it is the same in every run, no figure of other passes changes, and it is null or absent where nobody looked."""
import json

import lab

BUMP, SCATTER = lab.PROGRAMS / "libbump.so", lab.PROGRAMS / "libscatter.so"
OBJECTS, BYTES = 12_800, 1021  # four to a page: 3,200 pages, fifty times what the simulated TLB holds
FIGURES = ("tlb_misses_per_object", "same_page_share", "next_distance_bytes_median", "page_bytes_per_byte", "line_bytes_per_byte")


class Placement(lab.Lab):
    def setUp(self):
        super().setUp()
        raw, self.workload = self.place / "known.txt", self.place / "known.wl"
        raw.write_text("".join(f"x{i + 1:x}000 = malloc({BYTES});\n" for i in range(OBJECTS)))
        self.mallab("convert", "-q", "-o", self.workload, raw)
        probe = lab.run([lab.BUILD / "mallab-replay-glibc", self.workload])
        if b"san." in probe.stderr:
            self.skipTest("a sanitizer stands in for the allocators of this build")

    def placement(self, allocator, workload=None, *options):
        run = self.answer("replay", "--json", "--placement", *options, "-a", allocator, workload or self.workload)
        self.assertEqual((run["pass"], run["ns_per_op"], run["batch_ns"]), ("placement", None, None))
        return run["placement"]

    def test_known_placements(self):
        bump, scatter = self.placement(BUMP), self.placement(SCATTER)
        # Two windows of 8,192 ops at most: a moment after each, the last of which is the peak.
        self.assertEqual([moment["objects"] for moment in bump["moments"]], [8192, OBJECTS])
        for place in (bump, scatter):
            self.assertEqual(place["peak"]["objects"], OBJECTS)
            self.assertEqual(place["peak"]["bytes"], OBJECTS * BYTES)
            self.assertEqual(place["peak"]["live_objects"], OBJECTS)
            self.assertEqual(place["definition"]["tlb_entries"], 64)
        full, spread = bump["peak"], scatter["peak"]
        self.assertEqual(full["tlb_misses_per_object"], 1 / 4)
        self.assertAlmostEqual(full["page_bytes_per_byte"], 1024 / BYTES, places=8)
        self.assertAlmostEqual(full["line_bytes_per_byte"], 1024 / BYTES, places=8)
        self.assertEqual(full["next_distance_bytes_median"], 2048)
        self.assertAlmostEqual(full["same_page_share"], (OBJECTS - OBJECTS / 4) / (OBJECTS - 1), places=8)
        self.assertEqual(spread["tlb_misses_per_object"], 1)
        self.assertAlmostEqual(spread["page_bytes_per_byte"], 4096 / BYTES, places=6)
        self.assertAlmostEqual(spread["line_bytes_per_byte"], 1024 / BYTES, places=8)
        self.assertEqual(spread["same_page_share"], 0)
        self.assertGreaterEqual(spread["next_distance_bytes_median"], 4096)

    def test_every_run_says_the_same(self):
        many = self.place / "many.wl"
        lab.run([lab.PROGRAMS / "replay_workload", many, 1, 60_000, 5]).check_returncode()
        for name in lab.candidates():
            with self.subTest(candidate=name):
                self.assertEqual(self.placement(name, many), self.placement(name, many))

    def test_threads(self):
        """Objects of many threads are walked thread by thread; the ops are those of any other pass."""
        many = self.place / "many.wl"
        lab.run([lab.PROGRAMS / "replay_workload", many, 12, 60_000, 5]).check_returncode()
        for name in lab.candidates():
            for how in ([], ["--threads", "1"], ["--clock", "recorded"]):
                with self.subTest(candidate=name, how=how):
                    place = self.placement(name, many, *how)
                    # Windows of 8,192 ops: the last of eight lies behind the last moment.
                    self.assertEqual(len(place["moments"]), 7)
                    self.assertGreater(place["peak"]["objects"], 1000)
                    self.assertGreaterEqual(place["line_bytes_per_byte"], 0.99)
                    self.assertGreaterEqual(place["page_bytes_per_byte"], place["line_bytes_per_byte"])
        plain, pass_of_its_own = (self.answer("replay", "--json", *how, "-a", "glibc", many) for how in ([], ["--placement"]))
        self.assertEqual(plain["digest"], pass_of_its_own["digest"])
        self.assertIsNone(plain["placement"])

    def test_nothing_live(self):
        raw, workload = self.place / "gone.txt", self.place / "gone.wl"
        raw.write_text("x1000 = malloc(64);\nfree(x1000);\nx2000 = malloc(3000);\n")
        self.mallab("convert", "-q", "-o", workload, raw)
        place = self.placement("glibc", workload)
        self.assertEqual((place["objects"], place["live_objects"]), (0, 1))
        self.assertEqual({place[key] for key in FIGURES}, {None})
        text = self.mallab("replay", "--placement", "-a", "glibc", workload).stdout.decode()
        self.assertIn("no live object of 1 to 2048 bytes", text)

    def test_in_a_comparison(self):
        kept = self.place / "kept.json"
        table = self.mallab("ab", "-q", "--details", "--placement", "-n", "1", "--memory-rounds", "0", "-a", f"glibc,{BUMP},{SCATTER}", "-o", kept,
                            self.workload).stdout.decode()
        result = json.loads(kept.read_text())["workloads"][0]
        glibc, bump, scatter = (entry["placement"] for entry in result["candidates"])
        self.assertEqual((bump, scatter), (self.placement(BUMP), self.placement(SCATTER)))
        self.assertLess(bump["tlb_misses_per_object"], scatter["tlb_misses_per_object"])
        self.assertGreater(glibc["line_bytes_per_byte"], bump["line_bytes_per_byte"])  # its own 8 bytes lie between two objects
        self.assertIsNone(result["control"]["placement"])
        self.assertNotIn("placement", result["floor"])
        self.assertIsNone(result["candidates"][0]["runs"][0]["placement"])
        words = " ".join(table.split())
        self.assertRegex(words, r"placement misses of a small simulated TLB .*libbump\S* 0\.250, \S*libscatter\S* 1\.000; bytes of pages")
        row = self.mallab("report", "--format", "csv", kept).stdout.decode().splitlines()
        column = row[0].split(",").index("tlb_misses_per_object")
        self.assertEqual([line.split(",")[column] for line in row[2:4]], ["0.25", "1"])
        for options in ([], ["--placement", "--no-placement"]):  # the latter is what it was called while the pass was the default
            left_out = self.answer("ab", "--json", "-q", "-n", "1", "--memory-rounds", "0", *options, "-a", "glibc", self.workload)
            self.assertIsNone(left_out["workloads"][0]["candidates"][0]["placement"])

    def test_misuse(self):
        for arguments in (["--placement", "--latency"], ["--placement", "--check"]):
            self.mallab("replay", *arguments, self.workload, status=lab.MISUSE)
        result = self.mallab("replay", "--placement", "-a", "none", self.workload, status=lab.MISUSE)
        self.assertIn("'none' has no objects", result.stderr.decode())


if __name__ == "__main__":
    lab.main()
