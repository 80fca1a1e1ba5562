#!/usr/bin/env python3
"""The gate on real runs: a budget that holds whatever the noise, one that nothing holds, too few rounds; two real results compared; and
results that are damaged in every key that is read end in a message, never in a crash."""
import json

import lab

OVER, INCONCLUSIVE = 4, 5
DATA = lab.SOURCE / "tests/cli/data"


class Check(lab.Lab):
    def measured(self, rounds, name, workload, *options):
        self.mallab("ab", "-q", "-n", rounds, "-a", "glibc", *options, "-o", name, workload)
        return self.place / name

    def test_real_runs(self):
        recording = self.record(lab.PROGRAMS / "repeat", 20_000, stdout=lab.subprocess.DEVNULL)
        workload = self.convert(recording)
        self.measured(8, "then.json", workload)
        now = self.measured(8, "now.json", workload, "--latency")
        few = self.measured(2, "few.json", workload)
        limits = "time<=1s,rss-peak<=64GiB,rss-mean<=64GiB,rss-end<=64GiB,rss-idle<=64GiB,faults<=1000000000"
        answer = self.answer("check", "--json", "--budget", limits + ",p99<=10s,p99.9<=10s", now)
        self.assertEqual((answer["outcome"], answer["counts"]["within"], len(answer["findings"])), ("within", 8, 8))
        for finding in answer["findings"]:  # of the rounds, the memory passes and the latency passes
            self.assertEqual(finding["rounds"], 8 if finding["metric"] in ("time", "faults") else 3, finding)
        refused = self.mallab("check", "--budget", "p99<=10s", "then.json", status=lab.MISUSE)
        self.assertIn(b"the result has no 'p99'; for that run 'mallab ab --latency'", refused.stderr)
        self.mallab("check", "--budget", "rss-peak<=1B", now, status=OVER)
        self.mallab("check", "--budget", limits, few, status=INCONCLUSIVE)
        self.mallab("check", "--budget", limits, "--inconclusive", "pass", few)
        self.mallab("check", "--budget", "time<=+3%", now, status=lab.MISUSE)  # the baseline alone
        self.mallab("check", "--budget", "time<=+100000%", "--baseline", "then.json", now)
        self.mallab("check", "--budget", "time<=-99.9%", "--baseline", "then.json", now, status=OVER)
        compared = self.answer("compare", "--json", "then.json", now)
        (candidate,) = compared["workloads"][0]["candidates"]
        self.assertIs(compared["workloads"][0]["same_workload"], True)
        metrics = {metric["metric"]: metric for metric in candidate["metrics"]}
        self.assertLessEqual({"time", "rss-peak", "rss-mean", "rss-end", "faults"}, set(metrics))
        for metric in metrics.values():
            if metric["ratio"] is not None:
                self.assertLessEqual(metric["ratio_low"], metric["ratio_high"])

    def test_the_same_result_gives_the_same_bytes(self):
        for arguments in (["check", "--budget", "slim:time<=+3%", DATA / "gate-now.json"],
                          ["compare", DATA / "gate-then.json", DATA / "gate-now.json"]):
            self.assertEqual(self.mallab(*arguments).stdout, self.mallab(*arguments).stdout)

    def damaged(self, value, replacement):
        """Each copy of a document in which one value is replaced."""
        def places(part, path):
            yield path
            items = part.items() if isinstance(part, dict) else enumerate(part[:2]) if isinstance(part, list) else ()
            for key, inner in items:
                yield from places(inner, path + [key])
        for path in places(value, []):
            if not path:
                continue
            copy = json.loads(json.dumps(value))
            part = copy
            for key in path[:-1]:
                part = part[key]
            part[path[-1]] = replacement
            yield copy

    def test_damaged_results_end_in_a_message(self):
        good = json.loads((DATA / "gate-few.json").read_text())
        for candidate in good["workloads"][0]["candidates"]:
            del candidate["runs"][1:]
        path = self.place / "damaged.json"
        commands = (["check", "--budget", "time<=+3%,rss-peak<=1GB", path],
                    ["check", "--any-workload", "--any-machine", "--budget", "time<=+3%", "--baseline", path, DATA / "gate-now.json"],
                    ["compare", "--any-workload", path, DATA / "gate-now.json"])
        for turn, replacement in enumerate((None, [], "\u0007x", -1e300)):
            for number, copy in enumerate(self.damaged(good, replacement)):
                path.write_text(json.dumps(copy))
                # One command each: over the replacements every command meets every place.
                result = lab.run([lab.BUILD / "mallab", *commands[(number + turn) % 3]], cwd=self.place)
                self.assertIn(result.returncode, (0, 1, 2, 3, 4, 5), (number, replacement, result.stderr))
                self.assertNotIn(b"\x07", result.stdout + result.stderr)
                if result.returncode in (1, 2, 3):
                    self.assertIn(b"mallab ", result.stderr)


if __name__ == "__main__":
    lab.main()
