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
        self.mallab("check", "--budget", "time<=-99.9%", "--baseline", "then.json", now, status=INCONCLUSIVE)  # alone: nothing tells what the machine did
        compared = self.answer("compare", "--json", "then.json", now)
        self.assertNotIn("DIFFERENT", str(compared.get("told")))
        metrics = {finding["metric"]: finding for finding in compared["findings"]}
        self.assertLessEqual({"time", "rss-peak", "rss-mean", "rss-end", "faults"}, set(metrics))
        for metric in metrics.values():
            if metric["measured_low"] is not None:
                self.assertLessEqual(metric["measured_low"], metric["measured_high"])

    def shifted(self, name, factors, **changes):
        """gate-then.json with times so many times as long, by candidate; the floor and the control by ''."""
        result = json.loads((DATA / "gate-then.json").read_text())
        (workload,) = result["workloads"]
        workload.update(changes)
        for entry in [*workload["candidates"], workload["control"], workload["floor"]]:
            is_candidate = entry in workload["candidates"]
            for run in (entry or {}).get("runs", ()):
                run["whole_ns_per_op"] *= factors.get(entry["name"] if is_candidate else "", 1)
        (self.place / name).write_text(json.dumps(result))
        return self.place / name

    def rebuilt(self, name, factors, build):
        """The same, and glibc of another build under the version and path that it had."""
        result = json.loads(self.shifted(name, factors).read_text())
        result["workloads"][0]["candidates"][0].update(library="/lib/libc.so.6", build={"digest": build})
        (self.place / name).write_text(json.dumps(result))
        return self.place / name

    def test_a_baseline_rebuilt_under_its_name_is_told_and_no_yardstick(self):
        then, now = self.rebuilt("then.json", {}, "aa"), self.rebuilt("now.json", {"glibc": 1.04}, "bb")
        told = f"libc.so.6 {json.loads(then.read_text())['workloads'][0]['candidates'][0]['version']}: another build (digest aa -> bb)"
        compared = self.answer("compare", "--json", then, now)
        self.assertEqual(compared["changed_libraries"], [told])
        times = {one["candidate"]: one for one in compared["findings"] if one["metric"] == "time"}
        self.assertNotIn("faster", [one["outcome"] for one in times.values()])  # the peers, which did not change
        self.assertAlmostEqual(times["slim"]["measured"], 1, delta=0.01)
        self.assertTrue(self.mallab("compare", then, now).stdout.decode().startswith(told + "\n"))
        self.assertIn(f"- {told.replace('>', chr(92) + '>')}\n".encode(), self.mallab("compare", "--format", "md", then, now).stdout)
        check = ("check", "--budget", "time<=+3%", "--baseline", then, now)
        said = self.mallab(*check, "--junit", "j.xml", "--md", "c.md", status=None)
        self.assertIn(said.returncode, (OVER, INCONCLUSIVE))
        self.assertTrue(said.stdout.decode().startswith(told + "\n"))
        for name in ("j.xml", "c.md"):
            self.assertIn("another build", (self.place / name).read_text())
        older = self.mallab("compare", DATA / "gate-then.json", now).stdout
        self.assertIn(b"which builds of the libraries the earlier result measured is not known\n", older)

    def test_a_result_says_what_it_is_of(self):
        workload = self.convert(self.record(lab.PROGRAMS / "repeat", 2_000, stdout=lab.subprocess.DEVNULL))
        git = ("git", "-C", self.place, "-c", "user.name=a", "-c", "user.email=a@b")
        lab.run([*git, "init", "-q"])
        lab.run([*git, "commit", "-q", "--allow-empty", "-m", "one"])
        head = lab.run([*git, "rev-parse", "HEAD"]).stdout.decode().strip()
        (self.place / "nights").mkdir()
        result = json.loads(self.measured(1, "nights/a.json", workload, "--title", "try 1").read_text())
        self.assertEqual((result["label"], result["commit"]), ("try 1", head))
        (candidate,) = result["workloads"][0]["candidates"]
        self.assertRegex(candidate["build"]["digest"], "^[0-9a-f]{32}$")
        self.assertEqual(candidate["build"], result["machine"]["libc_build"])
        history = self.mallab("report", "--json", "nights").stdout.decode()
        self.assertTrue("try 1" in history and head in history)
