"""C++ programs: every form of new and delete is recorded under its own name, as often as it was called, and what a delete says of its object's
size is true in the replay too, whichever thread deletes. sqlite3, the program of the quickstart: nothing of it changes or is missing."""
import unittest

import lab
from lab import needs
from witnessed import Witnessed

PROGRAM = lab.PROGRAMS / "containers"


@unittest.skipUnless(PROGRAM.exists(), "no C++ compiler when the tests were built")
class Containers(lab.Lab):
    def test_operators_are_counted_and_replayed(self):
        plain = lab.run([PROGRAM])
        self.assertEqual(plain.returncode, 0)
        with open(self.place / "said", "wb") as out:
            recording = self.record(PROGRAM, stdout=out)
        self.assertEqual((self.place / "said").read_bytes(), plain.stdout)
        info = self.info(recording)
        self.assert_whole(info)
        counts = info["events_by_call"]
        # 700 rounds of use_aligned, 900 of use_nothrow, one refused request each of new and new(nothrow).
        expected = {"aligned": 700, "array aligned": 700, "aligned nothrow": 700,
                    "nothrow": 901, "array nothrow": 900}
        found = {form: counts.get(name, 0) for form, name in {
            "aligned": "operator new(align)", "array aligned": "operator new[](align)",
            "aligned nothrow": "operator new(align,nothrow)",
            "nothrow": "operator new(nothrow)", "array nothrow": "operator new[](nothrow)"}.items()}
        self.assertEqual(found, expected, counts)
        self.assertGreater(counts["operator new"], 20000)
        self.assertGreater(counts["malloc"], 500)  # exceptions are thrown from malloc
        workload = self.convert(recording)
        self.replay_everywhere(workload)
        text = self.mallab("convert", "--to", "text", "-o", "-", workload).stdout
        self.assertIn(b"usage_cxx_library=1\n", text)


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
