#!/usr/bin/env python3
"""Programs that cannot be recorded, and places that cannot be written: one clear line, the promised exit code."""
import os
import pathlib
import resource
import shutil
import subprocess
import unittest

import lab

# env(1)'s codes, which `mallab record` keeps for itself
CANNOT_RECORD, CANNOT_RUN, NOT_FOUND = 125, 126, 127
STATIC = lab.PROGRAMS / "still-static"
DYNAMIC = lab.PROGRAMS / "still"


class BadProgram(lab.Lab):
    def refused(self, program, status, *fragments):
        result = self.mallab("record", "-o", "recording", "--", program, status=status)
        self.assertEqual(result.stdout, b"")
        self.assert_one_line(result, pathlib.Path(program).name, *fragments)
        self.assertFalse((self.place / "recording").exists(), "a directory was left behind")
        result = self.mallab("ab", "--", program, status=lab.FAILED)
        self.assert_one_line(result, pathlib.Path(program).name, *fragments)

    @unittest.skipUnless(STATIC.exists(), "no static C library when the tests were built")
    def test_statically_linked(self):
        self.refused(STATIC, CANNOT_RECORD, "static")

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to make a program setuid to someone else")
    def test_setuid(self):
        program = self.place / "setuid"
        shutil.copy(DYNAMIC, program)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        self.refused(program, CANNOT_RECORD, "setuid")

    def test_missing(self):
        self.refused("no-such-program", NOT_FOUND)
        self.refused(self.place / "no-such-path", NOT_FOUND)

    def test_not_executable(self):
        program = self.place / "text"
        program.write_text("text\n")
        self.refused(program, CANNOT_RUN)

    def test_no_command_is_misuse(self):
        self.mallab("record", status=lab.MISUSE)
        self.mallab("ab", status=lab.MISUSE)


class BadPlace(lab.Lab):
    def refused(self, target):
        result = self.mallab("record", "-o", target, "--", "sh", "-c", "echo ran", status=CANNOT_RECORD)
        self.assert_one_line(result, target)
        self.assertEqual(result.stdout, b"", "the command ran, unrecorded")

    def test_below_a_file(self):
        (self.place / "file").write_text("")
        self.refused(self.place / "file" / "recording")

    def test_below_nothing(self):
        self.refused(self.place / "absent" / "recording")

    def test_not_permitted(self):
        self.refused("/proc/recording")

    def test_a_dangling_link_is_not_followed(self):
        link = self.place / "link"
        link.symlink_to(self.place / "elsewhere")
        self.refused(link)
        self.assertFalse((self.place / "elsewhere").exists())


class Limits(lab.Lab):
    """What cannot be written is counted by cause; program and exit status are as ever."""

    ROUNDS = 300_000

    def compare(self, options, cause, recording="recording", **settings):
        """Events kept and lost add up to those of a whole recording of the same, exactly repeating, program."""
        whole = self.info(self.record(lab.PROGRAMS / "repeat", self.ROUNDS, name="whole"))
        self.assert_whole(whole)
        with open(self.place / "said", "wb") as out:
            self.mallab("record", "--quiet", "-o", recording, *options, "--", lab.PROGRAMS / "repeat", self.ROUNDS,
                        stdout=out, **settings)
        self.assertEqual((self.place / "said").read_bytes(), b"done\n")
        part = self.info(recording)
        self.assertIs(part["complete"], False)
        self.assertGreater(part["lost"][cause], 0)
        self.assertGreater(part["events"], 0)
        self.assertEqual(part["events"] + sum(part["lost"].values()), whole["events"])
        workload = self.place / "part.wl"
        self.mallab("convert", "-o", workload, recording)
        self.replay_everywhere(workload)
        return part

    def test_size_limit(self):
        self.compare(["--max-size", "600k"], "size_limit")
        size = sum(path.stat().st_size for path in (self.place / "recording").glob("*.fp"))
        self.assertLessEqual(size, 600 * 1024)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount a small file system")
    def test_full_disk(self):
        """Half a MiB is held back by the collector from the start; of the rest every block takes records."""
        disk = self.place / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1200k", "none", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest(f"cannot mount: {mounted.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.compare([], "disk_full", recording=disk / "recording")

    def test_file_size_limit_of_the_program_is_not_the_collectors(self):
        """RLIMIT_FSIZE, soft: it binds the program's files, not the recording, and nobody dies by SIGXFSZ."""
        recording = self.record(lab.PROGRAMS / "repeat", self.ROUNDS, preexec_fn=self.limit_files(hard=None))
        self.assert_whole(self.info(recording))

    def test_file_size_limit_that_cannot_be_raised(self):
        """RLIMIT_FSIZE, hard: shared memory cannot be had either. Refused, or recorded with the loss counted."""
        result = lab.run([lab.BUILD / "mallab", "record", "--quiet", "-o", self.place / "recording", "--",
                          lab.PROGRAMS / "repeat", self.ROUNDS], cwd=self.place,
                         preexec_fn=self.limit_files(hard=200 * 1024))
        if result.returncode == CANNOT_RECORD:
            self.assert_one_line(result, "ulimit -f")
            return
        self.assertEqual((result.returncode, result.stdout), (0, b"done\n"))
        self.assertTrue(self.info(self.place / "recording")["lost"]["disk_full"]
                        or self.info(self.place / "recording")["complete"])

    @staticmethod
    def limit_files(hard):
        most = resource.RLIM_INFINITY if hard is None else hard
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200 * 1024, most))


if __name__ == "__main__":
    lab.main()
