"""A recording that lacks something of its tree is complete nowhere: recording.json, info, the workload, a replay, an experiment, each form of
its report, top and --status say so, in their first lines, with the cause; whoever heard of it. mallab in a directory that other users
cannot look into, as a home is: what another user runs is named."""
import json
import os
import shutil
import signal
import subprocess
import unittest

import lab

CLEARED = ("sh", "-c", "ls >/dev/null; env -i true; exit 0")
CAUSE = "'true' .*was started with an environment without LD_PRELOAD"


class Whole(lab.Lab):
    def assert_lacking(self, facts, cause=CAUSE):
        self.assertIs(facts["complete"], False)
        self.assertRegex(facts["incomplete_why"], cause)

    def test_said_by_all(self):
        recording = self.record(*CLEARED)
        listing = self.listing(recording)
        self.assert_lacking(listing)
        self.assertEqual([program["name"] for program in listing["not_recorded"]], ["true"])
        self.assert_lacking(self.info(recording))
        self.assert_lacking(json.loads(self.mallab("top", "--json", "--once", recording).stdout))
        status = self.mallab("record", "--control", recording, "--status", "--json")
        self.assert_lacking(json.loads(status.stdout))
        workload = recording.with_suffix(".wl")
        told = self.mallab("convert", "-o", workload, recording).stderr.decode()
        self.assertRegex(told, "the recording is not whole: .*" + CAUSE)
        self.assert_lacking(self.info(workload))
        self.assertRegex(self.mallab("info", workload).stdout.decode(), "\ncomplete +no: .*" + CAUSE)
        self.assert_lacking(self.answer("replay", "--json", workload))
        self.assertRegex(self.mallab("replay", workload).stdout.decode(), "\nincomplete_why +.*" + CAUSE)
        result = self.place / "result.json"
        self.mallab("ab", "-n", 1, "-a", "glibc", "-o", result, workload)
        facts = json.loads(result.read_text())
        self.assert_lacking(facts)
        self.assert_lacking(facts["workloads"][0])
        for form in ("table", "md", "html"):
            with self.subTest(form=form):
                said = self.mallab("report", "--format", form, result)
                if form != "html": # whose lines a browser makes: tests/e2e/test_html.py
                    self.assertIn("not whole: ", " ".join(said.stdout.decode().split()))

    def test_of_every_process(self):
        """Also of one that is chosen: it was run beside a program that nobody knows."""
        recording = self.record(*CLEARED)
        workload = self.place / "one.wl"
        self.mallab("convert", "--process", "sh", "-o", workload, recording)
        self.assert_lacking(self.info(workload), "elsewhere in the recorded tree: not recorded: " + CAUSE)

    def test_plain_preload(self):
        """Without `mallab record` the processes tell the collector all the same."""
        recording = self.place / "plain"
        lab.run(CLEARED, env={"LD_PRELOAD": str(lab.SHIM), "MALLAB_OUT": str(recording)})
        self.assert_lacking(self.wait_for_end(recording))

    def test_record_is_killed(self):
        """What is not recorded after that is named like what was not before."""
        recording, go = self.place / "recording", self.place / "go"
        os.mkfifo(go)
        process = subprocess.Popen([lab.BUILD / "mallab", "record", "-q", "-o", recording, "--", "sh", "-c",
                                    f"read line <{go}; env -i true; exit 0"], stderr=subprocess.DEVNULL)
        with open(go, "w") as gate: # opened when the shell has: it is recorded by then
            process.send_signal(signal.SIGKILL)
            process.wait()
            gate.write("go\n")
        self.assert_lacking(self.wait_for_end(recording))

    def test_collector_is_killed(self):
        """Nobody hears the name then; that there was one is counted."""
        recording = self.place / "recording"
        find = f"import json; print(json.load(open('{recording}/recording.json'))['collector']['pid'])"
        script = f"""pid=$(/usr/bin/python3 -c "{find}"); kill -9 $pid; while kill -0 $pid 2>/dev/null; do :; done
                     env -i true; exit 0"""
        self.mallab("record", "-o", recording, "--", "sh", "-c", script)
        self.assert_lacking(self.listing(recording), "1 process was not recorded after the collector was killed")


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
