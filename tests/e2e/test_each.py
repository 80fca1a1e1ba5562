"""`convert --each`: every process of a recording becomes what converting it alone makes of it;
one that is damaged leaves the others alone; nothing is written over, and nothing half stays behind."""
import os
import shutil
import signal
import subprocess
import time

import lab

WORK = "import json; data = json.dumps([{str(i): [i, str(i)]} for i in range(%d)]); json.loads(data)"


class Each(lab.Lab):
    def setUp(self):
        super().setUp()
        script = "".join(f'/usr/bin/python3 -c "{WORK % size}" & ' for size in (2000, 3000, 4000)) + "wait"
        self.recording = self.place / "tree"
        self.mallab("record", "-q", "-o", self.recording, "--", "/bin/sh", "-c", script)

    def footprints(self, name="python3"):
        return sorted(self.recording.glob(f"{name}.*.fp"))

    def test_as_each_alone(self):
        self.assertEqual(len(self.footprints()), 3)
        alone = {}
        for path in self.recording.glob("*.fp"):
            self.mallab("convert", "-q", "-f", "-o", "alone.wl", path)
            alone[path.stem] = (self.place / "alone.wl").read_bytes()
        self.mallab("convert", "-q", "--each", "-o", "out", self.recording)
        made = {path.stem: path.read_bytes() for path in (self.place / "out").iterdir()}
        self.assertEqual(made, alone)

    def test_report(self):
        report = self.answer("convert", "--json", "--process", "python3", "-o", "out", self.recording)
        self.assertEqual((report["schema"], report["failed"]), ("mallab-convert-each/1", 0))
        self.assertEqual(sorted(one["output"] for one in report["workloads"]),
                         [f"out/{path.stem}.wl" for path in self.footprints()])
        for one in report["workloads"]:
            self.assertEqual(one["ops"], self.info(self.place / one["output"])["ops"])
        said = self.mallab("convert", "-f", "--process", "python3", self.recording).stderr.decode()
        self.assertEqual(said.count(" ops, "), 3, said)
        self.assertEqual(len(list((self.place / "tree.wl").iterdir())), 3)

    def test_one_is_damaged(self):
        damaged = self.footprints()[1]
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 1
        damaged.write_bytes(content)
        result = self.mallab("convert", "--json", "--process", "python3", "-o", "out", self.recording,
                             status=lab.BAD_INPUT)
        self.assertIn(f"python3.{damaged.stem.split('.')[1]}: ", result.stderr.decode())
        self.assertIn("checksum", result.stderr.decode())
        made = sorted(path.stem for path in (self.place / "out").iterdir())
        self.assertEqual(made, [path.stem for path in self.footprints() if path != damaged])

    def test_nothing_is_written_over(self):
        self.mallab("convert", "-q", "--process", "python3", "-o", "out", self.recording)
        kept = self.place / "out" / f"{self.footprints()[2].stem}.wl"
        for path in (self.place / "out").iterdir():
            if path != kept:
                path.unlink()
        kept.write_text("mine")
        result = self.mallab("convert", "-q", "--process", "python3", "-o", "out", self.recording, status=lab.FAILED)
        self.assertIn("exists already", result.stderr.decode())
        self.assertEqual([path.name for path in (self.place / "out").iterdir()], [kept.name])
        self.assertEqual(kept.read_text(), "mine")

    def test_interrupted(self):
        """More of the same, so that it takes a while."""
        source = self.footprints()[0]
        (self.recording / "recording.json").unlink()
        for number in range(400):
            shutil.copy(source, self.recording / f"python3.{9000000 + number}.fp")
        process = subprocess.Popen([lab.BUILD / "mallab", "convert", "-q", "--each", "-o", "out", self.recording],
                                   cwd=self.place, stderr=subprocess.PIPE)
        while not list(self.place.glob("out/*.wl")):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGTERM)
        process.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        made = list((self.place / "out").iterdir())
        self.assertLess(len(made), 400)
        for path in made:
            self.assertEqual(path.suffix, ".wl")
            self.info(path)

    def test_misuse(self):
        for options, fragment in ((["--each", "--process", "7"], "--process chooses"),
                                  (["--each", "-o", "-"], "name a directory")):
            with self.subTest(options=options):
                result = self.mallab("convert", *options, self.recording, status=lab.MISUSE)
                self.assertIn(fragment, result.stderr.decode())
        result = self.mallab("convert", "--each", self.footprints()[0], status=lab.MISUSE)
        self.assertIn("no recording's directory", result.stderr.decode())
