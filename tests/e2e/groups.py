"""A control group for a test: made at the top of whichever hierarchy has the memory controller, with groups below it.

Tests never make groups in the group that they run in: whoever started them may watch or remove that one."""
import os
import pathlib
import signal
import time
import unittest

TOPS = (pathlib.Path("/sys/fs/cgroup/memory"), pathlib.Path("/sys/fs/cgroup"))


def put(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def members(group):
    """None of a group that is gone: whoever lists groups reads some of them after mallab has removed them."""
    try:
        return [int(number) for number in (group / "cgroup.procs").read_text(encoding="ascii").split()]
    except OSError:  # ENOENT, or ENODEV where it went after it was opened
        return []


def has_run(group):
    """Whether a replay is in it. Before the run's group mallab makes another, which a copy of mallab joins for a moment: to
    see that it works."""
    for number in members(group):
        try:
            if pathlib.Path(os.readlink(f"/proc/{number}/exe")).name.startswith("mallab-replay-"):
                return True
        except OSError:
            pass  # it has ended
    return False


def remove(group):
    """With its members, but none of the groups below it."""
    for number in members(group):
        os.kill(number, signal.SIGKILL)
    for _ in range(2000):
        try:
            group.rmdir()
            break
        except OSError:
            time.sleep(0.001)  # the kernel lets go of members a moment after they have ended


class Group:
    """`place`, below which groups that limit memory can be made; `version` of the hierarchy. Skips the test where there can
    be none, with the reason."""

    def __init__(self, test):
        reasons = []
        for top in TOPS:
            self.version = 1 if (top / "memory.limit_in_bytes").exists() else 2
            self.place = top / f"mallab-test-{os.getpid()}"
            try:
                if self.version == 2 and "memory" not in (top / "cgroup.subtree_control").read_text(encoding="ascii").split():
                    raise OSError(f"{top}/cgroup.subtree_control has no memory")
                self.place.mkdir()
            except OSError as error:
                reasons.append(str(error))
                continue
            test.addCleanup(self.remove)
            if self.version == 2:
                put(self.place / "cgroup.subtree_control", "+memory")
            return
        raise unittest.SkipTest("no control group can be made: " + "; ".join(reasons))

    def below(self, name):
        """A group that processes can join."""
        group = self.place / name
        group.mkdir()
        return group

    def left(self):
        """What is there of mallab's; os.walk passes over what goes while it looks, rglob does not."""
        return sorted(pathlib.Path(parent) / name for parent, names, _ in os.walk(self.place) for name in names
                      if name.startswith("mallab-limit-"))

    def remove(self):
        """With what a test that failed left in it."""
        made = sorted((path for path in self.place.rglob("*") if path.is_dir()), reverse=True) + [self.place]
        for group in made:
            remove(group)


def join(group):
    """For preexec_fn."""
    put(group / "cgroup.procs", "0")
