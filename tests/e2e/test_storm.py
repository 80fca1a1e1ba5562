"""Many threads that live for a moment, with little shared memory: each is a lane of its own, no call is lost where threads wait for
room, and a collector that is killed among them leaves nothing out and nothing twice. Counted by a witness in the same process."""
import os
import random
import signal
import time

import lab
import witnessed

STORM = lab.PROGRAMS / "storm"
LEAST = 126  # calls of a thread
SEED = 20261122


class Storm(witnessed.Witnessed):
    def test_joined(self):
        status, _, said = self.run_recorded(STORM, 1500, options=("--memory", "1M", "--on-full", "wait"))
        self.assertEqual(status, 0, said)
        self.assertEqual(self.judge(1500 * LEAST, ["storm"])["threads"], 1501)

    def test_windows(self):
        """Windows begin while threads come and go, and a chunk is one's and then another's; until two of them have calls."""
        begun = self.place / "begun"
        process = self.start(STORM, 4000, begun, options=["--window", "1h"])
        recording = self.place / "recording"
        lab.wait_for((recording / "recording.json").exists, "the recording")
        while process.poll() is None:
            lab.run([lab.BUILD / "mallab", "record", "--control", recording, "--rotate"])  # unless it has ended
            if len(list(recording.glob("storm.*.fp"))) > 1:
                begun.touch()
        _, said = process.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual(process.returncode, 0, said)
        info = self.judge(4000 * LEAST, ["storm"])
        self.assertEqual(sum(window["events"] for window in info["window_list"]), info["events"])
        self.assertGreater(len(info["window_list"]), 1)

    def test_killed_collector(self):
        chance = random.Random(SEED)
        for number in range(4):
            folder = self.place / f"recording-{number}"
            for path in self.tallies.iterdir():
                path.unlink()
            folder.mkdir()
            process = self.start(STORM, 4000, place=folder, options=["--memory", "2M"])
            recording = folder / "recording"
            lab.wait_for((recording / "recording.json").exists, "the recording")
            time.sleep(chance.random() * 0.1)  # at any moment
            pid = self.listing(recording)["collector"]["pid"]
            os.kill(pid, signal.SIGKILL)
            process.communicate(timeout=lab.PATIENCE_S)
            lab.run([lab.BUILD / "mallab-collect", "--recover", "--out", recording])
            self.assert_counted(recording)
