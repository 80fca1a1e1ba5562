"""mallab in a directory that other users cannot look into, as a home is: a program of the tree that is run as another user is named, and
nothing is made for it anywhere else."""
import os
import shutil
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
        """What mallab said."""
        result = lab.run([self.home / "mallab", "record", *options, "-o", self.recording, "--", "sh", "-c", script], cwd="/", **settings)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr.decode()

    @unittest.skipUnless(ROOT and shutil.which("setpriv"), "needs root and setpriv")
    def test_another_user_cannot_read_it(self):
        before = {place: set(os.listdir(place)) for place in ("/dev/shm", "/run")}
        said = self.record_from_home(f"{NOBODY} ls -d / >/dev/null 2>&1; exit 0")
        self.assertRegex(said, "not recorded: 'ls' .*(was started by a user who cannot read libmallab.so|could not reach the recording)")
        listing = self.listing()
        self.assertIs(listing["complete"], False)
        self.assertEqual([program["name"] for program in listing["not_recorded"]], ["ls"])
        for place, names in before.items():
            self.assertEqual([name for name in set(os.listdir(place)) - names if "library" in name], [])

    def test_where_it_is_loaded_from(self):
        """From where mallab lies: a directory made for it would be another user's to make once it is gone, and its name stands in environments."""
        environment = self.place / "environment"
        self.record_from_home(f"echo $LD_PRELOAD >{environment}; exit 0")
        self.assertEqual(environment.read_text(), f"{self.home}/libmallab.so\n")

    @unittest.skipUnless(ROOT and shutil.which("setpriv"), "needs root and setpriv")
    def test_where_all_can_read_it(self):
        """The loader of another user's program finds it, and the program has shared memory of that user's."""
        os.chmod(self.place, 0o755)
        os.chmod(self.home, 0o755)
        words = self.place / "words"
        said = self.record_from_home(f"{NOBODY} ls -d / >/dev/null 2>{words}; exit 0")
        self.assertNotIn("cannot read libmallab.so", said)
        self.assertEqual(words.read_text(), "")
        self.assertNotIn("not recorded", said)
        self.assertIn("ls", [process["name"] for process in self.listing()["processes"]])
