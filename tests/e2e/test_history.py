"""Results kept in a directory and shown as a history: names that sort and never collide, the same figures as in each result,
a move that was put into one, damaged and foreign files beside them, and what is refused before anything is measured."""
import json
import os
import re
import shutil

import lab

QUICK = ("-n", "2", "-a", "glibc,glibc+nocache")


@lab.needs("sqlite3")
class History(lab.Lab):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        keeper = cls.keeper()
        cls.workload = keeper.convert(keeper.record("sqlite3", ":memory:", "select 1", name="web"))
        cls.kept = keeper.place / "kept"
        for name in (str(cls.kept) + "/", cls.kept):  # made; there already
            said = keeper.mallab("ab", *QUICK, "-o", name, cls.workload, env={"MALLAB_MACHINE": "ci 1"}).stderr.decode()
            (path,) = re.findall(r"kept as '(.*)'", said)
            assert os.path.exists(path), said

    @staticmethod
    def slower(run, factor):
        return dict(run, whole_ns_per_op=run["whole_ns_per_op"] * factor, batch_ns=[round(time * factor) for time in run["batch_ns"]])

    def copy(self):
        """The directory, and in it a later result in which the second candidate is slower by a third, beyond doubt."""
        copy = self.place / "copy"
        shutil.copytree(self.kept, copy)
        names = sorted(path.name for path in copy.iterdir())
        for day, name in enumerate(names + ["later.json"]):
            result = json.loads((copy / (name if day < 2 else names[0])).read_text())
            result["created_unix_ns"] = (1_800_000_000 + 86400 * day) * 10**9
            (workload,) = result["workloads"]
            workload["rounds"], workload["floor"] = 10, None
            runs = workload["candidates"][0]["runs"] * 5
            workload["candidates"][0]["runs"] = workload["control"]["runs"] = runs
            workload["candidates"][1]["runs"] = [self.slower(run, 1 if day < 2 else 1.33) for run in runs]
            (copy / name).write_text(json.dumps(result))
        return copy

    def test_names(self):
        names = sorted(path.name for path in self.kept.iterdir())
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertRegex(name, r"^web\.ci-1\.\d{8}T\d{6}Z(-2)?\.json$")
            self.assertEqual(json.loads((self.kept / name).read_text())["machine"]["name"], "ci 1")

    def test_formats_agree(self):
        copy = self.copy()
        history = self.answer("report", "--json", copy)
        self.assertEqual(history["schema"], "mallab-history/1")
        self.assertEqual((history["results"], history["left_out"]), (3, []))
        self.assertEqual({(point["workload"], point["machine"], point["baseline"]) for point in history["points"]}, {("web.wl", "ci 1", "glibc")})
        self.assertEqual([point["is_baseline"] for point in history["points"]], [True] * 3 + [False] * 3)
        points = history["points"][3:]
        self.assertEqual([point["time_moved"] for point in points], [None, None, "slower"])
        self.assertAlmostEqual(points[2]["time_change"], 1.33, places=4)
        for point in points:
            result = self.answer("report", "--json", copy / point["file"])  # of its samples, whatever it says
            entry = result["workloads"][0]["candidates"][1]
            self.assertEqual(point["created_unix_ns"], result["created_unix_ns"])
            for key in ("steady_ns_per_op", "ratio"):
                self.assertEqual(point[key], entry["time"][key])
            self.assertEqual(point["resident_peak_bytes"], entry["resident"]["peak_bytes"])
        text = self.mallab("report", copy).stdout.decode()
        self.assertTrue(all(len(line) <= 100 for line in text.splitlines()))
        self.assertRegex(text, r"2027-01-17 08:00 .*\+33\.0%.*slower")
        self.assertIn("1 here", text)
        self.assertIn("slower", self.mallab("report", "--format", "md", copy).stdout.decode())
        self.mallab("report", "-o", "out.txt", copy)
        self.assertEqual((self.place / "out.txt").read_text(), text)
        self.assertEqual(self.mallab("report", copy).stdout.decode(), text)

    def test_what_lies_beside_results(self):
        copy = self.copy()
        (copy / "times.json").write_text('{"results": []}')
        (copy / "notes.txt").write_text("no JSON, no matter")
        result = self.mallab("report", copy)
        self.assert_one_line(result, "times.json", "no result of 'mallab ab'")
        (copy / "cut.json").write_text((copy / "later.json").read_text()[:1000])
        result = self.mallab("report", copy, status=lab.BAD_INPUT)
        self.assertIn(b"cut.json': no JSON", result.stderr)
        self.assertIn(b"slower", result.stdout)  # the others are shown

    def test_refused(self):
        (self.place / "empty").mkdir()
        self.assert_one_line(self.mallab("report", "empty", status=lab.BAD_INPUT), "empty", "ab -o empty")
        (self.place / "file").write_text("mine")
        result = self.mallab("ab", *QUICK, "-o", "file/", self.workload, status=lab.FAILED)
        self.assert_one_line(result, "file/")
        result = self.mallab("ab", *QUICK, "-o", "no/such/", self.workload, status=lab.FAILED)
        self.assert_one_line(result, "no/such/")
        self.assertEqual(sorted(os.listdir(self.place)), ["empty", "file"])
