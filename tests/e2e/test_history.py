"""Results kept in a directory and shown as a history: names that sort and never collide, the same figures as in each result,
a move that was put into one, damaged and foreign files beside them, and what is refused before anything is measured."""
import json
import os
import re

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

    def test_names(self):
        names = sorted(path.name for path in self.kept.iterdir())
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertRegex(name, r"^web\.ci-1\.\d{8}T\d{6}Z(-2)?\.json$")
            self.assertEqual(json.loads((self.kept / name).read_text())["machine"]["name"], "ci 1")

    def test_refused(self):
        (self.place / "empty").mkdir()
        self.assert_one_line(self.mallab("report", "empty", status=lab.BAD_INPUT), "empty", "ab -o empty")
        (self.place / "file").write_text("mine")
        result = self.mallab("ab", *QUICK, "-o", "file/", self.workload, status=lab.FAILED)
        self.assert_one_line(result, "file/")
        result = self.mallab("ab", *QUICK, "-o", "no/such/", self.workload, status=lab.FAILED)
        self.assert_one_line(result, "no/such/")
        self.assertEqual(sorted(os.listdir(self.place)), ["empty", "file"])
