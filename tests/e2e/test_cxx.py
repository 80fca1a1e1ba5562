"""C++ programs: what a delete says of its object's size is true in the replay too, whichever thread deletes. sqlite3, the program of the quickstart: nothing of it changes or is missing."""
import unittest

import lab
from lab import needs
from witnessed import Witnessed



PIPELINE = lab.PROGRAMS / "pipeline"
SIZED = lab.PROGRAMS / "libsized.so"


@unittest.skipUnless(PIPELINE.exists(), "no C++ compiler when the tests were built")
class SizedDelete(lab.Lab):
    def test_threads_that_take_over_blocks_state_the_right_sizes(self):
        recording = self.record(PIPELINE, 40000)
        info = self.info(recording)
        self.assert_whole(info)
        self.assertGreater(info["events_by_call"]["operator delete(size)"], 200000)
        self.assertEqual({name: n for name, n in info["irregularities"].items() if n}, {})
        workload = self.convert(recording)
        self.mallab("convert", "--head", "10", "--to", "text", "-o", "head.txt", recording)
        self.assertIn("usage_cxx_library=1\n", (self.place / "head.txt").read_text())
        run = self.answer("replay", "--json", "-a", SIZED, workload)  # it aborts at the first wrong size
        self.assertEqual(run["digest"], self.replay_everywhere(workload)["glibc"]["digest"])


class Sqlite(Witnessed):
    @needs("sqlite3")
    def test_from_the_program_to_every_allocator(self):
        info = self.compare("sqlite3", ":memory:", f".read '{lab.SOURCE}/scripts/quickstart.sql'", least=900_000, programs=["sqlite3"])
        self.assertEqual((info["processes"], info["threads"]), (1, 1))
        self.assertLess(info["events"], 1_200_000)
        runs = self.replay_everywhere(self.place / "out.wl")
        for name in lab.candidates():
            with self.subTest(candidate=name):
                resident = runs[name]["resident"]["peak_bytes"]
                # A program that keeps rows in memory: no allocator fits it into less than it asked for, none
                # of these takes ten times as much.
                self.assertGreater(resident, info["live_peak_bytes"] * 0.9)
                self.assertLess(resident, info["live_peak_bytes"] * 10)
