"""Where -o cannot be written at the end, the result is kept elsewhere and its path told; where no file can be written it is printed as JSON."""
import json
import os
import pathlib
import re
import resource

import lab

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
        self.assertEqual(table.stdout, ended.stdout)

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
