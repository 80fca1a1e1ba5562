#!/usr/bin/env python3
"""The templates of scripts/ci: their commands, taken out of the YAML, are run as the services run them, on a program of ours. What
judges runs twice on one measurement: with a budget that holds whatever the noise, and with one that nothing can hold. Not run:
the installation of mallab (apt-get, git clone, a build), of which only the shell syntax is checked."""
import json
import os
import shutil
import unittest
import xml.etree.ElementTree

import lab

try:
    import yaml
except ImportError:
    yaml = None

CI = lab.SOURCE / "scripts/ci"
WIDE, NARROW = "time<=+100000%,rss-peak<=+100000%", "time<=-99.9%,rss-peak<=1B"
OVER = 4


@unittest.skipIf(yaml is None, "not installed: python3-yaml")
class Templates(lab.Lab):
    def shell(self, script, variables, shell, status=lab.DONE):
        environment = dict(variables, PATH=f"{lab.BUILD}:{os.environ['PATH']}",
                           GITHUB_STEP_SUMMARY=str(self.place / "step-summary.md"))
        result = lab.run([*shell, "-e", "-c", script], cwd=self.place, env=environment)
        self.assertEqual(result.returncode, status, f"{script}\n{result.stdout.decode()}\n{result.stderr.decode()}")
        return result.stdout.decode()

    def variables(self, declared, budget):
        self.assertLessEqual({"GATE_PROGRAM", "GATE_CANDIDATES", "GATE_ROUNDS", "GATE_BUDGET"}, set(declared))
        self.assertEqual(declared["GATE_BUDGET"], "time<=+3%,rss-peak<=+5%")
        found = [name for name in declared["GATE_CANDIDATES"].split(",") if name in lab.candidates()]
        if len(found) < 2:
            self.skipTest(f"needs two of {declared['GATE_CANDIDATES']}")
        self.assertGreaterEqual(int(declared["GATE_ROUNDS"]), 8)
        return dict(GATE_PROGRAM=f"{lab.PROGRAMS}/repeat 2000", GATE_CANDIDATES=declared["GATE_CANDIDATES"],
                    GATE_ROUNDS="8", GATE_BUDGET=budget)

    def check_reports(self, over):
        self.assertIn("over budget" if over else "within budget", (self.place / "summary.md").read_text())
        suites = xml.etree.ElementTree.parse(self.place / "junit.xml").getroot()
        self.assertEqual((suites.tag, int(suites.get("tests"))), ("testsuites", 2))
        self.assertEqual(int(suites.get("failures")) > 0, over)
        benchmark = json.loads((self.place / "benchmark.json").read_text())
        self.assertGreaterEqual(len(benchmark), 2 * 4)
        for item in benchmark:
            self.assertEqual(set(item), {"name", "unit", "value", "range", "extra"})

    def judge_again(self):
        """A later job with the same cache: what was measured is there, what was told of it is not."""
        shutil.rmtree(self.place / "recording")
        for name in ("table.md", "summary.md", "junit.xml", "benchmark.json"):
            (self.place / name).unlink()

    def test_github(self):
        template = yaml.safe_load((CI / "github-actions.yml").read_text())
        scripts = {step["id"]: step["run"] for step in template["jobs"]["gate"]["steps"] if "run" in step}
        self.assertEqual(list(scripts), ["install", "record", "replay", "gate", "publish"])
        lab.run(["sh", "-n", "-c", scripts["install"]], check=True)
        variables = self.variables(template["env"], WIDE)
        for name in ("record", "replay"):
            self.shell(scripts[name], variables, ["sh"])
        self.assertNotIn("::error", self.shell(scripts["gate"], variables, ["sh"]))
        self.shell(scripts["publish"], variables, ["sh"])
        self.check_reports(over=False)
        self.assertIn("within budget", (self.place / "step-summary.md").read_text())
        workload = (self.place / "mallab-workload/program.wl").read_bytes()

        self.judge_again()
        variables["GATE_BUDGET"] = NARROW
        self.shell(scripts["record"], variables, ["sh"])
        self.assertFalse((self.place / "recording").exists())  # recorded once
        self.assertEqual((self.place / "mallab-workload/program.wl").read_bytes(), workload)
        self.assertIn("::error title=", self.shell(scripts["gate"], variables, ["sh"], OVER))
        self.shell(scripts["publish"], variables, ["sh"])
        self.check_reports(over=True)

    def test_gitlab(self):
        template = yaml.safe_load((CI / "gitlab-ci.yml").read_text())["mallab"]
        variables = self.variables(template["variables"], WIDE)
        lab.run(["sh", "-n", "-c", "\n".join(template["before_script"])], check=True)
        self.assertEqual(template["allow_failure"], {"exit_codes": 5})
        self.shell("\n".join(template["script"]), variables, ["sh"])
        for path in template["artifacts"]["paths"] + [template["artifacts"]["reports"]["junit"]]:
            self.assertTrue((self.place / path).exists(), path)
        self.check_reports(over=False)

        self.judge_again()
        others = [line for line in template["script"] if not line.startswith("mallab ab ")]
        self.assertEqual(len(others), len(template["script"]) - 1)
        self.shell("\n".join(others), dict(variables, GATE_BUDGET=NARROW), ["sh"], OVER)
        self.check_reports(over=True)


if __name__ == "__main__":
    lab.main()
