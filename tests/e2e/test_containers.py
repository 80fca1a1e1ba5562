"""As containers and supervisors start programs: as the first process of a pid namespace, recorded and recording; below
another root; in a user namespace; as another user; without /proc, without /dev/shm, in a directory that cannot be
written. Every call is counted, or the reason is said; signals, orphans and exit status are the program's."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import lab
from lab import needs

ROOT = os.geteuid() == 0
CHURN = lab.BUILD / "tests" / "shim" / "shim_churn"
TURNS = 100_000
MADE = 2 * TURNS
AS_NOBODY = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]


def unshared(*options):
    """Skip where such namespaces cannot be had."""
    probe = subprocess.run(["unshare", *options, "true"], capture_output=True, check=False) \
        if shutil.which("unshare") else None
    return unittest.skipIf(probe is None or probe.returncode != 0,
                           f"unshare {' '.join(options)}: {probe.stderr.decode().strip() if probe else 'not installed'}")


class Container(lab.Lab):
    def assert_made(self, recording, events=MADE, name="shim_churn"):
        info = self.info(recording)
        self.assert_whole(info)
        paths = list(pathlib.Path(recording).glob(f"{name}.*.fp"))
        self.assertEqual(sum(self.info(path)["events"] for path in paths), events)
        return info


@unshared("-fp", "--mount-proc")
class FirstProcess(Container):
    PID_1 = ["unshare", "-fp", "--kill-child", "--mount-proc"]

    def test_recorded_below(self):
        """The recording is made outside."""
        recording = self.record(*self.PID_1, CHURN, TURNS)
        info = self.assert_made(recording)
        self.assertEqual(info["processes"], 2)

    def test_preloaded_above(self):
        """The collector that unshare's preload started is outside, and takes the namespace's program too."""
        result = lab.run([*self.PID_1, CHURN, TURNS], cwd=self.place,
                         env={"LD_PRELOAD": str(lab.SHIM), "MALLAB_OUT": str(self.place / "recording")})
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.wait_for_end()
        self.assert_made(self.place / "recording")

    def test_preloaded(self):
        """The collector is the namespace's, and killed with it: what it leaves is recovered from outside."""
        script = 'LD_PRELOAD="$0" exec "$@"'
        result = lab.run([*self.PID_1, "sh", "-c", script, lab.SHIM, CHURN, TURNS], cwd=self.place,
                         env={"MALLAB_OUT": str(self.place / "recording")})
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        # How far the collector came with its files is a matter of luck: nothing may be written yet, which is told.
        before = self.mallab("info", "--json", self.place / "recording", status=None)
        if before.returncode == lab.DONE:
            self.assertNotEqual(json.loads(before.stdout)["recording_state"], "going on")
        else:
            self.assertEqual(before.returncode, lab.BAD_INPUT)
            self.assertIn(b"nothing was written", before.stderr)
        workload = self.convert(self.place / "recording")
        self.assert_made(self.place / "recording")
        self.assertEqual(self.info(workload)["events"], MADE)

    def test_recording(self):
        """`mallab record` as the first process."""
        result = lab.run([*self.PID_1, lab.BUILD / "mallab", "record", "-q", "-o", self.place / "recording", "--",
                          "sh", "-c", f"{CHURN} {TURNS}; exit 5"], cwd=self.place)
        self.assertEqual((result.returncode, result.stderr), (5, b""))
        self.assert_made(self.place / "recording")

    def test_orphans(self):
        """Those that nobody else waits for do not stay; those that run on end with the namespace, recorded."""
        wait = "do sleep 0.02; done; "
        script = f'for i in 1 2 3 4 5; do sh -c "({CHURN} 100; >ended.$i; exit 0) & exit 0"; done; ' \
                 f'until [ -e ended.1 -a -e ended.2 -a -e ended.3 -a -e ended.4 -a -e ended.5 ] && ! ps -eo stat= | grep -q Z; {wait}' \
                 f'sh -c "({CHURN} {TURNS}; >made; sleep 1000) & exit 0"; until [ -e made ]; {wait}exit 0'
        result = lab.run([*self.PID_1, lab.BUILD / "mallab", "record", "-q", "-o", self.place / "recording", "--",
                          "sh", "-c", script], cwd=self.place)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))
        self.assert_made(self.place / "recording", MADE + 5 * 200)

    def test_signals(self):
        """docker stop, and the stop signals of common images, reach the program."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            with self.subTest(signal=number.name):
                recording = self.place / number.name
                script = f"trap 'echo {number.name}; exit 7' {int(number)}; echo ready; while :; do sleep 0.05; done"
                process = subprocess.Popen([*self.PID_1, str(lab.BUILD / "mallab"), "record", "-q", "-o", str(recording),
                                            "--", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(process.stdout.readline(), b"ready\n")
                inside = subprocess.check_output(["ps", "-o", "pid=", "--ppid", str(process.pid)]).split()
                os.kill(int(inside[0]), number)
                output, said = process.communicate(timeout=lab.PATIENCE_S)
                self.assertEqual((process.returncode, output, said), (7, number.name.encode() + b"\n", b""))
                self.assert_whole(self.info(recording))


class Elsewhere(Container):
    def mounts(self, script, *arguments, **settings):
        """A script in a mount namespace of its own."""
        return lab.run(["unshare", "-m", "sh", "-ec", script, "sh", *arguments], cwd=self.place, **settings)

    @unittest.skipUnless(ROOT, "chroot needs root")
    @unshared("-m")
    def test_chroot(self):
        """The same files below another root, where /dev is empty: the program runs, and tells why it is not recorded."""
        script = 'mkdir root; mount --rbind / root; umount -l root/dev/shm; mount -t tmpfs tmpfs root/dev; ' \
                 '"$@" chroot root sh -c "echo inside"'
        result = self.mounts(script, lab.BUILD / "mallab", "record", "-o", self.place / "recording", "--")
        self.assertEqual((result.returncode, result.stdout), (0, b"inside\n"), result.stderr)
        self.assertIn(b"not recorded: 'sh'", result.stderr)
        self.assertIn(b"another root directory", result.stderr)
        self.assertNotIn(b"not recording:", result.stderr)

    @unshared("-m")
    def test_other_roots_and_file_systems(self):
        """Below another root, where the recording's shared memory has another path; recording itself there; a /dev with nothing but null."""
        record = (lab.BUILD / "mallab", "record", "-q", "-o", self.place / "recording", "--")
        below = "mkdir -p root; mount --rbind / root; "
        for script, words in ((below + '"$@"', (*record, "chroot", "root", CHURN, TURNS)),
                              (below + 'exec chroot root "$@"', (*record, CHURN, TURNS)),
                              ('mount -t tmpfs tmpfs /dev; mknod -m 666 /dev/null c 1 3; exec "$@"', (*record, CHURN, TURNS))):
            with self.subTest(script=script):
                result = self.mounts(script, *words)
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                self.assert_made(self.place / "recording")
                self.assertEqual({path.suffix for path in (self.place / "recording").iterdir()}, {".fp", ".json"})
                shutil.rmtree(self.place / "recording")

    @unshared("-Ur")
    def test_user_namespace(self):
        for user in ([], AS_NOBODY) if ROOT and shutil.which("setpriv") else ([],):
            folder = pathlib.Path(tempfile.mkdtemp(prefix="mallab-user-", dir="/tmp"))
            self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
            if user:
                shutil.chown(folder, "nobody")
            with self.subTest(user=user):
                result = lab.run([*user, lab.BUILD / "mallab", "record", "-q", "-o", folder / "recording", "--", "unshare",
                                  "-Ur", CHURN, TURNS], cwd=folder)
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                self.assert_made(folder / "recording")

    @unshared("-Urfp", "--mount-proc")
    @needs("setpriv")
    @unittest.skipUnless(ROOT, "else the tests above are of that")
    def test_rootless_container(self):
        """All of it as an ordinary user: a recording inside the namespaces."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="mallab-user-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        shutil.chown(folder, "nobody")
        result = lab.run([*AS_NOBODY, "unshare", "-Urfp", "--mount-proc", lab.BUILD / "mallab", "record", "-q", "-o",
                          folder / "recording", "--", CHURN, TURNS], cwd=folder)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assert_made(folder / "recording")

    @unshared("-m")
    def test_without_proc(self):
        script = 'mount -t tmpfs tmpfs /proc; exec "$@"'
        result = self.mounts(script, lab.BUILD / "mallab", "record", "-q", "-o", self.place / "recording", "--", CHURN, TURNS)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        info = self.info(self.place / "recording")
        self.assert_whole(info)
        self.assertEqual(info["events"], MADE)

    @unshared("-m")
    def test_without_proc_under_a_preload(self):
        script = 'mount -t tmpfs tmpfs /proc; LD_PRELOAD="$1" exec "$2" "$3"'
        result = self.mounts(script, lab.SHIM, CHURN, TURNS, env={"MALLAB_OUT": str(self.place / "recording")})
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.wait_for_end()
        self.assertEqual(self.info(self.place / "recording")["events"], MADE)

    @unshared("-m")
    def test_directory_that_cannot_be_written(self):
        script = 'mkdir here; mount -t tmpfs -o ro tmpfs here; cd here; LD_PRELOAD="$1" exec "$2" "$3"'
        result = self.mounts(script, lab.SHIM, CHURN, TURNS)
        self.assertEqual(result.returncode, 0)
        self.assert_one_line(result, "mallab: not recording", "Read-only")
        result = self.mounts(script.replace("mkdir here; ", ""), lab.SHIM, CHURN, TURNS,
                             env={"MALLAB_OUT": str(self.place / "recording")})
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.wait_for_end()
        self.assert_made(self.place / "recording")
