#!/usr/bin/env python3
"""The templates of scripts/fleet without a cluster: GNU parallel and Snakemake run a plan's cells, and that for Kubernetes is held
against its schema. tests/e2e/test_slurm.py has Slurm. MALLAB_FLEET_CELLS=1000: as many cells through parallel."""

import json
import os
import pathlib
import re
import shutil
import unittest

import fleet_plan
import lab

try:
    import yaml
except ImportError:
    yaml = None

CELLS = int(os.environ.get("MALLAB_FLEET_CELLS", 60))
lab.PATIENCE_S = max(lab.PATIENCE_S, CELLS)
NODE_CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "mallab" / "node"
TEMPLATES = ("slurm.sh", "parallel.sh", "kubernetes.yaml", "Snakefile")


class Templates(lab.Lab):
    def test_small_and_only_the_three_verbs(self):
        for name in TEMPLATES:
            text = (fleet_plan.FLEET / name).read_text()
            self.assertLessEqual(text.count("\n"), 30, name)
            self.assertLessEqual(set(re.findall(r"\bmallab[\", ]+(\w+)", text)), {"plan", "cell", "collect"}, name)

    def run_template(self, *command, status=lab.DONE, **settings):
        environment = dict(settings.pop("env", {}), PATH=f"{lab.BUILD}:{os.environ['PATH']}")
        result = lab.run(command, env=environment, cwd=self.place, **settings)
        self.assertEqual(result.returncode, status, result.stdout.decode() + result.stderr.decode())
        return result

    @lab.needs("parallel")
    def test_parallel(self):
        """All cells, two at a time; a second run has nothing to do. A result that is lost, and only that, is made again."""
        plan = fleet_plan.small_plan(self, 12, blocks=(CELLS + 11) // 12, ops=200, candidates="glibc")
        cells = 12 * ((CELLS + 11) // 12)
        self.run_template(fleet_plan.FLEET / "parallel.sh", plan, "--jobs", 2)
        self.assertEqual(set(fleet_plan.results(plan)), set(range(cells)))
        log = plan / "parallel.log"
        self.assertEqual(log.read_text().count("\n"), 1 + cells)
        log.unlink()
        self.run_template(fleet_plan.FLEET / "parallel.sh", plan)
        self.assertLessEqual(log.read_text().count("\n") if log.exists() else 0, 1)
        (plan / "cells/7.json").unlink()
        self.run_template(fleet_plan.FLEET / "parallel.sh", plan)
        self.assertEqual(log.read_text().count("\n"), 2)
        self.assertEqual(set(fleet_plan.results(plan)), set(range(cells)))

    @lab.needs("parallel")
    def test_parallel_on_hosts(self):
        """Two hosts over ssh (in whose place a shell runs here): a cell that fails is tried twice, and the verdict names it."""
        plan = fleet_plan.small_plan(self, 3)
        workload = fleet_plan.workload_of(plan, 1)
        workload.write_bytes(workload.read_bytes()[:1000])
        ssh = self.place / "ssh"
        ssh.write_text('#!/bin/sh\nshift 2\nSHELL=/bin/sh exec sh -c "$*"\n')  # of: host -- command; sshd sets SHELL
        ssh.chmod(0o755)
        result = self.run_template(fleet_plan.FLEET / "parallel.sh", plan, "--ssh", ssh, "-S", "1/one,1/two", status=lab.FAILED)
        self.assertEqual(len(fleet_plan.results(plan)), 2)
        failed = [line.split("\t") for line in (plan / "parallel.log").read_text().splitlines() if "\t3\t0\t" in line]
        self.assertEqual(len(failed), 1)
        self.assertIn("exit 3", result.stdout.decode())

    @lab.needs("snakemake")
    def test_snakemake(self):
        plan = fleet_plan.small_plan(self, 3)
        command = ("snakemake", "-s", fleet_plan.FLEET / "Snakefile", "-j1", "--config", f"plan={plan}")
        self.run_template(*command, env={"HOME": str(self.place)})
        self.assertEqual(set(fleet_plan.results(plan)), {0, 1, 2})
        (plan / "cells/1.json").unlink()
        self.run_template(*command, env={"HOME": str(self.place)})
        self.assertEqual(set(fleet_plan.results(plan)), {0, 1, 2})


@unittest.skipIf(yaml is None, "not installed: python3-yaml")
class Kubernetes(lab.Lab):
    @lab.needs("node")
    @unittest.skipUnless((NODE_CACHE / "node_modules/kubernetes-models").is_dir(), f"no kubernetes-models in {NODE_CACHE}")
    def test_schema(self):
        """The template is valid, and the check would see if it were not: wrong types and a lacking key, each at another depth."""
        text = (fleet_plan.FLEET / "kubernetes.yaml").read_text()
        spec = yaml.safe_load(text)["spec"]
        self.assertEqual((spec["completionMode"], spec["podReplacementPolicy"]), ("Indexed", "Failed"))
        planted = (("completions: 12", "completions: twelve"), ("values: [2, 3]", "values: [two]"), ("operator: In, ", ""),
                   ("mountPath: /plan", "mountPath: 7"))
        for was, _ in planted:
            self.assertEqual(text.count(was), 1, was)
        jobs = [yaml.safe_load(text.replace(*plant)) for plant in (("", ""), *planted)]
        checker = pathlib.Path(__file__).with_name("kubernetes_check.js")
        result = lab.run(["node", checker, NODE_CACHE], input=json.dumps(jobs).encode(), stdin=None)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        valid, *faulty = json.loads(result.stdout)
        self.assertEqual(valid, "")
        self.assertNotIn("", faulty)


if __name__ == "__main__":
    lab.main()
