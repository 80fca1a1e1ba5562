"""Recordings with a witness: libtally.so behind the shim in the same processes counts what each of them calls."""
import collections
import pathlib
import shutil
import struct
import subprocess
import tempfile

import lab

TALLY = lab.PROGRAMS / "libtally.so"
# docs/order.md: what correct programs do
REGULAR = {"failed_calls", "realloc_to_zero", "unfinished_calls", "inherited_frees"}
SETTINGS = {"PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0", "LC_ALL": "C.UTF-8"}


class Witnessed(lab.Lab):
    """A recording whose every call is counted by another library in the same processes."""

    def setUp(self):
        super().setUp()
        # Outside the test's own place: other users write there, and pass through its parents.
        self.tallies = pathlib.Path(tempfile.mkdtemp(prefix="mallab-tally-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.tallies, ignore_errors=True)
        self.tallies.chmod(0o777)
        self.environment = {**SETTINGS, "LD_PRELOAD": str(TALLY), "TALLY_OUT": str(self.tallies),
                            "HOME": str(self.place)}

    def start(self, *command, user=(), place=None, options=(), **settings):
        """A server under `mallab record`."""
        environment = lab.environment(**{**self.environment, **settings.pop("env", {})})
        program = lab.BUILD / "mallab"
        return subprocess.Popen([str(part) for part in [*user, program, "record", "-o",
                                                        (place or self.place) / "recording", *options, "--", *command]],
                                env=environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                cwd=place or self.place, **settings)

    def run_recorded(self, *command, env=(), **settings):
        process = self.start(*command, env=dict(env), **settings)
        output, said = process.communicate(timeout=lab.PATIENCE_S)
        return process.returncode, output, said

    def assert_counted(self, folder):
        """Of every process, what was recorded and what was lost together are what it did. Returns recording.json."""
        recording = self.listing(folder)
        counted, witnessed = collections.Counter(), collections.Counter()
        for process in recording["processes"]:
            counted[process["pid"]] += process["events"] + sum(process["lost"].values())
        for path in self.tallies.iterdir():
            name, pid, _ = path.name.rsplit(".", 2)
            if name not in ("mallab", "setpriv"):  # before the recording begins
                witnessed[int(pid)] += struct.unpack("Q", path.read_bytes()[:8])[0]
        self.assertEqual(+counted, +witnessed)
        return recording

    def judge(self, least, programs, folder=None, lacks=None):
        """The recording is whole, its counts are the witness's, and it converts without a defect. lacks: why it is not whole."""
        folder = folder or self.place / "recording"
        info = self.info(folder)
        if lacks is None:
            self.assert_whole(info)
        else:
            self.assertIn(lacks, info["incomplete_why"])
            self.assertEqual(sum(info["lost"].values()), 0)
        self.assertGreaterEqual(info["events"], least)
        defects = {name: n for name, n in info["irregularities"].items() if n and name not in REGULAR}
        self.assertEqual(defects, {})
        recording = self.assert_counted(folder)
        self.assertLessEqual(set(programs), {process["name"] for process in recording["processes"]})
        self.assertEqual(recording["events"], info["events"])
        result = self.mallab("convert", "-o", self.place / "out.wl", *self.trusting(folder), folder)
        self.assertNotIn(b"repaired", result.stderr)
        return info

    def compare(self, *command, least, programs, env=()):
        plain = lab.run(command, cwd=self.place, env={**SETTINGS, "HOME": str(self.place), **dict(env)})
        self.assertEqual(plain.returncode, 0, plain.stderr)
        status, output, said = self.run_recorded(*command, env=env)
        self.assertEqual((status, output), (0, plain.stdout), said)
        return self.judge(least, programs)
