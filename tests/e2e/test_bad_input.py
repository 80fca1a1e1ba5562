#!/usr/bin/env python3
"""Damaged, foreign and newer files, unknown names: one line with the file, exit codes of the command line's contract.

Every truncation and bit flip of a real footprint and workload ends in a status, never in a signal; what is
said to be whole is whole."""
import json
import random
import shutil

import lab

SEED = 20261120


class BadInput(lab.Lab):
    @classmethod
    def setUpClass(cls):
        """One recording of a real program, converted, for all tests; each damages copies."""
        super().setUpClass()
        keeper = cls.keeper()
        recording = keeper.record("sqlite3", ":memory:", "select printf('%d', 7)", stdout=lab.subprocess.DEVNULL)
        (cls.footprint,) = recording.glob("*.fp")
        cls.workload = keeper.convert(recording)

    def refused(self, path, *arguments, status=lab.BAD_INPUT, fragments=()):
        result = self.mallab(*arguments, path, status=status)
        self.assertEqual(result.stdout, b"")
        self.assert_one_line(result, path.name, *fragments)

    def everywhere(self, footprint_bytes, workload_bytes, fragments=()):
        """The same damage to both kinds of file, refused by every verb that reads them."""
        damaged = self.place / "damaged.fp"
        damaged.write_bytes(footprint_bytes)
        self.refused(damaged, "info", fragments=fragments)
        self.refused(damaged, "convert", "-o", "out.wl", fragments=fragments)
        self.refused(damaged, "ab", fragments=fragments)
        self.assertFalse((self.place / "out.wl").exists(), "a file was left behind")
        damaged = self.place / "damaged.wl"
        damaged.write_bytes(workload_bytes)
        self.refused(damaged, "info", fragments=fragments)
        self.refused(damaged, "replay", "-a", "glibc", fragments=fragments)
        self.refused(damaged, "ab", fragments=fragments)

    def test_missing(self):
        for verb in (["info"], ["convert"], ["replay", "-a", "glibc"], ["ab"], ["report"]):
            self.refused(self.place / "absent", *verb)

    def test_empty(self):
        self.everywhere(b"", b"")

    def test_foreign(self):
        self.everywhere(b"%PDF-1.4\n" * 1000, b"\x7fELF" + bytes(5000))
        foreign = self.place / "foreign.json"
        foreign.write_text('{"schema": "something-else/1"}\n')
        self.refused(foreign, "report")
        foreign.write_text("{")
        self.refused(foreign, "report")

    def test_newer(self):
        """The version is looked at before any checksum: it says whether the rest can be understood at all."""
        footprint, workload = bytearray(self.footprint.read_bytes()), bytearray(self.workload.read_bytes())
        for data in (footprint, workload):
            self.assertIn(data[8:10], (b"\1\0", b"\2\0", b"\3\0"), "docs/format.md: the version follows the magic")
            data[8] = 99
        self.everywhere(footprint, workload, fragments=["99"])

    def test_cut_within_the_header(self):
        self.everywhere(self.footprint.read_bytes()[:20], self.workload.read_bytes()[:20])

    def test_a_cut_workload_is_refused(self):
        data = self.workload.read_bytes()
        for length in sorted({1, 7, 8, 63, 64, 65, len(data) // 2, len(data) - 65, len(data) - 1}):
            cut = self.place / "cut.wl"
            cut.write_bytes(data[:length])
            with self.subTest(length=length):
                self.refused(cut, "info")
                self.refused(cut, "replay", "-a", "glibc")

    def test_a_cut_footprint_is_used_up_to_the_cut_and_said_to_be_incomplete(self):
        data = self.footprint.read_bytes()
        cut = self.place / "cut.fp"
        cut.write_bytes(data[:-1])
        info = self.info(cut)
        self.assertIs(info["complete"], False)
        self.assertEqual(info["events"], self.info(self.footprint)["events"])
        self.replay_everywhere(self.convert(cut))

    def test_flipped_bits(self):
        """Each flip is seen: refused, or (in a footprint's tail) reported as incomplete. No two flips in one place."""
        chance = random.Random(SEED)
        data = self.workload.read_bytes()
        for position in chance.sample(range(len(data)), 60):
            flipped = bytearray(data)
            flipped[position] ^= 1 << chance.randrange(8)
            path = self.place / "flipped.wl"
            path.write_bytes(flipped)
            with self.subTest(position=position, seed=SEED):
                self.refused(path, "replay", "-a", "glibc", "--json")
                self.refused(path, "ab", "-n", "1")
        data = self.footprint.read_bytes()
        for position in chance.sample(range(len(data)), 60):
            flipped = bytearray(data)
            flipped[position] ^= 1 << chance.randrange(8)
            path = self.place / "flipped.fp"
            path.write_bytes(flipped)
            with self.subTest(position=position, seed=SEED):
                result = lab.run([lab.BUILD / "mallab", "info", "--json", path], cwd=self.place)
                self.assertIn(result.returncode, (lab.DONE, lab.BAD_INPUT), result.stderr)
                if result.returncode == lab.DONE:
                    self.assertIs(json.loads(result.stdout)["complete"], False)
                else:
                    self.assert_one_line(result, path.name)

    def test_unknown_candidate(self):
        for verb in (["replay", "-a", "nosuchmalloc"], ["ab", "-a", "glibc,nosuchmalloc"], ["ab", "-b", "nosuchmalloc"]):
            with self.subTest(verb=verb):
                lines = self.mallab(*verb, self.workload, status=lab.MISUSE).stderr.decode().splitlines()
                self.assertLessEqual(len(lines), 2, lines)  # what is wrong, and where help is
                self.assertIn("nosuchmalloc", lines[0])

    def test_a_missing_library_is_reported_not_replaced(self):
        directory = self.place / "allocators"
        shutil.copytree(lab.SOURCE / "allocators", directory)
        (directory / "absent.ini").write_text(
            (directory / "jemalloc.ini").read_text().replace("name = jemalloc", "name = absent").replace(
                "libjemalloc", "libabsentmalloc"))
        environment = {"MALLAB_ALLOCATORS": str(directory)}
        listed = self.answer("allocators", "--json", env=environment)
        (absent,) = [entry for entry in listed["allocators"] if entry["name"] == "absent"]
        self.assertIs(absent["found"], False)
        result = self.mallab("replay", "-a", "absent", self.workload, env=environment, status=lab.FAILED)
        self.assert_one_line(result, "absent")

    def test_misuse(self):
        for arguments in ([], ["nosuchverb"], ["info"], ["info", "--nosuchoption", self.workload], ["replay"],
                          ["ab", "-n", "0", self.workload], ["ab", "-n", "many", self.workload]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.mallab(*arguments, status=lab.MISUSE).stdout, b"")

    def test_nothing_is_overwritten_without_force(self):
        target = self.place / "precious.wl"
        target.write_text("precious")
        result = self.mallab("convert", "-o", target, self.footprint, status=lab.FAILED)
        self.assert_one_line(result, "precious.wl")
        self.assertEqual(target.read_text(), "precious")
        self.mallab("convert", "--force", "-o", target, self.footprint)
        self.assertEqual(target.read_bytes(), self.workload.read_bytes())


if __name__ == "__main__":
    lab.main()
