#!/usr/bin/env python3
"""What call sites hold under each allocator: of a program whose answer is known, in the result, on the screen and as a flame graph."""
import json
import unittest

import lab

MIB = 1 << 20
KNOWN = {"fills": (20000, 20000000), "scatters": (20000, 2000000), "reserves": (1, 64 * MIB), "churns": (30000, 0)}


class SiteCosts(lab.Lab):
    def setUp(self):
        super().setUp()
        self.names = lab.candidates()
        self.screen = self.mallab("ab", "--sites", "--details", "-n", "1", "-b", "glibc", "-a", ",".join(self.names), "-o", "r.json", "--",
                                  lab.PROGRAMS / "site_costs").stdout.decode()
        self.workload = json.loads((self.place / "r.json").read_text())["workloads"][0]
        self.sites = self.workload["sites"]

    def rows(self):
        return {row["site"].split(" ")[0]: row for row in self.sites["rows"]}

    def folded(self, *options):
        lines = self.mallab("flame", *options, self.place / "r.json").stdout.decode().splitlines()
        return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines}

    def test_what_is_known(self):
        rows = self.rows()
        for name, (calls, live) in KNOWN.items():
            self.assertEqual((name, rows[name]["allocations"], rows[name]["live_bytes"]), (name, calls, live))
        self.assertEqual(self.sites["peak_bytes"], sum(row["live_bytes"] for row in rows.values()))

    def test_held(self):
        """All of what is written to is held, little more, and nothing of what is only reserved; sums are those of the pages."""
        rows = self.rows()
        for at, candidate in enumerate(self.sites["candidates"]):
            held = {name: row["costs"][at]["held_bytes"] for name, row in rows.items()}
            told = (candidate, held)
            for name, most in (("fills", 1.25), ("scatters", 1.6)):
                self.assertTrue(0.99 * KNOWN[name][1] < held[name] < most * KNOWN[name][1], told)
            self.assertLess(held["reserves"], 4 * MIB, told)
            self.assertEqual(held["churns"], 0, told)
            self.assertLess(abs(sum(held.values()) - candidate["pages_bytes"]), 0.01 * candidate["pages_bytes"], told)
            self.assertLess(abs(candidate["held_bytes"] - candidate["pages_bytes"]), 0.01 * candidate["pages_bytes"], told)
            self.assertLess(candidate["pages_bytes"], 1.02 * candidate["resident_bytes"], told)

    def test_time_is_in_the_same_result(self):
        said = self.mallab("ab", "--cost", "-n", "6", "--no-syscalls", "-a", "glibc", "-o", "cost.json", "--", lab.PROGRAMS / "site_costs").stdout.decode()
        (workload,) = json.loads((self.place / "cost.json").read_text())["workloads"]
        self.assertIn("churns", {one["words"].split(" ")[0]: one for one in workload["removals"]})
        for one in workload["removals"]:
            time = one["candidates"][0]["time"]
            self.assertLessEqual(time["saved_low_ns"], time["saved_ns"])
            self.assertAlmostEqual(time["ns_per_allocation"], time["saved_ns"] / one["allocations"], delta=0.001 + 0.5 / one["allocations"] + abs(time["saved_ns"]) * 1e-6)  # whole ns
        self.assertIn("where one call site is left out", said)
        self.assertIn("sites", workload)  # what they hold, too
        self.mallab("report", "--format", "html", "-o", "cost.html", "cost.json")
        self.assertIn('"removals"', (self.place / "cost.html").read_text())

    def test_processes_of_a_group_are_summed(self):
        program = lab.PROGRAMS / "site_costs"
        self.mallab("ab", "--sites", "-n", "1", "-a", "glibc", "--no-syscalls", "--process", "site_costs", "-o", "group.json", "--",
                    "sh", "-c", f"{program} & {program}; wait")
        workload = json.loads((self.place / "group.json").read_text())["workloads"][0]
        sites = workload["sites"]
        rows, candidate = sites["rows"], sites["candidates"][0]
        self.assertEqual((workload["group_processes"], sites["peak_op"]), (2, None))
        self.assertEqual(sum(row["live_bytes"] for row in rows), sites["peak_bytes"])
        self.assertGreater(sites["peak_bytes"], 0.99 * self.sites["peak_bytes"])  # of one at least: whether they meet is chance
        self.assertEqual(len({row["site"] for row in rows}), len(rows))
        held = sum(row["costs"][0]["held_bytes"] for row in rows)
        self.assertLess(abs(held - candidate["held_bytes"]), 0.01 * held + 4096)
        self.assertLess(abs(candidate["held_bytes"] - candidate["pages_bytes"]), 0.01 * held + 4096)
        folded = self.mallab("flame", "--value", "held", self.place / "group.json").stdout.decode()
        self.assertIn("main;", folded)

    def test_screen(self):
        self.assertIn("held at the peak", self.screen)
        self.assertIn("[allocator's own]", self.screen)
        for name in KNOWN:
            self.assertIn(name, self.screen)

    def test_flame(self):
        held = self.folded("--value", "held", "-a", "glibc")
        candidate = self.sites["candidates"][0]
        self.assertAlmostEqual(sum(held.values()), max(candidate["resident_bytes"], candidate["held_bytes"]), delta=len(held) + 2)
        self.assertTrue(any(stack.endswith("main;fills") for stack in held), held)
        calls = self.folded("--value", "count")
        self.assertEqual(next(n for stack, n in calls.items() if stack.endswith("main;churns")), 30000)
        self.mallab("flame", "--value", "held", "-a", "no-such", self.place / "r.json", status=lab.FAILED)
        self.mallab("flame", "--value", "held", "-o", "r.html", self.place / "r.json")
        self.assertIn('"held","unit":"bytes"', (self.place / "r.html").read_text())

    def test_a_page_has_the_tables(self):
        self.mallab("report", "--format", "html", "-o", "page.html", self.place / "r.json")
        page = (self.place / "page.html").read_text()
        self.assertIn("Memory by call site", page)
        self.assertNotIn("node_frames", page)

    def test_without_stacks_it_is_told(self):
        self.mallab("record", "--quiet", "-o", "plain", lab.PROGRAMS / "site_costs")
        self.mallab("record", "--quiet", "--sites=4K", "-o", "sampled", lab.PROGRAMS / "site_costs")
        for name, words in (("plain", "mallab record --sites"), ("sampled", "--sites alone")):
            for option in ("--sites", "--cost"):  # before any round: a thousand would take hours
                said = self.mallab("ab", option, "-n", "1000", "-a", "glibc", name, status=lab.BAD_INPUT)
                self.assertIn(words, said.stderr.decode())
                self.assertEqual(said.stdout, b"")
        answer = json.loads((self.place / "r.json").read_text())
        answer["workloads"][0]["sites"] = {"unavailable": "the workload has no call stacks: record with --sites"}
        self.assertIn("mallab ab --sites", self.mallab("flame", "--value", "held", "-a", "glibc", self.empty_result(answer), status=lab.BAD_INPUT).stderr.decode())

    def empty_result(self, answer):
        (self.place / "plain.json").write_text(json.dumps(answer))
        return self.place / "plain.json"


if __name__ == "__main__":
    unittest.main()
