"""sqlite3, the program of the quickstart: nothing of it changes, nothing of it is missing, all replays agree."""
import lab
from lab import needs
from witnessed import Witnessed


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
