#!/usr/bin/env python3
"""The whole way from a plan to one answer: hosts whose workloads have one name stay rows of their own, whatever order their cells come
in; what is missing is named until it is there; the plan's directory and what was kept of it are the same to report, check and compare."""
import json
import shutil
import unittest

import lab
import test_cell

HOSTS = ["db-1", "db-2", "web-1", "web-2", "web-3"]
OPTIONS = ["-a", "glibc,glibc+nocache", "-n", "8", "--memory-rounds", "0", "--blocks", "1", "--load", "100"]


class Collect(test_cell.Planned):
    def setUp(self):
        super().setUp()
        for number, host in enumerate(HOSTS):
            self.workload(f"hosts/{host}/x.wl", 64 + 16 * (number // 2), calls=900)  # two and two of them hold the same calls
        self.plan("hosts", options=OPTIONS)

    def collected(self, *arguments, status=lab.DONE):
        return self.mallab("collect", *arguments, "plan", status=status).stdout.decode()

    def test_from_a_plan_to_one_answer(self):
        self.assertIn("5 cells (0-4): no result yet", self.collected(status=lab.FAILED))
        self.assertEqual(self.collected("--missing", status=lab.FAILED), "0-4\n")
        for cell in (3, 0, 4):
            self.mallab("cell", "plan", cell)
        self.assertEqual(self.collected("--missing", status=lab.FAILED), "1-2\n")
        some = json.loads(self.collected("--json", status=lab.FAILED))
        self.assertEqual([one["cell"] for one in some["missing"]], [1, 2])
        told = self.mallab("check", "--budget", "fleet:time<=+900%", "plan", status=5).stdout.decode()
        self.assertIn("inconclusive", told)  # a fleet that is not whole passes no gate
        for cell in (2, 1):
            self.mallab("cell", "plan", cell)
        self.assertEqual(self.collected("--missing"), "")
        document = json.loads(self.collected("--json"))
        fleet = document["fleet"]
        self.assertEqual([host["label"] for host in fleet["hosts"]], HOSTS)
        self.assertEqual(len({host["file_digest"] for host in fleet["hosts"]}), 3)
        self.assertEqual([document["missing"], fleet["workloads"]], [[], 5])
        for key in ("name", "ratio", "ratio_low", "ratio_high", "new_host_low", "new_host_high", "faster", "slower"):
            self.assertIn(key, fleet["candidates"][1])

        # The same files elsewhere, in another order of coming: the same bytes.
        shutil.copytree(self.place / "plan", self.place / "other")
        cells = self.place / "other" / "cells"
        shutil.move(cells, self.place / "came")
        cells.mkdir(mode=0o755)
        for name in ("4.json", "1.json", "0.json", "3.json", "2.json"):
            shutil.copy(self.place / "came" / name, cells)
        self.assertEqual(json.loads(self.mallab("collect", "--json", "other").stdout), document)
        self.mallab("collect", "-o", "fleet.json", "plan")
        self.assertEqual((self.place / "fleet.json").read_bytes(), self.collected("--json").encode())

        # A plan is a fleet to every verb, and what was kept of it the same.
        self.assertEqual(self.mallab("report", "plan").stdout, self.mallab("report", "fleet.json").stdout)
        self.assertIn("5 hosts", self.mallab("report", "plan").stdout.decode())
        self.assertNotIn("moved", self.mallab("report", "plan").stdout.decode())
        self.assertIn("within", self.mallab("check", "--budget", "fleet:time<=+900%", "fleet.json").stdout.decode())
        self.mallab("check", "--budget", "fleet:time<=-90%", "plan", status=4)
        self.assertIn("5 in both", self.mallab("compare", "fleet.json", "plan").stdout.decode())
        self.assertEqual(json.loads(self.mallab("report", "--json", "plan").stdout), document)
        one = json.loads(self.mallab("report", "--json", "plan/cells/3.json").stdout)
        self.assertEqual(one["cell"]["label"], self.rows()[3]["label"])

    def test_what_is_no_plan_is_refused(self):
        self.assert_one_line(self.mallab("collect", "hosts", status=lab.BAD_INPUT), "hosts")
        (self.place / "plan" / "manifest.tsv").write_text("mallab-plan/2\n")
        self.assert_one_line(self.mallab("collect", "plan", status=lab.BAD_INPUT), "another schema")


if __name__ == "__main__":
    lab.main()
