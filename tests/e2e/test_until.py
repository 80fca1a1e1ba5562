#!/usr/bin/env python3
"""Rounds that are added until the intervals are narrow or the time is spent: the table and the JSON say which; order and seed are kept."""
import json

import lab


class Until(lab.Lab):
    def setUp(self):
        super().setUp()
        self.workload = self.place / "one.wl"
        lab.run([lab.PROGRAMS / "replay_workload", self.workload, 1, 20_000, 21, 500]).check_returncode()

    def measured(self, *options):
        answer = self.answer("ab", "-q", "--json", "-a", "glibc", *options, self.workload)
        return answer["workloads"][0]

    def test_what_ended_the_rounds(self):
        workload = self.measured("-n", 2)
        self.assertEqual((workload["stopped"]["by"], workload["rounds"]), ("rounds", 2))
        workload = self.measured("--resolve", "100%", "-n", 40)
        stopped = workload["stopped"]
        self.assertIn(stopped["by"], ("until", "rounds_max"))
        self.assertGreaterEqual(workload["rounds"], 8)
        self.assertEqual(stopped["by"] == "until", stopped["width"] < stopped["until_width"])
        self.assertEqual((stopped["until_width"], stopped["rounds_max"]), (1, 40))
        self.assertEqual(self.measured("--resolve", "100%")["stopped"]["time_budget_ns"], 60 * 10**9)
        workload = self.measured("--resolve", "0.000001%", "-n", 9)
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

    def test_order_and_seed_are_kept(self):
        orders = []
        for _ in range(2):
            workload = self.measured("-n", 8, "--seed", 11)
            entries = workload["candidates"] + [workload["control"], workload["floor"]]
            rounds = [sorted(range(3), key=lambda i: entries[i]["runs"][turn]["position"]) for turn in range(8)]
            for turn in range(8):
                self.assertEqual([entry["runs"][turn]["round"] for entry in entries], [turn + 1] * 3)
                self.assertEqual(sorted(entry["runs"][turn]["position"] for entry in entries), [1, 2, 3])
            orders.append(rounds)
        self.assertEqual(orders[0], orders[1])
        self.assertGreater(len({tuple(order) for order in orders[0]}), 1)

    def test_the_table_says_it(self):
        told = self.mallab("ab", "--details", "-a", "glibc", "--resolve", "0.000001%", "-n", 8, self.workload)
        table = " ".join(told.stdout.decode().split())
        self.assertRegex(told.stderr.decode(), r"one.wl: about [0-9.]+ m?s\n")
        self.assertIn(", no more than 8 are made (-n); the widest interval of time is ", table)
        self.assertIn("noise glibc against itself differs", table)

    def test_the_estimate_has_all_of_it(self):
        """Passes for memory and behind the rounds, and the program itself; what no budget holds is told."""
        command = ("--", lab.PROGRAMS / "blocks")
        said = " ".join(self.mallab("ab", "--time-budget", "1ms", "--confirm=1s", *command).stderr.decode().split())
        self.assertRegex(said, r"about [0-9.]+ m?s, the least for a verdict: --time-budget ends them before; --head \d+000 would fit 1 ms"
                               r"; then the program itself, up to 1 s")

    def test_misuse(self):
        for options in (["--resolve", "2"], ["--resolve", "0%"], ["--resolve", "-1%"], ["--resolve", "101%"], ["--resolve", "nan%"],
                        ["--time-budget", "soon"], ["--resolve", "2%", "-n", 7]):
            refused = self.mallab("ab", *options, self.workload, status=lab.MISUSE)
            self.assertIn(b"mallab ab: ", refused.stderr)


if __name__ == "__main__":
    lab.main()
