"""A fleet is a directory of results: read in a stream, whatever else lies there is named and left out, and nothing passes without a word:
who is missing, versions and machines that differ, a result that is there twice. Nothing that a result names is opened."""
import json
import os
import pathlib
import shutil
import sys
import unittest

import fleet_files
import lab

MEMORY_KIB = 200 << 10


class Fleet(lab.Lab):
    def setUp(self):
        super().setUp()
        self.results = self.place / "results"
        self.results.mkdir()
        self.base = json.loads(fleet_files.BASE.read_text())
        workload = self.base["workloads"][0]
        workload["candidates"] = [entry for entry in workload["candidates"] if not entry.get("failed")]
        for entry in workload["candidates"]:
            entry["library"] = str(self.place / "trap")  # who opens it waits for ever
        os.mkfifo(self.place / "trap")

    def fill(self, count, directory=None):
        for number in range(count):
            self.put(number, directory=directory)

    def put(self, number, change=None, name=None, directory=None, **settings):
        document = fleet_files.result(number, self.base, **settings)
        if change:
            change(document)
        fleet_files.write((directory or self.results) / (name or f"web{number}.json"), document)

    def together(self, *options, status=lab.DONE):
        result = self.mallab("report", "--together", "--json", *options, "results", status=status)
        return json.loads(result.stdout), result.stderr.decode()

    def test_what_is_not_taken_is_named(self):
        self.fill(8)
        whole = (self.results / "web0.json").read_bytes()
        (self.results / "torn.json").write_bytes(whole[:2000])
        (self.results / "foreign.json").write_text("{}")
        (self.results / "again.json").write_bytes((self.results / "web5.json").read_bytes())
        (self.results / "results.txt").write_text("not looked at")
        (self.results / ".hidden.json").write_text("neither")
        os.mkfifo(self.results / "pipe.json")
        self.put(9, lambda one: one.update(baseline="other"), name="baseline.json")
        names = {"torn.json", "foreign.json", "web5.json", "pipe.json", "baseline.json"}
        document, said = self.together(status=lab.BAD_INPUT)
        self.assertEqual({pathlib.Path(one["file"]).name for one in document["left_out"]}, names)
        for one in document["left_out"]:
            self.assertIn(f"left out '{one['file']}': {one['why']}", said)
        self.assertEqual(document["fleet"]["workloads"], 8)
        for name in names - {"web5.json"} | {"again.json"}:
            (self.results / name).unlink()
        again, said = self.together()
        self.assertEqual((again["left_out"], said), ([], ""))
        self.assertEqual(again["fleet"]["candidates"], document["fleet"]["candidates"])
        self.mallab("report", "--together", "trap", status=lab.BAD_INPUT)

    @unittest.skipIf(shutil.which("zstd") is None, "not installed: zstd")
    def test_compressed_ones_are_the_same(self):
        self.fill(6)
        plain, _ = self.together()
        for number in (1, 4):
            self.put(number, name=f"web{number}.json.zst")
            (self.results / f"web{number}.json").unlink()
        packed, _ = self.together()
        self.assertEqual(packed["fleet"]["candidates"], plain["fleet"]["candidates"])
        self.assertEqual(self.mallab("report", "results/web1.json.zst").stderr, b"")
        frame = (self.results / "web1.json.zst").read_bytes()
        (self.results / "web1.json.zst").write_bytes(frame[:-20])
        (self.results / "bomb.json.zst").write_bytes(lab.run(["sh", "-c", "head -c 600000000 /dev/zero | zstd -q"]).stdout)
        wide = lab.run(["sh", "-c", "head -c 20000000 /dev/zero | zstd -q --long=27"]).stdout
        (self.results / "wide.json.zst").write_bytes(wide)
        document, _ = self.together(status=lab.BAD_INPUT)
        self.assertEqual(len(document["left_out"]), 3, document["left_out"])
        self.assertEqual(document["fleet"]["workloads"], 5)

    def test_who_is_expected(self):
        self.fill(6)
        self.assertEqual(self.together("--expect", "web3,web3")[0]["missing"], [])  # named twice is one
        document, _ = self.together("--expect", "web0,web9,web3,web10", status=lab.FAILED)
        self.assertEqual(document["missing"], [{"label": "web10"}, {"label": "web9"}])
        self.assertEqual(self.together("--expect", "web5")[0]["missing"], [])
        (self.place / "hosts").write_text("".join(f"web{number} {2 if number == 1 else 1}\n" for number in range(6)))
        document, _ = self.together("--expect", "hosts")
        self.assertEqual(document["missing"], [])
        shares = {host["label"]: host["share"] for host in document["fleet"]["hosts"]}
        self.assertAlmostEqual(shares["web1"], 2 * shares["web0"])
        self.assertIn(b"cannot be read", self.mallab("report", "--together", "--expect", "no/such", "results", status=lab.BAD_INPUT).stderr)

    def test_many_take_little_memory(self):
        fleet_files.fill(self.results, 120, rounds=lambda number: 10 + number)
        wrapper = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        peak = int(lab.run([sys.executable, "-c", wrapper, lab.BUILD / "mallab", "report", "--together", "results"], cwd=self.place).stdout)
        self.assertLess(peak, MEMORY_KIB)
