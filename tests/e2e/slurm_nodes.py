"""Slurm on this machine for tests: a controller and three nodes of one processor each, every daemon a child of the test, without
systemd, munge or accounting. All of it lies in one directory; what runs on a node is known by the configuration that it was started
with, so that nothing else is ever ended."""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess

import lab

NODES = ("n1", "n2", "n3")
CONFIGURATION = """\
ClusterName=mallab
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool-%n
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd-%n.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MailProg=/bin/true
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdTimeout=60
KillWait=1
MinJobAge=3600
SchedulerParameters=batch_sched_delay=1,sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
{nodes}
PartitionName=cells Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Programs without which there is no Slurm here."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [name for name in ("slurmctld", "slurmd", "sbatch", "scontrol", "squeue") if shutil.which(name, path=path) is None]


class Slurm:
    """place: an empty directory; path: put in front of PATH, of jobs too."""

    def __init__(self, place, path):
        self.place = pathlib.Path(place)
        self.conf = self.place / "slurm.conf"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("MALLAB_", "SLURM_", "SBATCH_"))}
        self.environment.update(SLURM_CONF=str(self.conf), PATH=f"{path}:{os.environ['PATH']}:/usr/sbin:/sbin")
        self.daemons = {}
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (self.place / name).mkdir()
        ports = {}
        while len(ports) < 4:
            ports[lab.free_port()] = True
        control, *ports = ports
        nodes = "\n".join(f"NodeName={node} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=1000 Features=kind-{node}"
                          for node, port in zip(NODES, ports))
        # Without control groups: there may be no file system of theirs, and then slurmd finds out no plugin for it, and ends.
        (self.place / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        self.conf.write_text(CONFIGURATION.format(place=self.place, port=control, nodes=nodes,
                                                  user=pwd.getpwuid(os.geteuid()).pw_name))

    def daemon(self, name, *command):
        with open(self.place / f"{name}.out", "ab") as output:
            self.daemons[name] = subprocess.Popen([*command, "-D", "-f", self.conf], env=self.environment,
                                                  stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def start_controller(self):
        self.daemon("controller", "slurmctld")
        self.wait_for(lambda: b"is UP" in self.run("scontrol", "ping", check=False).stdout, "the controller")

    def start_node(self, node):
        self.daemon(node, "slurmd", "-N", node)
        self.wait_idle()

    def wait_for(self, condition, what):
        """No longer than all daemons are there."""
        def look():
            for name, daemon in self.daemons.items():
                if daemon.poll() is not None:
                    raise AssertionError(f"{name} ended: {(self.place / f'{name}.out').read_text()}")
            return condition()

        lab.wait_for(look, what, every_s=0.2)

    def wait_idle(self):
        for node in NODES:
            self.wait_for(lambda: self.node_state(node) == "IDLE", f"{node} to be idle")

    def start(self):
        self.start_controller()
        for node in NODES:
            self.daemon(node, "slurmd", "-N", node)
        self.wait_idle()

    def run(self, *command, check=True):
        """A command of Slurm, or one that calls them."""
        result = subprocess.run([str(word) for word in command], env=self.environment, stdin=subprocess.DEVNULL,
                                capture_output=True, timeout=lab.PATIENCE_S)
        if check and result.returncode:
            raise AssertionError(f"{command}: {result.returncode}\n{result.stdout.decode()}{result.stderr.decode()}")
        return result

    def shown(self, kind, name):
        """What scontrol shows of a job, a task (`12_3`) or a node: {key: value}."""
        words = self.run("scontrol", "show", "--oneliner", kind, name).stdout.decode().split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def node_state(self, node):
        return self.shown("node", node)["State"]

    def state(self, job):
        return self.shown("job", job)["JobState"]

    def waiting(self, job):
        """The tasks of an array that wait, run or are just ending, as Slurm writes them."""
        states = "--states=pending,running,completing,suspended,requeued"
        return self.run("squeue", "--noheader", "--array", states, "--job", job, "--format=%K").stdout.decode().split()

    def over(self, job):
        """Whether nothing of a job waits or runs."""
        return not self.waiting(job)

    def processes(self, node):
        """What jobs started on a node, by the environment that Slurm gave them: process ids, zombies left out."""
        wanted = {f"SLURM_CONF={self.conf}".encode(), f"SLURMD_NODENAME={node}".encode()}
        return [pid for pid in alive() if wanted <= set(read(pid, "environ").split(b"\0"))]

    def keepers(self, node):
        """A node's slurmd and slurmstepd, by the log that they have open. The latter are nobody's children, and last without the former."""
        log = str(self.place / f"slurmd-{node}.log")
        return [pid for pid in alive() if read(pid, "comm").startswith(b"slurm") and log in opened(pid)]

    def kill_daemon(self, name):
        """kill -9 of slurmctld or of one slurmd: what it started lives on."""
        daemon = self.daemons.pop(name)
        daemon.kill()
        daemon.wait()

    def kill_node(self, node):
        """As a machine that loses its power: slurmd, the steps' keepers and all that they started. They stop first, as none of them
        is to see another die."""
        while inside := self.keepers(node) + self.processes(node):
            for signal_number in (signal.SIGSTOP, signal.SIGKILL):
                for pid in inside:
                    try:
                        os.kill(pid, signal_number)
                    except ProcessLookupError:
                        pass
            if node in self.daemons:
                self.kill_daemon(node)

    def told_down(self, node):
        """The controller learns now what it would find out in a while (SlurmdTimeout)."""
        self.run("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=killed")

    def stop(self):
        if "controller" in self.daemons:
            self.kill_daemon("controller")
        for node in NODES:
            self.kill_node(node)


def read(pid, name):
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:  # it has ended, or is not ours
        return b""


def alive():
    """All processes but zombies."""
    numbers = [entry.name for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]
    return [int(pid) for pid in numbers if read(pid, "stat").rpartition(b") ")[2][:1] not in (b"Z", b"X", b"")]


def opened(pid):
    """The names of what a process has open."""
    names = []
    for number in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            names.append(os.readlink(number))
        except OSError:  # closed since
            pass
    return names
