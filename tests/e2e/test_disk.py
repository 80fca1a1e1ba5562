"""The recording's disk is full, is filled by others, has no inodes left, a quota, a limit of file sizes, --max-size: the
program ends as ever, without a signal; of every process, what is recorded and what is lost are what it did, held against
a witness; `mallab info` says how many calls are missing and where what is kept ends."""
import os
import pathlib
import resource
import shutil
import tempfile
import unittest

import lab
from lab import needs
from witnessed import Witnessed

ROOT = os.geteuid() == 0
CHURN = lab.BUILD / "tests" / "shim" / "shim_churn"
MANY = 1_000_000


class Disk(Witnessed):
    def judge_losses(self, folder, cause, kept=True):
        """Told in numbers and in words; what is there converts."""
        recording = self.assert_counted(folder / "recording")
        self.assertEqual(set(recording["lost"]), {cause})
        self.assertIs(recording["complete"], False)
        info = self.info(folder / "recording")
        self.assertEqual({name: n for name, n in info["lost"].items() if n}, recording["lost"])
        self.assertEqual(info["events"], recording["events"])
        self.assertIs(info["complete"], False)
        text = self.mallab("info", "--details", *self.trusting(folder / "recording"), folder / "recording").stdout.decode()
        self.assertRegex(text, r"lost +[\d,]+ calls: " + cause)
        if kept:
            self.assertRegex(text, r"complete +no: .* calls were lost while recording; the last one kept is of \d+\.\d+ s")
            self.mallab("convert", "-o", self.place / "out.wl", *self.trusting(folder / "recording"), folder / "recording")
        return recording

    def assert_undisturbed(self, ended, output=b""):
        status, printed, said = ended
        self.assertEqual((status, printed), (0, output), said)
        self.assertIn(b"calls were lost", said)

    def test_little_room(self):
        """Of half a megabyte most is used, and it is said once what has happened, what is kept and what helps."""
        folder = self.mounted(size="512k")
        said = self.run_recorded(CHURN, MANY, place=folder)[2].decode()
        kept = sum(path.stat().st_size for path in (folder / "recording").glob("*.fp"))
        self.assertGreater(kept, 350 << 10)
        self.assertEqual(said.count("recording stopped after"), 1, said)
        self.assertRegex(said, "calls were lost: disk_full [0-9,]+; what was written by .* is kept.*make room")
        self.judge_losses(folder, "disk_full")

    def test_filled_by_others(self):
        """Whatever becomes free is taken at once: no trailer finds room, the counts are told all the same."""
        folder = self.mounted(size="4m")
        script = '(i=0; while [ $i -lt 150 ]; do head -c 32k /dev/zero >>fill; i=$((i+1)); done) 2>/dev/null & ' \
                 '"$0" "$1"; wait; "$0" 1000 && echo done'
        self.assert_undisturbed(self.run_recorded("sh", "-c", script, CHURN, MANY, place=folder), b"done\n")
        self.judge_losses(folder, "disk_full")

    def test_no_inodes(self):
        """No footprint can be made; or one only, and those after it cannot."""
        for inodes, kept in ((5, False), (6, True)):
            folder = self.mounted(size=f"4m,nr_inodes={inodes}")
            script = 'for i in 1 2 3; do "$0" 5000; done; echo done'
            with self.subTest(inodes=inodes):
                for path in self.tallies.iterdir():
                    path.unlink()
                ended = self.run_recorded("sh", "-c", script, CHURN, place=folder)
                self.assert_undisturbed(ended, b"done\n")
                self.judge_losses(folder, "disk_full", kept=False)

    def full(self):
        folder = self.mounted(size="64k")
        with open(folder / "fill", "wb", buffering=0) as file, self.assertRaises(OSError):
            while True:
                file.write(bytes(4096))
        return folder

    def test_full_before(self):
        """Nothing can be recorded: the command is not run, and the reason is said."""
        folder = self.full()
        status, printed, said = self.run_recorded("echo", "ran", place=folder)
        self.assertEqual((status, printed), (125, b""))
        self.assertIn(b"No space left", said)
        self.assertIn(b"make room", said)
        self.assertFalse((folder / "recording").exists())

    def test_full_shared_memory(self):
        """/dev/shm is small, or full: the program waits for room in what there is, or the recording's directory serves."""
        if not ROOT:
            self.skipTest("mounting needs root")
        for fill in ("true", "head -c 9m /dev/zero >/dev/shm/fill 2>/dev/null"):
            with self.subTest(fill=fill):
                shutil.rmtree(self.place / "recording", ignore_errors=True)
                script = f'mount -t tmpfs -o size=2m tmpfs /dev/shm && {{ {fill}; exec "$@"; }}'
                result = lab.run(["unshare", "-m", "sh", "-c", script, "sh", lab.BUILD / "mallab", "record", "-q", "-o",
                                  self.place / "recording", "--", CHURN, MANY])
                if b"unshare" in result.stderr or b"mount" in result.stderr:
                    self.skipTest(result.stderr.decode().strip())
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                info = self.info(self.place / "recording")
                self.assert_whole(info)
                self.assertEqual(info["events"], 2 * MANY)

    def limited(self, limit):
        def apply():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return apply

    def test_file_size_limit(self):
        """Of everything below `mallab record`. The program's own files are limited as ever, and its SIGXFSZ is its own."""
        script = '"$0" "$1"; head -c 4m /dev/zero >own; echo $? $(stat -c %s own)'
        plain = lab.run(["sh", "-c", script, CHURN, MANY], cwd=self.place, preexec_fn=self.limited(3 << 20))
        ended = self.run_recorded("sh", "-c", script, CHURN, MANY, preexec_fn=self.limited(3 << 20))
        self.assertEqual((ended[0], ended[1]), (plain.returncode, plain.stdout), ended[2])
        self.assertIn(str(3 << 20).encode(), plain.stdout)
        self.judge_losses(self.place, "disk_full")

    def test_soft_file_size_limit(self):
        """It binds the program's files, not the recording, and nobody dies by SIGXFSZ."""
        recording = self.record(CHURN, MANY, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200 << 10, resource.RLIM_INFINITY)))
        self.assert_whole(self.info(recording))

    @unittest.skipUnless(ROOT and shutil.which("setpriv"), "needs root and setpriv; else the test above is of that")
    def test_file_size_limit_of_a_user(self):
        """Who may not lift it for the shared memory has less of that."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="mallab-disk-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        shutil.chown(folder, "nobody")
        self.assert_undisturbed(self.run_recorded(CHURN, MANY, place=folder, preexec_fn=self.limited(3 << 20),
                                                  user=["setpriv", "--reuid", "nobody", "--clear-groups"]))
        self.judge_losses(folder, "disk_full")

    @needs("mkfs.btrfs", "btrfs", "losetup")
    def test_quota(self):
        """EDQUOT: of a group of btrfs, which other file systems' quotas look like from outside."""
        image = pathlib.Path(tempfile.mkdtemp(prefix="mallab-quota-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, image, ignore_errors=True)
        with open(image / "image", "wb") as file:
            file.truncate(256 << 20)
        self.assertEqual(lab.run(["mkfs.btrfs", "-q", image / "image"]).returncode, 0)
        folder = self.mounted("-o", "loop", image / "image")
        for command in (["btrfs", "subvolume", "create", folder / "limited"], ["btrfs", "quota", "enable", folder],
                        ["btrfs", "quota", "rescan", "-w", folder],
                        ["btrfs", "qgroup", "limit", "1500K", folder / "limited"]):
            result = lab.run(command)
            if result.returncode != 0:
                self.skipTest(f"{command[1:3]}: {result.stderr.decode().strip()}")
        with open(folder / "limited" / "probe", "wb", buffering=0) as file, self.assertRaises(OSError) as refused:
            for _ in range(1000):
                file.write(os.urandom(65536))
        self.assertIn("quota", str(refused.exception).lower())
        (folder / "limited" / "probe").unlink()
        lab.run(["sync"])
        lab.run(["btrfs", "quota", "rescan", "-w", folder])
        self.assert_undisturbed(self.run_recorded(CHURN, MANY, place=folder / "limited"))
        self.judge_losses(folder / "limited", "disk_full")
