"""Rounds that are added until the intervals are narrow or the time is spent: the table and the JSON say which; order and seed are kept."""
import json

import lab


class Until(lab.Lab):
    def setUp(self):
        super().setUp()
        self.workload = self.made(1, 20_000, 21, 500, name="one.wl")

    def measured(self, *options):
        answer = self.answer("ab", "-q", "--json", "-a", "glibc", *options, self.workload)
        return answer["workloads"][0]

    def test_what_ended_the_rounds(self):
        workload = self.measured("-n", 2)
        self.assertEqual((workload["stopped"]["by"], workload["rounds"]), ("rounds", 2))
        workload = self.measured("--decide", "time<=+100%", "-n", 40)
        stopped = workload["stopped"]
        self.assertIn(stopped["by"], ("decided", "rounds_max"))
        self.assertGreaterEqual(workload["rounds"], 16)
        self.assertTrue(stopped["by"] == "rounds_max" or stopped["width"] < stopped["until_width"] / 2**0.5, stopped)
        self.assertEqual((stopped["until_width"], stopped["rounds_max"]), (1, 40))
        self.assertEqual(self.measured("--decide", "time<=+100%")["stopped"]["time_budget_ns"], 120 * 10**9)
        workload = self.measured("--decide", "time<=+0.1%", "-n", 9)
        self.assertEqual((workload["stopped"]["by"], workload["rounds"]), ("rounds_max", 9))
        workload = self.measured("--time-budget", "1s", "-n", 1000)
        self.assertEqual(workload["stopped"]["by"], "time_budget")
        self.assertEqual(workload["stopped"]["time_budget_ns"], 10**9)

    def test_a_time_budget_holds(self):
        """Of what is spent by the warm-up one round is made: no verdict, no passes, and that is told."""
        shown = self.mallab("ab", "-q", "--latency", "--time-budget", "1ms", "-a", "glibc,glibc+nocache", "-o", "result.json", self.workload)
        workload = json.loads((self.place / "result.json").read_text())["workloads"][0]
        self.assertEqual((workload["stopped"]["by"], workload["rounds"], workload["memory_rounds"]), ("time_budget", 1, 1))
        self.assertIn("no time was left", workload["candidates"][0]["latency"]["unavailable"])
        self.assertEqual({one["time"]["verdict"] for one in workload["candidates"][1:]}, {"undecided"})
        words = " ".join(self.mallab("report", "--details", "result.json").stdout.decode().split())
        self.assertIn("no verdict from 1 round, it takes 8: --time-budget ", words)

    def decide(self, rules, *options, status=lab.DONE):
        return self.mallab("ab", "-f", "-n", 60, "-a", "glibc,glibc+arena_max=8", "--decide", rules, *options, self.workload, status=status)

    def test_what_is_decided(self):
        """What the looks end by is what `mallab check` says of the result, within it and against an earlier one."""
        rules = "rss-peak<=+50%,rss-peak<=1KiB,time<=+400%"
        told = self.decide(rules, "-o", "old.json").stderr.decode()
        old = json.loads((self.place / "old.json").read_text())["workloads"][0]
        self.assertIn("decided: 2 within, 1 over, 0 inconclusive, as 'mallab check' says", told)
        self.assertEqual((old["stopped"]["by"], old["stopped"]["until_width"]), ("decided", 4))
        self.assertGreaterEqual(old["rounds"], 18)  # the second look
        checked = self.answer("check", "--json", "--budget", rules, "old.json", status=4)
        self.assertEqual(checked["counts"], {"within": 2, "over": 1, "inconclusive": 0})

        rules = "rss-peak<=+50%,time<=+400%"
        told = self.decide(rules, "--baseline", "old.json", "-o", "new.json").stderr.decode()
        checked = self.answer("check", "--json", "--budget", rules, "--baseline", "old.json", "new.json")
        self.assertIn(f"decided: {checked['counts']['within']} within, 0 over, 0 inconclusive", told)

    def test_what_cannot_be_decided(self):
        told = self.decide("nobody:time<=+3%", "-o", "new.json", status=lab.FAILED).stderr.decode()
        self.assertIn("fits nothing: the result has no candidate 'nobody'", told)
        self.assertEqual(json.loads((self.place / "new.json").read_text())["workloads"][0]["rounds"], 16)  # the first look
        other = self.made(1, 9_000, 22, 500, name="other.wl")
        self.mallab("ab", "-q", "-n", 3, "-a", "glibc", "-o", "other.json", other)
        told = self.decide("time<=+3%", "--baseline", "other.json", status=lab.FAILED).stderr.decode()
        self.assertIn("they replayed different workloads", told)
        self.assertIn("cannot read 'nothing.json'", self.decide("time<=+3%", "--baseline", "nothing.json", status=lab.BAD_INPUT).stderr.decode())
