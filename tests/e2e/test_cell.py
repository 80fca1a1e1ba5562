#!/usr/bin/env python3
"""A plan's cells: each is made once and whole, by whoever is first, through kills at any moment; a node, a workload or a manifest that
is not as planned is refused with a code that says whether another node may do it, and with its cause beside the cells."""
import json
import os
import random
import re
import signal
import subprocess
import time
import unittest

import lab

ELSEWHERE = 75
SHORT = ["-a", "glibc,glibc+nocache", "-n", "1", "--memory-rounds", "0", "--load", "100"]


class Planned(lab.Lab):
    def workload(self, name, size, calls=300):
        """Of an imported trace, so that nothing but its calls tells two apart."""
        trace = self.place / "trace"
        lines = [f"+ {0x1000 + 64 * i:#x} {size + i % 7:#x}" for i in range(calls)]
        lines += [f"- {0x1000 + 64 * i:#x}" for i in range(calls)]
        trace.write_text("= Start\n" + "\n".join(lines) + "\n")
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.mallab("convert", "-q", "-f", "-o", path, trace)
        return path

    def plan(self, *arguments, name="plan", options=SHORT, **settings):
        return self.mallab("plan", "-o", name, *options, *arguments, **settings)

    def rows(self, name="plan"):
        lines = (self.place / name / "manifest.tsv").read_text().splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("id\t"))
        keys = lines[first].split("\t")
        return [dict(zip(keys, line.split("\t"))) for line in lines[first + 1:]]

    def names(self):
        cells = self.place / "plan" / "cells"
        return sorted(path.name for path in cells.iterdir()) if cells.is_dir() else []


