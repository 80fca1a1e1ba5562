"""Programs built with sanitizers or for musl run to their end under the recorder, as children too: recorded where the sanitizer
leaves the allocator alone, else without the recorder, and it is told why."""

import os
import pathlib
import shutil
import subprocess

import lab

NAMES = {"address": "AddressSanitizer", "thread": "ThreadSanitizer", "memory": "MemorySanitizer"}


class Sanitized(lab.Lab):
    def compiled(self, compiler, sanitizer):
        """The program as this compiler builds it; None where it cannot."""
        program = self.place / f"{compiler}-{sanitizer}"
        if shutil.which(compiler) is None or subprocess.run(
                [compiler, "-g", f"-fsanitize={sanitizer}", "-o", program, lab.SOURCE / "tests" / "e2e" / "sanitized.c"],
                stderr=subprocess.DEVNULL, check=False).returncode != 0:
            return None
        alone = subprocess.run([program], stdout=subprocess.PIPE, check=False)
        return program if (alone.returncode, alone.stdout) == (0, b"ran\n") else None

    def check_alone(self, command, name, sanitizer, ran):
        """It ran, was not recorded, and whoever asks hears why."""
        run = self.mallab("record", "-o", "out", "--", *command)
        self.assertEqual(run.stdout, b"ran\n" * ran)
        self.assertIn(f"'{name}'", run.stderr.decode())
        self.assertIn(f"is built with {NAMES[sanitizer]}", run.stderr.decode())
        if command[0].name != name or len(command) == 1: # what it starts may be seen from outside, and named, too
            self.assertNotIn("environment", run.stderr.decode())
        recording = self.listing("out")
        self.assertIs(recording["complete"], False)
        self.assertIn(NAMES[sanitizer], recording["incomplete_why"])
        info = self.mallab("info", "out", status=None) # an error where nothing else was recorded
        self.assertIn(NAMES[sanitizer], (info.stdout + info.stderr).decode())
        shutil.rmtree(self.place / "out")

    def test_runs_without_us(self):
        tried = 0
        for compiler in ("gcc", "clang"):
            for sanitizer in NAMES:
                program = self.compiled(compiler, sanitizer)
                if program is None:
                    continue
                tried += 1
                with self.subTest(program=program.name):
                    self.check_alone([program], program.name, sanitizer, 1)
        if tried == 0:
            self.skipTest("no compiler here builds with a sanitizer")

    def test_as_a_child(self):
        """Of a shell, by PATH, of a program that calls execl; and what such a child starts."""
        program = self.compiled("gcc", "address") or self.compiled("clang", "address")
        plain = self.compiled("gcc", "undefined") or self.compiled("clang", "undefined")
        if program is None or plain is None:
            self.skipTest("no compiler here builds with AddressSanitizer")
        self.check_alone([pathlib.Path("/bin/sh"), "-c", f"{program}; exit 0"], program.name, "address", 1)
        self.check_alone([pathlib.Path("/usr/bin/env"), f"PATH={self.place}:{os.environ['PATH']}", program.name], program.name, "address", 1)
        self.check_alone([plain, program], program.name, "address", 2)
        self.check_alone([program, plain], program.name, "address", 2)

    def test_is_recorded(self):
        """Undefined behaviour's sanitizer has no allocator."""
        program = self.compiled("gcc", "undefined") or self.compiled("clang", "undefined")
        if program is None:
            self.skipTest("no compiler here builds with UndefinedBehaviorSanitizer")
        run = self.mallab("record", "-o", "out", "--", program)
        self.assertEqual(run.stdout, b"ran\n")
        self.assertGreaterEqual(self.info(self.place / "out")["events_by_call"]["malloc"], 1000)

    @lab.needs("musl-gcc")
    def test_musl(self):
        """Refused before it starts; run where --best-effort asks for it; as a child it runs as ever."""
        program, why = self.place / "of-musl", "is built for musl"
        subprocess.run(["musl-gcc", "-o", program, lab.SOURCE / "tests" / "e2e" / "sanitized.c"], check=True)
        for verb in (("record", "-o", "refused", "--"), ("record", "-q", "-o", "refused", "--"), ("ab", "--")):
            run = self.mallab(*verb, program, status=lab.FAILED if verb[0] == "ab" else 125)
            self.assertEqual(run.stdout, b"")
            self.assert_one_line(run, why, "build it for glibc")
        run = self.mallab("record", "--best-effort", "-o", "refused", "--", program)
        self.assertEqual(run.stdout, b"ran\n")
        self.assert_one_line(run, why, "--best-effort")
        self.assertFalse((self.place / "refused").exists())
        for i, parent in enumerate((["sh", "-c", f"{program}; exit 0"], ["env", program], ["nice", program])):
            run = self.mallab("record", "-o", f"out{i}", "--", *parent)
            self.assertEqual(run.stdout, b"ran\n")
            self.assertEqual(run.stderr.decode().count(why), 1, run.stderr)
            self.assertIn("'of-musl'", run.stderr.decode())
            self.assertIs(self.listing(f"out{i}")["complete"], False)
