#!/usr/bin/env python3
"""mallab in a directory that other users cannot look into, as a home is: a process of the tree that changes its user says nothing
on its stderr and is named; what was put where all can read it is removed behind the recording, however that ends."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import lab

ROOT = os.geteuid() == 0
NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups"


class Library(lab.Lab):
    def setUp(self):
        super().setUp() # its place is of mode 0700
        self.home = self.place / "home"
        self.home.mkdir(mode=0o700)
        for name in ("mallab", "mallab-collect", "libmallab.so"):
            shutil.copy(lab.BUILD / name, self.home)
        self.recording = self.place / "recording"

    def record_from_home(self, script, *options, **settings):
        """Returns the directory of the library that was preloaded, and what mallab said."""
        shown = self.place / "shown"
        result = lab.run([self.home / "mallab", "record", *options, "-o", self.recording, "--", "sh", "-c",
                          f'echo "$LD_PRELOAD" >{shown}; {script}'], cwd="/", **settings)
        return pathlib.Path(shown.read_text().strip()).parent, result

    def listing(self):
        return json.loads((self.recording / "recording.json").read_text())

    def wait_for(self, what):
        while not what():
            time.sleep(0.01)

    @unittest.skipUnless(ROOT and shutil.which("setpriv"), "needs root and setpriv")
    def test_another_user_can_read_it(self):
        words = self.place / "words"
        directory, result = self.record_from_home(f"{NOBODY} ls -d / >/dev/null 2>{words}; exit 0")
        self.assertEqual(words.read_text(), "")
        self.assertNotEqual(directory, self.home)
        self.assertFalse(directory.exists())
        self.assertRegex(result.stderr.decode(), "not recorded: 'ls' .*another user's")
        listing = self.listing()
        self.assertIs(listing["complete"], False)
        self.assertEqual([program["name"] for program in listing["not_recorded"]], ["ls"])

    def test_recorded_as_ever(self):
        _, result = self.record_from_home(f"{lab.PROGRAMS}/repeat 1000; exit 0")
        self.assertEqual((result.returncode, b"not recorded" in result.stderr), (0, False), result.stderr)
        self.assertIs(self.listing()["complete"], True)

    def test_a_recording_in_a_recording(self):
        """Each preloads a copy of its own; the inner command has only the inner one."""
        inner = self.place / "inner"
        script = f"{self.home}/mallab record -q -o {inner} -- {lab.PROGRAMS}/repeat 1000; exit 0"
        self.record_from_home(script)
        self.assertIs(self.listing()["complete"], True)
        self.assertEqual(self.info(inner)["events"], 2000)

    def test_where_all_can_read_it_no_copy_is_made(self):
        os.chmod(self.place, 0o755)
        os.chmod(self.home, 0o755)
        directory, _ = self.record_from_home("exit 0")
        self.assertEqual(directory, self.home)

    def test_a_process_outlives_the_recording(self):
        """It starts programs on: the copy stays for them, until another recording finds it unused."""
        words, go, gone = self.place / "words", self.place / "go", self.place / "gone"
        os.mkfifo(go)
        os.mkfifo(gone)
        later = f"setsid sh -c 'read line <{go}; ls / >/dev/null 2>{words}; echo >{gone}' & "
        end = f"{lab.BUILD}/mallab record --control {self.recording} --end >/dev/null; exit 0"
        directory, result = self.record_from_home(later + end, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(result.returncode, 0)
        self.assertTrue((directory / "libmallab.so").exists())
        go.write_text("go\n")
        gone.read_text()
        self.assertEqual(words.read_text(), "")
        def unused():
            shutil.rmtree(self.recording)
            self.record_from_home("exit 0")
            return not directory.exists()
        self.wait_for(unused) # the last process is about to end

    def test_all_are_killed(self):
        """What they leave, the next one removes."""
        shown = self.place / "shown"
        os.mkfifo(shown)
        process = subprocess.Popen([self.home / "mallab", "record", "-q", "-o", self.recording, "--", "sh", "-c",
                                    f'echo "$LD_PRELOAD $$" >{shown}; kill -STOP $$'], stderr=subprocess.DEVNULL)
        library, pid = shown.read_text().split()
        collector = self.listing()["collector"]["pid"]
        for killed in (process.pid, collector, int(pid)):
            os.kill(killed, signal.SIGKILL)
        process.wait()
        shown.unlink()
        directory = pathlib.Path(library).parent
        self.assertTrue(directory.exists())
        def unused():
            self.recording = self.place / f"next-{time.monotonic_ns()}"
            self.record_from_home("exit 0")
            return not directory.exists()
        self.wait_for(unused)


if __name__ == "__main__":
    lab.main()