class Cell(Planned):
    def setUp(self):
        super().setUp()
        self.plan(self.workload("web1.wl", 16), self.workload("web2.wl", 48))
        self.cells = self.place / "plan" / "cells"

    def why(self, cell):
        return (self.cells / f"{cell}.why").read_text()

    def edit(self, before, after):
        """In place: the manifest is of a shared directory."""
        manifest = self.place / "plan" / "manifest.tsv"
        text = manifest.read_text()
        self.assertIn(before, text)
        manifest.write_text(text.replace(before, after))

    def start(self, cell, *options, **settings):
        environment = dict(os.environ, **settings.pop("env", {}))
        return subprocess.Popen([lab.BUILD / "mallab", "cell", *options, self.place / "plan", str(cell)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **settings)

    def test_a_cell_is_made_once(self):
        self.assertEqual(self.mallab("cell", "plan", "0").stdout, b"")
        self.assertEqual(self.names(), ["0.json"])
        path = self.cells / "0.json"
        before = path.stat()
        result = json.loads(path.read_text())
        row = self.rows()[0]
        self.assertEqual((result["schema"], result["rounds"], result["seed"]), ("mallab-experiment/1", 1, int(row["seed"])))
        self.assertEqual({k: result["cell"][k] for k in ("id", "label", "block", "tries")},
                         {"id": 0, "label": "web1", "block": 0, "tries": 1})
        self.assertEqual(len(result["cell"]["plan"]), 32)
        self.assertEqual(result["workloads"][0]["file_digest"], row["file_digest"])
        self.assertEqual([c["name"] for c in result["workloads"][0]["candidates"]], ["glibc", "glibc+nocache"])
        self.assertEqual(before.st_nlink, 1)
        self.mallab("cell", "plan", "0")
        self.assertEqual((path.stat().st_ino, path.stat().st_mtime_ns), (before.st_ino, before.st_mtime_ns))
        self.assertIn(b"web1", self.mallab("report", path).stdout)
        path.write_bytes(path.read_bytes()[:1000])
        self.assertIn(b"remove cells/0.json", self.mallab("cell", "plan", "0", status=lab.FAILED).stderr)
        path.unlink()
        self.mallab("cell", "plan", "0")
        self.assertEqual(path.stat().st_size > 1000, True)

    def test_of_eight_at_once_one_is_kept(self):
        cells = [self.start(1) for _ in range(8)]
        for cell in cells:
            _, said = cell.communicate(timeout=lab.PATIENCE_S)
            self.assertEqual(cell.returncode, 0, said)
        self.assertEqual(self.names(), ["1.json"])
        json.loads((self.cells / "1.json").read_text())

    def test_a_kill_leaves_nothing_torn(self):
        """Forty of them: half at any moment, half as soon as the result's file appears."""
        began = time.monotonic()
        self.mallab("cell", "plan", "2")
        lasts = time.monotonic() - began
        whole = 0
        chance = random.Random(7)
        for kill in range(40):
            (self.cells / "2.json").unlink(missing_ok=True)
            before = set(self.names())
            cell = self.start(2, start_new_session=True)
            if kill % 2:
                time.sleep(chance.uniform(0.3, 1.1) * lasts)  # whenever: what follows holds at any moment
            else:
                lab.wait_for(lambda: cell.poll() is not None or set(self.names()) - before, "its file")
            if cell.returncode is None:
                os.killpg(cell.pid, signal.SIGKILL)
            cell.communicate()
            for name in self.names():
                self.assertRegex(name, r"^2\.json(\.[0-9a-f]{16})?$")
            if (self.cells / "2.json").exists():
                json.loads((self.cells / "2.json").read_text())
                whole += 1
        print(f"{whole} of 40 were whole")
        self.mallab("cell", "plan", "2")
        json.loads((self.cells / "2.json").read_text())

    def test_a_signal_publishes_nothing(self):
        near = self.place / "near"
        near.mkdir()
        self.edit("\t0\t1\t", "\t0\t1000\t")  # rounds: it is not over when the signal comes
        cell = self.start(0, env={"TMPDIR": str(near)})
        lab.wait_for(lambda: list(near.glob("mallab-*/*.wl")), "the workload near")
        cell.send_signal(signal.SIGTERM)
        cell.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual(cell.returncode, -signal.SIGTERM)
        self.assertEqual(self.names(), [])
        self.assertEqual(list(near.iterdir()), [])

    def test_a_workload_that_is_not_the_planned_one(self):
        files = [self.place / "plan" / row["workload"] for row in self.rows()[:2]]
        whole = files[0].read_bytes()

        def refused(*words):
            result = self.mallab("cell", "plan", "0", status=lab.BAD_INPUT)
            for word in words:
                self.assertIn(word, result.stderr.decode())
                self.assertIn(word, self.why(0))
            self.assertIn("exit 3 on ", self.why(0))
            self.assertEqual(self.names(), ["0.why"])

        files[0].write_bytes(whole[:200] + bytes([whole[200] ^ 0xFF]) + whole[201:])
        refused(files[0].name)
        files[0].write_bytes(whole[:-20])
        refused(files[0].name)
        files[0].write_bytes(files[1].read_bytes())
        refused("digest", self.rows()[1]["file_digest"])
        files[0].unlink()
        refused("No such file")
        files[0].symlink_to(files[1])
        refused("symbolic link")
        self.assertIn("try 5)", self.why(0))
        files[0].unlink()
        files[0].write_bytes(whole)
        self.mallab("cell", "plan", "0")
        self.assertEqual(json.loads((self.cells / "0.json").read_text())["cell"]["tries"], 6)
        self.mallab("cell", "plan", "1")

    def test_a_node_that_is_not_the_planned_one(self):
        for before, after, words in (
                ("mallab\t0.1.0", "mallab\t0.0.9", "the plan is of 0.0.9"),
                ("machine\tany", "machine\tCray-1, 1 cpu, cray", "the plan is for 'Cray-1"),
                ("glibc+nocache\tglibc+nocache", "glibc+nocache\tglibc+absent", "glibc+nocache is not known here"),
                ("GLIBC_TUNABLES=", "GLIBC_TUNABLES=x", "in the plan")):
            with self.subTest(after):
                self.edit(before, after)
                self.assertIn(words, self.mallab("cell", "plan", "0", status=ELSEWHERE).stderr.decode())
                self.assertIn(words, self.why(0))
                self.assertIn("exit 75 on ", self.why(0))
                self.edit(after, before)
        manifest = (self.place / "plan" / "manifest.tsv").read_text()
        line = next(line for line in manifest.splitlines() if line.startswith("candidate\tglibc\t"))
        columns = line.split("\t")
        self.edit(line, "\t".join(columns[:4] + ["2.99"] + columns[5:]))
        self.assertIn("'2.99' in the plan", self.mallab("cell", "plan", "0", status=ELSEWHERE).stderr.decode())
        self.edit("2.99", columns[4])
        self.edit("\t".join(columns[5:7]), "abcd\tabcd")
        self.assertIn("another", self.mallab("cell", "plan", "0", status=ELSEWHERE).stderr.decode())
        self.assertEqual(self.names(), ["0.why"])

    def test_a_manifest_is_hostile(self):
        row = self.rows()[0]
        for before, after in ((row["workload"], "../web1.wl"), (row["workload"], "/etc/passwd"), (row["workload"], "workloads/../x"),
                              ("mallab-plan/1", "mallab-plan/2"), ("cells\t4", "cells\t3"), ("cells\t4", "cells\t999999999999999999999")):
            with self.subTest(after):
                self.edit(before, after)
                self.assert_one_line(self.mallab("cell", "plan", "0", status=lab.BAD_INPUT), "cannot read the plan")
                self.edit(after, before)
        self.mallab("cell", "plan", "4", status=lab.MISUSE)
        self.mallab("cell", "plan", "-1", status=lab.MISUSE)
        self.mallab("cell", "plan", status=lab.MISUSE)
        self.mallab("cell", "absent", "0", status=ELSEWHERE)  # not mounted
        self.assertEqual(self.names(), [])
        (self.place / "plan").chmod(0o777)
        self.assert_one_line(self.mallab("cell", "plan", "0", status=lab.BAD_INPUT), "can be written to by")

    def test_a_busy_machine_is_refused(self):
        spinners = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
        try:
            said = self.mallab("cell", "--load", "5", "plan", "0", status=ELSEWHERE).stderr.decode()
        finally:
            for spinner in spinners:
                spinner.kill()
                spinner.wait()
        self.assertIn("too disturbed here: ", said)
        self.assertIn("too disturbed here: ", self.why(0))


class Plan(Planned):
    def test_what_is_planned(self):
        self.workload("fleet/h1/a.wl", 16)
        self.workload("fleet/h2/a.wl", 32)
        self.workload("fleet/h2/b.wl", 48)
        (self.place / "fleet" / "notes.txt").write_text("not one\n")
        twin = self.workload("twin.wl", 16)
        result = self.plan("fleet", f"h9={twin}", "--blocks", "3")
        rows = self.rows()
        self.assertEqual([row["label"] for row in rows], ["h1", "h2", "h2", "h9"] * 3)
        self.assertEqual([row["block"] for row in rows], [block for block in "012" for _ in range(4)])
        self.assertEqual([row["id"] for row in rows], [str(i) for i in range(12)])
        self.assertEqual(len({row["seed"] for row in rows}), 12)
        self.assertAlmostEqual(float(rows[0]["share"]), 1 / 3)
        self.assertAlmostEqual(float(rows[1]["share"]), 1 / 6)
        self.assertEqual(rows[0]["workload"], rows[3]["workload"])  # the same calls are there once
        self.assertEqual(len(list((self.place / "plan" / "workloads").iterdir())), 3)
        said = result.stdout.decode()
        self.assertIn("12 cells: 4 workloads of 3 hosts", said)
        self.assertIn("left out    1, named above", said)
        self.assertIn("notes.txt", result.stderr.decode())
        for engine in ("slurm.sh plan", "parallel.sh plan", "Snakefile", "kubernetes.yaml", "mallab cell plan N"):
            self.assertIn(engine, said)
        self.assert_one_line(self.plan("fleet", status=lab.FAILED), "exists already")

    def test_names_of_files_are_no_keys(self):
        first, second = self.workload("one/x.wl", 16), self.workload("two/x.wl", 32)
        self.plan(first, second)
        labels = {row["label"] for row in self.rows()}
        self.assertEqual(len(labels), 2)
        for label in labels:
            self.assertRegex(label, r"^x-[0-9a-f]{8}$")
        twice = self.plan(first, first, name="twice", status=lab.FAILED)
        self.assertIn("twice with the same workload", twice.stderr.decode())
        self.assertFalse((self.place / "twice").exists())

    def test_weights(self):
        words = [f"h{i}={self.workload(f'{i}.wl', 16 * i)}" for i in (1, 2)]
        weights = self.place / "weights.tsv"
        weights.write_text("# hosts\nh1\t3\nh2\t1\n")
        self.plan("--weights", weights, *words)
        self.assertEqual([row["share"] for row in self.rows()[:2]], ["0.75", "0.25"])
        weights.write_text("h1\t3\n")
        self.assertIn("no number above 0 for 'h2'", self.plan("--weights", weights, *words, name="b", status=lab.FAILED).stderr.decode())
        self.assertIn("no CPU time is recorded", self.plan("--weights", "cpu", *words, name="c", status=lab.FAILED).stderr.decode())
        self.plan("--weights", "bytes", *words, name="d")
        self.assertLess(float(self.rows("d")[0]["share"]), float(self.rows("d")[1]["share"]))

    def test_some_of_many(self):
        for i in range(12):
            self.workload(f"fleet/h{i}/x.wl", 16 if i % 2 else 4000 + i, calls=40 + i)
        for option, kind in (("--budget", "drawn"), ("--representatives", "representatives")):
            texts = []
            for name in (f"{kind}.1", f"{kind}.2"):
                self.plan("fleet", option, "4", "--seed", "5", "--blocks", "1", name=name)
                rows = self.rows(name)
                self.assertLessEqual(len(rows), 4)
                self.assertAlmostEqual(sum(float(row["share"]) for row in rows), 1)
                self.assertEqual(len(list((self.place / name / "workloads").iterdir())), len(rows))
                texts.append((self.place / name / "manifest.tsv").read_text())
            self.assertEqual(*texts)
            self.assertIn(f"selection\t{len(rows)} {kind} of 12\n", texts[0])
        self.plan("fleet", "--budget", "4", "--all-hosts", name="e", status=lab.MISUSE)

    def test_again(self):
        self.plan(f"h1={self.workload('1.wl', 16)}", f"h2={self.workload('2.wl', 32)}", "--blocks", "1")
        self.mallab("cell", "plan", "1")
        before = self.rows()
        said = self.mallab("plan", "--again", "plan", "--label", "h2", "--blocks", "2").stdout.decode()
        self.assertIn("2 cells more, 2-3; 4 in all", said)
        rows = self.rows()
        self.assertEqual(rows[:2], before)
        self.assertEqual([(row["label"], row["block"]) for row in rows[2:]], [("h2", "1"), ("h2", "2")])
        self.mallab("cell", "plan", "3")
        digests = {json.loads((self.place / "plan" / "cells" / f"{i}.json").read_text())["cell"]["plan"] for i in (1, 3)}
        self.assertEqual(len(digests), 1)  # the plan is the same one
        fleet = {"schema": "mallab-fleet/1", "missing": [], "fleet": {"baseline": "x", "hosts": [], "candidates": [
            {"name": "x", "losers": [{"label": "h1", "file_digest": rows[0]["file_digest"]}], "nearest": []}]}}
        (self.place / "fleet.json").write_text(json.dumps(fleet))
        self.mallab("plan", "--again", "plan", "--losers", "fleet.json", "--blocks", "1")
        self.assertEqual([(row["label"], row["block"]) for row in self.rows()[4:]], [("h1", "1")])
        self.mallab("plan", "--again", "plan", "--label", "absent", status=lab.FAILED)
        self.mallab("plan", "--again", "plan", status=lab.MISUSE)
        self.assertEqual(len(self.rows()), 5)

    def test_packs_in_directories(self):
        self.record("sh", "-c", ":", name="one", options=["--label", "web7"])
        self.record("sh", "-c", ": ; :", name="two")
        (self.place / "store" / "host3").mkdir(parents=True)
        self.mallab("pack", "-o", "store/a.tar.zst", "one")
        self.mallab("pack", "--workload", "-o", "store/host3/b.tar.zst", "two")
        self.plan("store")
        self.assertEqual([row["label"] for row in self.rows()[:2]], ["host3", "web7"])
        self.assertEqual(sorted(path.name for path in (self.place / "plan" / "workloads").iterdir()),
                         sorted({row["file_digest"] + ".wl" for row in self.rows()}))
        self.plan("h1=store/a.tar.zst", name="other")
        self.assertEqual(self.rows("other")[0]["label"], "h1")
        self.plan("bad label=store/a.tar.zst", name="third", status=lab.MISUSE)

    def test_a_recording_is_converted(self):
        self.record("sh", "-c", ":")
        self.plan("recording")
        row = self.rows()[0]
        self.assertEqual(row["label"], "recording")
        self.assertTrue(re.fullmatch(r"workloads/[0-9a-f]{16}\.wl", row["workload"]))
        self.mallab("cell", "plan", "0")


if __name__ == "__main__":
    lab.main()
