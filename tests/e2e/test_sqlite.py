#!/usr/bin/env python3
"""sqlite3, the program of the quickstart: nothing of it changes, nothing of it is missing, all replays agree."""
import json
import shutil
import unittest

import lab

COMMAND = ["sqlite3", ":memory:", f".read '{lab.SOURCE}/scripts/quickstart.sql'"]


@unittest.skipUnless(shutil.which("sqlite3"), "sqlite3 is not installed")
class Sqlite(lab.Lab):
    def test_from_the_program_to_every_allocator(self):
        plain = lab.run(COMMAND)
        self.assertEqual(plain.returncode, 0)
        with open(self.place / "said", "wb") as out, open(self.place / "warned", "wb") as err:
            recording = self.record(*COMMAND, stdout=out, stderr=err)
        self.assertEqual((self.place / "said").read_bytes(), plain.stdout)
        self.assertEqual((self.place / "warned").read_bytes(), plain.stderr)

        witness = lab.run(COMMAND, env={"LD_PRELOAD": str(lab.PROGRAMS / "libcount.so"),
                                        "COUNT_OUT": str(self.place / "count.json")})
        self.assertEqual(witness.stdout, plain.stdout)
        counted = json.loads((self.place / "count.json").read_text())

        info = self.info(recording)
        self.assert_whole(info)
        self.assertEqual((info["processes"], info["threads"]), (1, 1))
        self.assertGreater(info["events"], 900_000)
        self.assertLess(info["events"], 1_200_000)
        for call, count in counted.items():
            self.assertEqual(info["events_by_call"].get(call, 0), count, call)

        workload = self.convert(recording)
        runs = self.replay_everywhere(workload)
        live = info["live_peak_bytes"]
        for name in lab.candidates():
            with self.subTest(candidate=name):
                resident = runs[name]["resident"]["peak_bytes"]
                # A program that keeps rows in memory: no allocator fits it into less than it asked for, none
                # of these takes ten times as much.
                self.assertGreater(resident, live * 0.9)
                self.assertLess(resident, live * 10)


if __name__ == "__main__":
    lab.main()
