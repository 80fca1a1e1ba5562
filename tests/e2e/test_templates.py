"""The templates of scripts/ci: their commands, taken out of the YAML, are run one by one as the services run them, in a clean clone of a
repository of ours. What judges runs twice on one measurement: with the template's own budget on an allocator that is the baseline
once more, which never is over it, and with a limit in bytes that the program needs more than. Not run: the installation of mallab
(apt-get, git clone, a build), of which only the shell syntax is checked, and what the services' own actions do."""
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
AS_SHIPPED, NARROW = "time<=+3%,rss-peak<=+5%", "time<=+3%,rss-peak<=100KiB"
OVER, INCONCLUSIVE = 4, 5
# What Jenkins' schema of JUnit's XML lets an element have: attributes, and elements in it.
JENKINS = {
    "testsuites": ({"name", "time", "tests", "failures", "disabled", "errors"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id", "package"},
                  {"properties", "testcase", "system-out", "system-err"}),
    "properties": (set(), {"property"}),
    "property": ({"name", "value"}, set()),
    "testcase": ({"name", "assertions", "time", "classname", "status"}, {"skipped", "error", "failure", "system-out", "system-err"}),
    "skipped": ({"type", "message"}, set()),
    "failure": ({"type", "message"}, set()),
    "system-out": (set(), set()),
}


@unittest.skipIf(yaml is None, "not installed: python3-yaml")
class Templates(lab.Lab):
    def setUp(self):
        super().setUp()
        origin = self.place / "origin"
        program = origin / "program"
        git = ("git", "-C", origin, "-c", "user.name=a", "-c", "user.email=a@b")
        origin.mkdir()
        program.write_text(f"#!/bin/sh\nexec {lab.PROGRAMS}/repeat 2000\n")
        program.chmod(0o755)
        for words in (["init", "-q"], ["add", "program"], ["commit", "-q", "-m", "a program"]):
            lab.run([*git, *words], check=True)
        lab.run(["git", "clone", "-q", origin, self.place / "clone"], check=True)
        self.commit = lab.run([*git, "rev-parse", "HEAD"], check=True).stdout.decode().strip()
        self.place = self.place / "clone"

    def shell(self, script, variables, shell, status=(lab.DONE,)):
        script = script.replace("mallab ab ", "mallab ab --time-budget 5s ")  # or two minutes, where the machine decides nothing
        environment = dict(variables, PATH=f"{lab.BUILD}:{os.environ['PATH']}",
                           GITHUB_STEP_SUMMARY=str(self.place / "step-summary.md"))
        result = lab.run([*shell, "-e", "-c", script], cwd=self.place, env=environment)
        self.assertIn(result.returncode, status, f"{script}\n{result.stdout.decode()}\n{result.stderr.decode()}")
        return result.stdout.decode()

    def variables(self, declared, budget):
        """As declared, but for a program of ours, and the baseline once more."""
        self.assertLessEqual({"GATE_PROGRAM", "GATE_CANDIDATES", "GATE_BUDGET"}, set(declared))
        self.assertEqual(declared["GATE_BUDGET"], AS_SHIPPED)
        return dict(GATE_PROGRAM="./program", GATE_CANDIDATES="glibc,glibc+arena_max=8", GATE_BUDGET=budget)

    def check_schema(self, element):
        attributes, inside = JENKINS[element.tag]
        self.assertLessEqual(set(element.keys()), attributes, element.tag)
        for child in element:
            self.assertIn(child.tag, inside)
            self.check_schema(child)

    def check_reports(self, over):
        summary = (self.place / "summary.md").read_text()
        self.assertRegex(summary, r"^## mallab check: .*" + ("over budget" if over else "within budget|inconclusive"))
        self.assertRegex(summary, f"commit: {self.commit}\n")
        suites = xml.etree.ElementTree.parse(self.place / "junit.xml").getroot()
        self.assertEqual((suites.tag, int(suites.get("tests"))), ("testsuites", 2))
        self.assertEqual(int(suites.get("failures")) > 0, over)
        self.check_schema(suites)

    def judge_again(self):
        """A later job with the same cache: what was measured is there, what was told of it is not."""
        shutil.rmtree(self.place / "recording")
        for name in ("table.md", "report.html", "summary.md", "junit.xml"):
            (self.place / name).unlink()

    def test_github(self):
        template = yaml.safe_load((CI / "github-actions.yml").read_text())
        scripts = {step["id"]: step["run"] for step in template["jobs"]["gate"]["steps"] if "run" in step}
        self.assertEqual(list(scripts), ["install", "record", "replay", "gate", "publish"])
        lab.run(["sh", "-n", "-c", scripts["install"]], check=True)
        steps = template["jobs"]["gate"]["steps"]
        caches = [step for step in steps if "actions/cache/" in step.get("uses", "")]
        self.assertEqual([step["uses"].split("@")[0] for step in caches], ["actions/cache/restore", "actions/cache/save"])
        self.assertIn("github.event.repository.default_branch", caches[1]["if"])  # whose caches others see
        self.assertTrue(caches[1]["with"]["key"].startswith(caches[0]["with"]["restore-keys"]))
        self.assertIn("push", template[True])  # YAML takes "on" for a truth
        variables = self.variables(template["env"], AS_SHIPPED)
        for name in ("record", "replay"):
            self.shell(scripts[name], variables, ["sh"])
        self.shell(scripts["gate"], variables, ["sh"], (lab.DONE, INCONCLUSIVE))
        self.shell(scripts["publish"], variables, ["sh"])
        self.check_reports(over=False)
        self.assertIn("## mallab check", (self.place / "step-summary.md").read_text())
        for path in steps[-1]["with"]["path"].split():
            self.assertTrue((self.place / path).exists(), path)
        self.assertIn("report.html", steps[-1]["with"]["path"])
        workload = (self.place / "mallab-workload/program.wl").read_bytes()

        self.judge_again()
        variables["GATE_BUDGET"] = NARROW
        self.shell(scripts["record"], variables, ["sh"])
        self.assertFalse((self.place / "recording").exists())  # recorded once
        self.assertEqual((self.place / "mallab-workload/program.wl").read_bytes(), workload)
        self.shell(scripts["gate"], variables, ["sh"], (OVER,))
        self.shell(scripts["publish"], variables, ["sh"])
        self.check_reports(over=True)

    def test_gitlab(self):
        template = yaml.safe_load((CI / "gitlab-ci.yml").read_text())["mallab"]
        variables = self.variables(template["variables"], AS_SHIPPED)
        self.assertEqual((template["cache"]["unprotect"], template["cache"]["policy"]), (True, "$CACHE_POLICY"))
        self.assertIn("report.html", template["artifacts"]["paths"])
        lab.run(["sh", "-n", "-c", "\n".join(template["before_script"])], check=True)
        self.assertEqual(template["allow_failure"], {"exit_codes": 5})
        self.shell("\n".join(template["script"]), variables, ["sh"], (lab.DONE, INCONCLUSIVE))
        for path in template["artifacts"]["paths"] + [template["artifacts"]["reports"]["junit"]]:
            self.assertTrue((self.place / path).exists(), path)
        self.check_reports(over=False)

        self.judge_again()
        others = [line for line in template["script"] if not line.startswith("mallab ab ")]
        self.assertEqual(len(others), len(template["script"]) - 1)
        self.shell("\n".join(others), dict(variables, GATE_BUDGET=NARROW), ["sh"], (OVER,))
        self.check_reports(over=True)
