"""scripts/fleet on the engines themselves. Slurm: a controller and three nodes on this machine; one dies in mid-cell (it is stopped
before, so that it is in the middle however fast this machine is), the file runs elsewhere, and what never comes is named. GNU parallel as
it is. Of the Snakefile and the Kubernetes Job what can be had here: the command that they run is run. Everything waits for a state,
never for a time."""

import os
import pathlib
import re
import shutil
import signal
import unittest

import lab
import slurm_nodes

FLEET = lab.SOURCE / "scripts/fleet"
MISSING = slurm_nodes.missing()


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


def runs_ab(pid):
    """Whether a process is `mallab ab` itself, in the middle: it has started something."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return (os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "mallab" and words[1:2] == [b"ab"]
                and pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_bytes() != b"")
    except OSError:  # it has ended
        return False


def stop(pid):
    """SIGSTOP, and wait until it stands. Whether it does: it may have ended before."""
    try:
        os.kill(pid, signal.SIGSTOP)
        state = "R"
        while state not in "TZX":
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "T"
    except (OSError, IndexError):
        return False


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)} (scripts/setup --tests)")
class OnSlurm(lab.Lab):
    def setUp(self):
        super().setUp()
        (self.place / "bin").mkdir()
        (self.place / "bin/mallab").symlink_to(lab.BUILD / "mallab")
        (self.place / "slurm").mkdir()
        self.slurm = slurm_nodes.Slurm(self.place / "slurm", self.place / "bin")
        self.addCleanup(self.slurm.stop)
        self.slurm.start()

    def submit(self, lines):
        (self.place / "results").mkdir(exist_ok=True)
        said = self.slurm.run("sbatch", "--parsable", f"--array={lines}", f"--output={self.place}/slurm.log", FLEET / "slurm.sh", self.place / "files",
                              self.place / "results", "-a", "glibc,jemalloc", "-n", 1)
        return int(said.stdout)

    def caught(self, node):
        """Wait for a measurement in the middle on a node, and stop it."""
        lab.wait_for(lambda: any(runs_ab(pid) and stop(pid) for pid in self.slurm.processes(node)), f"a file on {node}")

    def finish(self, job):
        lab.wait_for(lambda: self.slurm.over(job), "all files", every_s=0.2)

    def test_a_node_dies_in_the_middle_and_a_file_never_comes(self):
        paths = files(self, 6)
        whole = paths[5].read_bytes()
        paths[5].write_bytes(whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:])  # damaged: it would be so everywhere
        job = self.submit("1-6")
        self.caught("n2")
        self.slurm.kill_node("n2")
        self.slurm.told_down("n2")
        self.finish(job)
        document = together(self, lab.FAILED)
        self.assertEqual([one["label"] for one in document["missing"]], ["host5.wl"], (self.place / "slurm.log").read_text())
        self.assertEqual((document["fleet"]["workloads"], document["left_out"], document["mixed"]), (5, [], []))
        self.assertEqual(sorted(self.slurm.shown("job", f"{job}_{line}")["Restarts"] for line in range(1, 7)), ["0"] * 5 + ["1"])
        paths[5].write_bytes(whole)
        self.slurm.start_node("n2")
        self.finish(self.submit("6"))
        document = together(self)
        self.assertEqual((document["missing"], document["fleet"]["workloads"]), ([], 6))
        self.assertEqual({host["results"] for host in document["fleet"]["hosts"]}, {1})


class OnOthers(lab.Lab):
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
