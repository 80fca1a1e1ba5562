"""A group is converted: each of its processes becomes what converting it alone makes of it; one that is damaged or missing leaves
the others alone; nothing is written over, and no directory stays behind for nothing."""
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

    def convert(self, *options, status=lab.DONE):
        return self.mallab("convert", *options, "--process", "python3", self.recording, status=status).stderr.decode()

    def test_as_each_alone(self):
        self.assertEqual(len(self.footprints()), 3)
        alone = {}
        for path in self.footprints():
            self.mallab("convert", "-q", "-f", "-o", "alone.wl", "--process", path.name, self.recording)
            alone[path.stem] = (self.place / "alone.wl").read_bytes()
        self.convert("-q", "-o", "out")
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

    def test_one_is_missing(self):
        gone = self.footprints()[1]
        gone.unlink()
        self.assertIn("is missing", self.convert("-q", "-o", "out", status=lab.BAD_INPUT))
        self.assertIn(f"footprint '{gone.name}' is missing", self.convert("-q", "-f", "--salvage", "-o", "out"))
        self.assertEqual(len(list((self.place / "out").iterdir())), 2)

    def test_nothing_is_written_over(self):
        self.convert("-q", "-o", "out")
        self.assertIn("likewise 2 more of 3", self.convert("-q", "-o", "out", status=lab.FAILED))
        kept = self.place / "out" / f"{self.footprints()[2].stem}.wl"
        for path in (self.place / "out").iterdir():
            if path != kept:
                path.unlink()
        kept.write_text("mine")
        self.assertIn("exists already", self.convert("-q", "-o", "out", status=lab.FAILED))
        self.assertEqual([path.name for path in (self.place / "out").iterdir()], [kept.name])
        self.assertEqual(kept.read_text(), "mine")

    def test_no_empty_directory_is_left(self):
        (self.place / "mine").mkdir()
        for name, stays in ("out", False), ("mine", True):
            self.convert("-q", "--from-time", "5m", "-o", name, status=lab.MISUSE)
            self.assertEqual((self.place / name).exists(), stays)

    def test_misuse(self):
        self.assertIn("name a directory", self.convert("-o", "-", status=lab.MISUSE))
