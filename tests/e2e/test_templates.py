#!/usr/bin/env python3
"""The templates of scripts/ci: their commands, taken out of the YAML, are run as the services run them, on a program of ours: once
with a budget that holds whatever the noise, once with one that nothing can hold. Not run: the installation of mallab
(apt-get, git clone, a build), of which only the shell syntax is checked."""
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
        return dict(GATE_PROGRAM=f"{lab.PROGRAMS}/repeat 20000", GATE_CANDIDATES=declared["GATE_CANDIDATES"],
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

    def forget(self):
        for name in ("result.json", "table.md", "summary.md", "junit.xml", "benchmark.json"):
            (self.place / name).unlink()

    def github(self, budget, status):
        template = yaml.safe_load((CI / "github-actions.yml").read_text())
        variables = self.variables(template["env"], budget)
        scripts = {step["id"]: step["run"] for step in template["jobs"]["gate"]["steps"] if "run" in step}
        self.assertEqual(set(scripts), {"install", "record", "replay", "gate", "publish"})
        lab.run(["sh", "-n", "-c", scripts["install"]], check=True)
        for name in ("record", "replay"):
            self.shell(scripts[name], variables, ["sh"])
        shown = self.shell(scripts["gate"], variables, ["sh"], status)
        self.shell(scripts["publish"], variables, ["sh"])
        return shown

    def test_github(self):
        shown = self.github(WIDE, lab.DONE)
        self.assertNotIn("::error", shown)
        self.check_reports(over=False)
        self.assertIn("within budget", (self.place / "step-summary.md").read_text())
        workload = (self.place / "mallab-workload/program.wl").read_bytes()
        shutil.rmtree(self.place / "recording")
        self.forget()
        self.assertIn("::error title=", self.github(NARROW, OVER))
        self.check_reports(over=True)
        self.assertEqual((self.place / "mallab-workload/program.wl").read_bytes(), workload)  # recorded once

    def gitlab(self, budget, status):
        template = yaml.safe_load((CI / "gitlab-ci.yml").read_text())["mallab"]
        variables = self.variables(template["variables"], budget)
        lab.run(["sh", "-n", "-c", "\n".join(template["before_script"])], check=True)
        self.assertEqual(template["allow_failure"], {"exit_codes": 5})
        self.shell("\n".join(template["script"]), variables, ["sh"], status)
        for path in template["artifacts"]["paths"] + [template["artifacts"]["reports"]["junit"]]:
            self.assertTrue((self.place / path).exists(), path)

    def test_gitlab(self):
        self.gitlab(WIDE, lab.DONE)
        self.check_reports(over=False)
        shutil.rmtree(self.place / "recording")
        self.forget()
        self.gitlab(NARROW, OVER)
        self.check_reports(over=True)


if __name__ == "__main__":
    lab.main()
