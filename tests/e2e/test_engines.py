"""scripts/fleet: what each file runs is run, with what its engine sets; what never comes is named. GNU parallel is run as it is. Slurm's
controller and nodes are not: that a file whose node died is begun again is Slurm's to do, where the job asks for it."""

import os
import re
import shutil
import unittest

import lab

FLEET = lab.SOURCE / "scripts/fleet"


def files(test, count):
    """Tiny workloads in test.place; their paths."""
    (test.place / "workloads").mkdir()
    paths = [test.place / f"workloads/host{number}.wl" for number in range(count)]
    for number, path in enumerate(paths):
        lab.run([lab.PROGRAMS / "replay_workload", path, 1, 20_000, number + 1]).check_returncode()
    (test.place / "files").write_text("".join(f"{path}\n" for path in paths))
    return paths


def together(test, status=lab.DONE):
    """What the results say together, where all the files are expected."""
    names = ",".join(path.name for path in sorted((test.place / "workloads").iterdir()))
    return test.answer("report", "--together", "--json", "--expect", names, "results", status=status)


class Fleet(lab.Lab):
    def environment(self, **more):
        return dict(more, PATH=f"{lab.BUILD}:{os.environ['PATH']}")

    @unittest.skipIf(shutil.which("parallel") is None, "not installed: parallel")
    def test_parallel(self):
        paths = files(self, 4)
        paths[2].write_bytes(b"no workload")
        done = lab.run([FLEET / "parallel.sh", "results", *paths], cwd=self.place, env=self.environment(MALLAB_AB="-a glibc,jemalloc -n 1"))
        self.assertEqual(done.returncode, 1, done.stderr)  # of one
        document = together(self, lab.FAILED)
        self.assertEqual([one["label"] for one in document["missing"]], ["host2.wl"])
        self.assertEqual(document["fleet"]["workloads"], 3)

    def test_slurm(self):
        paths = files(self, 2)
        script = FLEET / "slurm.sh"
        self.assertRegex(script.read_text(), r"(?m)^#SBATCH .*--requeue")
        (self.place / "results").mkdir()
        done = lab.run([script, "files", "results", "-a", "glibc", "-n", 1], cwd=self.place, env=self.environment(SLURM_ARRAY_TASK_ID="2"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([one["label"] for one in together(self, lab.FAILED)["missing"]], [paths[0].name])

    def shell_line(self, line):
        done = lab.run(["sh", "-c", line], cwd=self.place, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_snakemake(self):
        paths = files(self, 1)
        text = (FLEET / "Snakefile").read_text()
        (line,) = re.findall(r'shell: "(mallab ab .*)"', text)
        (self.place / "results").mkdir()
        output, read = (re.search(rf'(?m)^    {key}: "(.*)"$', text).group(1).replace("{name}", "host0") for key in ("output", "input"))
        self.assertEqual(self.place / read, paths[0])
        self.shell_line(line.replace("{output:q}", output).replace("{input:q}", read))
        self.assertEqual(together(self)["fleet"]["workloads"], 1)
        if shutil.which("snakemake") is not None:
            lab.run(["snakemake", "-s", FLEET / "Snakefile", "-j1", "--dry-run"], cwd=self.place, check=True)

    def test_kubernetes(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("not installed: python3-yaml")
        job = yaml.safe_load((FLEET / "kubernetes.yaml").read_text())
        self.assertEqual((job["kind"], job["spec"]["completionMode"]), ("Job", "Indexed"))
        (container,) = job["spec"]["template"]["spec"]["containers"]
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        self.assertEqual(mounts, {"fleet": "/fleet"})
        files(self, 2)
        (self.place / "results").mkdir()
        shell, option, line = container["command"]
        done = lab.run([shell, option, line.replace("/fleet/", f"{self.place}/")], cwd=self.place, env=self.environment(JOB_COMPLETION_INDEX="1"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([one["label"] for one in together(self, lab.FAILED)["missing"]], ["host0.wl"])
