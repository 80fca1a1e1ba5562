"""An interrupted export leaves nothing."""
import signal
import subprocess
import time

import lab


class Export(lab.Lab):
    def handover(self, rounds):
        return self.convert(self.record(lab.PROGRAMS / "handover", rounds, 100))

    def test_an_interrupted_export_leaves_nothing(self):
        workload = self.handover(150000)
        before = sorted(path.name for path in self.place.iterdir())
        for name, output, number in (("text", "ops.txt", signal.SIGINT), ("text", "ops.txt", signal.SIGTERM)):
            self.assertTrue(any(self.interrupted(name, output, workload, number) for _ in range(20)), "always too late")
            self.assertEqual(sorted(path.name for path in self.place.iterdir()), before, name)

    def interrupted(self, name, output, workload, number):
        """Whether the signal came in time: before the output had its name. A finished export is removed."""
        mallab = subprocess.Popen([lab.BUILD / "mallab", "convert", "--quiet", "--to", name, "-o", output, workload],
                                  cwd=self.place, stderr=subprocess.DEVNULL)
        while mallab.poll() is None and not lab.writes_into(mallab.pid, self.place):
            time.sleep(0.0005)
        mallab.send_signal(number)
        if mallab.wait(lab.PATIENCE_S) == -number:
            return True
        self.assertEqual(mallab.returncode, 0)
        (self.place / output).unlink()
        return False
