"""The doctor: its exit status is what its checks say, text and JSON are the same checks, and what is missing (hyperfine, an allocator, the recorder) is told with what helps."""
import pathlib
import shutil

import lab
import schema


class Doctor(lab.Lab):
    def look(self, *options, program=lab.BUILD / "mallab", **settings):
        result = lab.run([program, "doctor", *options], cwd=self.place, **settings)
        self.assertIn(result.returncode, (lab.DONE, lab.FAILED), result.stderr)
        self.assertEqual(result.stderr, b"")
        return result

    def checks(self, *options, **settings):
        result = self.look("--json", *options, **settings)
        report = lab.json.loads(result.stdout)
        self.assertEqual(report["schema"], "mallab-doctor/1")
        if schema.jsonschema:
            self.assertEqual(schema.faults("mallab-doctor-1", report), [])
        bad = [check for check in report["checks"] if check["state"] == "bad"]
        self.assertEqual(report["bad"], len(bad))
        self.assertEqual(result.returncode, lab.FAILED if bad else lab.DONE)
        for check in report["checks"]:
            self.assertIn(check["state"], ("ok", "note", "bad"))
            self.assertIn(check["area"], ("measuring", "recording", "confirming", "installed"))
            self.assertTrue(check["found"] and check["why"], check)
            self.assertTrue(check["state"] != "bad" or check["remedy"], check)
        return report, {check["name"]: check for check in report["checks"]}

    def test_text_and_json(self):
        report, checks = self.checks()
        self.assertIn("glibc", checks["allocators"]["found"])
        self.assertIn("ns a read", checks["clock"]["found"])
        text = self.look().stdout.decode()
        for name, check in checks.items():
            self.assertIn(f"  {name}", text)
        self.assertTrue(all(len(line) <= 100 for line in text.splitlines()))
        self.assertNotIn("\033", text)
        self.assertNotIn("\n  ok ", self.look("--quiet").stdout.decode())

    def test_what_is_missing(self):
        """A copy of the command line alone: no recorder, no replays, no hyperfine; candidates of its own."""
        alone = self.place / "alone"
        alone.mkdir()
        shutil.copy(lab.BUILD / "mallab", alone)
        shutil.copy(lab.BUILD / "mallab-collect", alone)  # in a build tree
        own = self.place / "allocators"
        own.mkdir()
        (own / "jemalloc.ini").write_text("[allocator]\nname = jemalloc\nreplay = jemalloc\n"
                                          "library = libjemalloc-not-here.so.9\npackage = libjemalloc9\n")
        _, checks = self.checks(program=alone / "mallab", env={"PATH": "/nonexistent", "MALLAB_ALLOCATORS": str(own)})
        self.assertEqual(checks["hyperfine"]["state"], "note")
        self.assertEqual(checks["hyperfine"]["remedy"], "apt-get install hyperfine")
        self.assertEqual(checks["jemalloc"]["state"], "note")
        self.assertEqual(checks["jemalloc"]["remedy"], "apt-get install libjemalloc9")
        self.assertEqual(checks["allocators"]["state"], "bad")
        if not pathlib.Path("/usr/local/lib/x86_64-linux-gnu/libmallab.so").exists():
            self.assertEqual(checks["recorder"]["state"], "bad")
