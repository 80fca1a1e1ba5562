"""Large objects that a program uses in part: noted when they go and at the end, carried through every format, and a replay
is as large as the program was."""
import re

import lab

MIB = 1 << 20
TRULY = 6 * MIB + 4000 * 112  # 4 of one buffer, 2 of the kept one, small objects


class Sparse(lab.Lab):
    @classmethod
    def setUpClass(cls):
        cls.lab = cls.keeper()
        cls.recording = cls.lab.record(lab.PROGRAMS / "half", 3)
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
        info = self.info(self.record(lab.PROGRAMS / "blocks", 20, name="blocks"))
        self.assertEqual(info["large_objects"], 320)
        self.assertGreater(info["large_noted"], 300)
        share = info["large_resident_bytes"] / info["large_noted_bytes"]
        self.assertGreater(share, 0.10)
        self.assertLess(share, 0.35)

    def test_what_calloc_zeroed_is_not_taken_for_written(self):
        """jemalloc hands out pages that are zero already: a replay that wrote to all of them held twice what the program held."""
        if "jemalloc" not in lab.candidates():
            self.skipTest("needs jemalloc")
        workload = self.convert(self.record(lab.PROGRAMS / "blank", name="blank"))
        self.assertLess(self.peak(workload, candidate="jemalloc"), 0.75 * self.info(workload)["live_peak_bytes"])

    def test_without_residency_all_pages_are_taken_for_used(self):
        recording = self.record(lab.PROGRAMS / "half", 3, name="plain", options=("--no-residency",))
        self.assertEqual(self.info(recording)["large_noted"], 0)
        self.assertIn("is not known", self.mallab("info", "--details", recording).stdout.decode())
        self.assertGreater(self.peak(self.convert(recording)), 24 * MIB)

    def test_text_keeps_them(self):
        text, again = self.place / "w.txt", self.place / "again.wl"
        self.mallab("convert", "--to", "text", "-o", text, self.workload)
        self.assertEqual(len(re.findall(r"^touched \d+$", text.read_text(), re.M)), 4)
        self.mallab("convert", "-o", again, text)
        self.assertEqual(again.read_bytes(), self.workload.read_bytes())
