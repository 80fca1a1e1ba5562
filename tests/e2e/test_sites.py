#!/usr/bin/env python3
"""Who allocates and who does not free: a program whose sites are known, recorded with its call stacks."""
import json
import unittest

import lab

OWN = ("churns", "keeps", "grows", "descends", "hands_over")


class Sites(lab.Lab):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = lab.BUILD / "tests/e2e/sites"

    def record(self):
        self.mallab("record", "--quiet", "--sites", "-o", "rec", self.program)
        return self.place / "rec"

    def told(self, verb, *options):
        answer = json.loads(self.mallab(verb, "--json", "--top", "0", *options, self.record_path).stdout)
        return answer, {site["site"].split(" ")[0]: site for site in answer["sites"]}

    def setUp(self):
        super().setUp()
        self.record_path = self.record()

    def test_counts_of_each_function(self):
        answer, sites = self.told("sites", "--by", "function")
        expected = {"churns": (4000, 400000), "keeps": (300, 19200), "descends": (80, 4000), "hands_over": (100, 20000),
                    "grows": (44, 4 * sum(1000 * i for i in range(1, 12)))}
        for name, (calls, size) in expected.items():
            self.assertEqual((name, sites[name]["allocations"], sites[name]["bytes"]), (name, calls, size))
        self.assertEqual(sum(site["allocations"] for site in answer["sites"]), answer["allocations"])
        self.assertEqual(sites["churns"]["soon_share"], 1)
        self.assertEqual(sites["hands_over"]["elsewhere_share"], 1)
        self.assertEqual(sites["keeps"]["freed_share"], 0)
        self.assertEqual(sites["grows"]["freed_share"], 1)
        self.assertEqual(sites["keeps"]["live_bytes"], 19200)

    def test_a_stack_has_its_callers_and_lines(self):
        _, sites = self.told("sites", "--by", "site")
        frames = sites["churns"]["stack"]
        self.assertEqual([frame["function"] for frame in frames][:3], ["xmalloc", "churns", "main"])
        self.assertTrue(frames[1]["file"].endswith("sites.c"), frames[1])
        source = (lab.SOURCE / "tests/e2e/sites.c").read_text().splitlines()
        self.assertIn("xmalloc(100)", source[frames[1]["line"] - 1])

    def test_each_depth_is_a_stack(self):
        answer, _ = self.told("sites", "--by", "stack", "--filter", "descends")
        self.assertEqual(sorted(sum(frame["function"] == "descends" for frame in site["stack"])
                                for site in answer["sites"]), list(range(1, 21)))

    def test_what_is_never_freed_comes_first(self):
        answer, _ = self.told("leaks", "--by", "function")
        self.assertEqual(answer["sites"][0]["site"], "keeps")
        self.assertEqual(sum(answer["sites"][0][f"quarter{i}_bytes"] for i in range(1, 5)), 19200)
        self.assertEqual({site["site"] for site in answer["sites"]} & set(OWN), {"keeps"})

    def test_a_budget_of_leaks(self):
        self.mallab("leaks", "--budget", "1M", self.record_path)
        said = self.mallab("leaks", "--budget", "1k", "--by", "function", self.record_path, status=4).stderr.decode()
        self.assertIn("over its budget: 19.2 kB live at keeps", said)

    def test_a_recording_without_stacks_is_told(self):
        self.mallab("record", "--quiet", "-o", "plain", self.program)
        said = self.mallab("sites", self.place / "plain", status=lab.BAD_INPUT).stderr.decode()
        self.assertIn("mallab record --sites", said)


if __name__ == "__main__":
    unittest.main()
