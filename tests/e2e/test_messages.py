"""What is named wrongly, and what is called oddly: a directory that is no recording, a name that has another ending, programs whose names are
of UTF-8 and of no UTF-8. What is temporary: there is room for it, or that is said, and SIGKILL leaves none of it behind. A result whose -o
cannot be written at the end is kept elsewhere, or printed."""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess

import lab

NOT_UTF8 = b"caf\xe9"


class Messages(lab.Lab):
    def setUp(self):
        super().setUp()
        self.scratch = self.place / "scratch"
        self.scratch.mkdir()

    def refusal(self, *arguments, status=lab.BAD_INPUT, **settings):
        return self.mallab(*arguments, status=status, **settings).stderr.decode()

    # ---- names

    def test_a_directory_of_others(self):
        """What it holds is said before whose it is, and nobody is told to change the mode of /tmp."""
        common = self.place / "common"
        common.mkdir()
        common.chmod(0o1777)
        for verb in "ab", "info", "convert":
            said = self.refusal(verb, common)
            self.assertIn("is no recording", said)
            self.assertNotIn("chmod", said)
        self.assertNotIn("chmod", self.refusal("record", "-o", common, "--", "true", status=None))
        self.record("true", name="common/run")
        (common / "run").chmod(0o777)
        self.assertIn("'chmod go-w' it", self.refusal("info", common / "run"))
        for path in (common / "run").iterdir():
            path.rename(common / path.name)
        said = self.refusal("info", common)
        self.assertIn("copy what you trust of it", said)
        self.assertNotIn("chmod", said)

    def test_another_ending(self):
        self.record("true", name="nightly")
        for verb in ["ab"], ["info"], ["convert"], ["replay", "-a", "glibc"]:
            self.assertIn("there is 'nightly': name that", self.refusal(*verb, "nightly.wl", cwd=self.place))
        self.convert(self.place / "nightly").rename(self.place / "weekly.wl")
        self.assertIn("there is 'weekly.wl': name that", self.refusal("info", "weekly", cwd=self.place))
        self.assertNotIn("there is", self.refusal("info", "yearly.wl", cwd=self.place))

    def test_programs_of_any_name(self):
        """A name of UTF-8 stays as it is; of another encoding the bytes are shown, and nothing of the recording is lost. Nothing drives the
        terminal or turns a line around."""
        folder = os.fsencode(self.place)
        for name in NOT_UTF8, "café".encode(), "caf\u202e\x1b[31m\u200b".encode():
            shutil.copy("/bin/ls", os.path.join(folder, name))
        recording = self.record("sh", "-c", "for one in ./caf*; do $one; done; :", cwd=self.place)
        info = self.info(recording)
        self.assert_whole(info)
        names = {"sh", "caf\\xe9", "café", "caf\\u202e\\x1b[31m\\u200b"}
        self.assertEqual({one["name"] for one in info["process_list"]}, names)
        for verb in ["info", "--details"], ["info", "--json"], ["info", "--verify"], ["top", "--once"], ["convert", "-o", "all.wl"]:
            told = self.mallab(*verb, recording)
            self.assertNotRegex((told.stdout + told.stderr).decode(), "[\u202e\x1b\u200b]", verb)
        for locale in "C", "C.UTF-8":
            text = self.mallab("info", recording, env={"LC_ALL": locale}).stdout.decode()
            self.assertRegex(text, r"(?m)^ +1 +\d+ .* caf\\xe9$")
            self.assertRegex(text, r"(?m)^ +1 +\d+ .* café$")
        for path in recording.glob("*.fp"):
            path.name.encode()
            workload = self.place / "one.wl"
            self.mallab("convert", "-f", "-o", workload, path)
            self.assertIn(self.info(workload)["program"], names)
        alone = self.record(os.fsdecode(os.path.join(folder, NOT_UTF8)), name="alone")
        self.assertEqual(self.info(self.convert(alone))["program"], "caf\\xe9")

    # ---- what is said of promises

    def test_promises(self):
        workload = self.convert(self.record("ls"))
        arguments = ["ab", "-n", "1", "-a", "glibc", "--promises", workload]
        self.assertIn("promises kept by glibc\n", self.refusal(*arguments, status=lab.DONE))
        self.assertNotIn("promises", self.refusal(*arguments, "-q", status=lab.DONE))
        self.assertNotIn("promises", self.refusal(*[one for one in arguments if one != "--promises"], status=lab.DONE))

    # ---- temporary files

    def started(self):
        """One that measures in a scratch directory of its own until it is ended."""
        recording = self.record("ls", name=f"run{len(list(self.place.glob('run*')))}")
        environment = {**os.environ, "TMPDIR": str(self.scratch)}
        before = set(self.scratch.iterdir())
        process = subprocess.Popen([str(lab.BUILD / "mallab"), "ab", "-a", "glibc", "-n", "1000", str(recording)], env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        lab.wait_for(lambda: [one for one in set(self.scratch.iterdir()) - before if list(one.glob("*.wl"))], "a workload")
        (made,) = set(self.scratch.iterdir()) - before
        return process, made

    def test_killed(self):
        """What SIGKILL leaves is removed by the next start; what somebody works in, and what others called nearly so, is not."""
        process, left = self.started()
        process.kill()
        process.wait()
        self.assertTrue(list(left.iterdir()))
        others = [self.scratch / name for name in ("mallab-scratch.notours", "mallab-backup", "mallab-scratch.")]
        for other in others:
            other.mkdir()
        working, made = self.started()
        self.assertFalse(left.exists())
        again, made_again = self.started()
        self.assertTrue(list(made.glob("*.wl")))
        for one in working, again:
            one.send_signal(signal.SIGINT)
            one.wait()
        self.assertEqual(set(self.scratch.iterdir()), set(others))
        self.assertFalse(made_again.exists())

    def test_room(self):
        """It is looked for before the conversion."""
        small = self.mounted(size="64k")
        recording = self.record(lab.BUILD / "tests/shim/shim_churn", 100_000)
        said = self.refusal("ab", "-n", "1", "-a", "glibc", recording, status=lab.FAILED, env={"TMPDIR": str(small)})
        self.assertRegex(said, rf"takes about [\d.]+ kB, and '{small}/[^']+' has [\d.]+ kB left: free some space, or choose another directory")
        self.assertEqual(list(small.iterdir()), [])
        self.mallab("ab", "-q", "-n", "1", "-a", "glibc", "--keep", "kept", recording, cwd=self.place, env={"TMPDIR": str(small)})


PAST_WORDS = rb"the result is kept as '([^']+)' instead"


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


class Rescue(lab.Lab):
    def setUp(self):
        super().setUp()
        self.workload = self.made(1, 2_000, 21, 500)

    def measure(self, output, **settings):
        return lab.run([lab.BUILD / "mallab", "ab", "-q", "-n", "1", "-a", "glibc",
                        "-o", output, self.workload], **settings)

    def kept(self, ended, folder):
        """The result that was kept in the folder instead, and nothing else there."""
        self.assertEqual(ended.returncode, lab.FAILED)
        self.assertIn(b"glibc", ended.stdout)
        path = pathlib.Path(re.search(PAST_WORDS, ended.stderr)[1].decode())
        self.assertEqual(path.parent, folder)
        self.assertEqual(os.listdir(folder), [path.name])
        table = lab.run([lab.BUILD / "mallab", "report", path])
        self.assertEqual(table.returncode, lab.DONE, table.stderr)
        self.assertEqual(*(re.sub(rb"(?m)^more .*\n", b"", shown) for shown in (table.stdout, ended.stdout)))  # each verb has its own

    def test_full_disk(self):
        folder = self.mounted(size="4k")
        other = self.place / "other"
        other.mkdir()
        ended = self.measure(folder / "full.json", env={"TMPDIR": str(other)})
        self.assertIn(b"No space left on device", ended.stderr)
        self.kept(ended, other)
        self.assertEqual(os.listdir(folder), [])

    def test_name_taken_meanwhile(self):
        """By the very program that is measured: when it began, the name was free."""
        other, output = self.place / "other", self.place / "taken.json"
        other.mkdir()
        ended = lab.run([lab.BUILD / "mallab", "ab", "-q", "-n", "1", "-a", "glibc", "-o", output,
                         "--", "sh", "-c", f"echo mine >{output}; exec ls /"], env={"TMPDIR": str(other)})
        self.assertIn(b"exists already", ended.stderr)
        self.kept(ended, other)
        self.assertEqual(output.read_bytes(), b"mine\n")

    def test_no_file_at_all(self):
        ended = self.measure(self.place / "none.json", preexec_fn=limit_files)
        self.assertEqual(ended.returncode, lab.FAILED)
        self.assertIn(b"File too large", ended.stderr)
        self.assertIn(b"standard output has its JSON", ended.stderr)
        self.assertEqual(len(json.loads(ended.stdout)["workloads"][0]["candidates"][0]["runs"]), 1)
        self.assertFalse((self.place / "none.json").exists())
