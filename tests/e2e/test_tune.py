"""mallab tune: what helps most is left and measured afresh, as ab measures; what is wrong is refused before any run."""

import json

import lab
import schema


class Tune(lab.Lab):
    def setUp(self):
        super().setUp()
        self.workload = self.made(1, 20_000, 5)

    def settings(self, *lines):
        (self.place / "settings").write_text("\n".join(lines) + "\n")
        return ["--settings", "settings"]

    def test_the_least_memory_is_left_and_measured_afresh(self):
        """Without thread caches this workload's peak is a sixth lower: of memory that is no matter of chance."""
        said = self.mallab("tune", "--json", "--finalists", "2", "--time-budget", "1s", "-b", "glibc", "-o", "kept.json",
                           *self.settings("# arenas do nothing for one thread", "glibc+arena_max=2", "", "glibc+tcache_count=0",
                                          "glibc+arena_max=4  # likewise", "glibc+arena_max=8"), self.workload)
        result = json.loads(said.stdout)
        self.assertEqual(json.loads((self.place / "kept.json").read_text()), result)
        if schema.jsonschema:
            self.assertEqual(schema.faults("mallab-experiment-1", result), [])
        workload = result["workloads"][0]
        names = [one["name"] for one in workload["candidates"]]
        self.assertEqual((len(names), names[0]), (3, "glibc"))
        self.assertIn("glibc+tcache_count=0", names)
        for one in workload["candidates"]:  # rounds of ab, none of the search
            self.assertEqual(len(one["runs"]), workload["rounds"])
            self.assertEqual(len(one["memory_runs"]), 3)
        self.assertGreaterEqual(workload["rounds"], 8)
        self.assertIn(b"2 of 4 are left", said.stderr)
        # What it says is what a report of the same result says: one function.
        shown = self.mallab("report", "kept.json").stdout.decode()
        self.assertIn("memory: glibc+tcache_count=0 saves", shown)

    def test_ranges_are_tried_where_no_settings_are_named(self):
        directory = self.place / "allocators"
        directory.mkdir()
        (directory / "glibc.ini").write_text("[allocator]\nname = glibc\nreplay = glibc\nlibrary = libc.so.6\nproof = glibc\n"
                                             "[ranges]\narena_max = 1, 2\ntcache_count = 0, 7\n")
        environment = {"MALLAB_ALLOCATORS": str(directory)}
        said = self.mallab("tune", "--finalists", "1", "--time-budget", "1s", self.workload, env=environment)
        self.assertIn(b"2 of 4 are left", said.stderr)
        self.assertIn(b"1 of 2 are left", said.stderr)
        self.assertIn(b"VERDICT", said.stdout)

    def test_no_more_than_are_wanted_need_no_search(self):
        said = self.mallab("tune", "--time-budget", "1s", *self.settings("glibc+arena_max=2"), "-b", "glibc", self.workload)
        self.assertNotIn(b"are left", said.stderr)
        self.assertIn(b"glibc+arena_max=2", said.stdout)

    def test_what_is_wrong_is_refused(self):
        for lines, status, fragment in ((["glibc+arenamax=2"], lab.MISUSE, "is it spelt right?"),
                                        (["glibc+arena_max=2", "glibc jemalloc"], lab.BAD_INPUT, "line 2 has more than one"),
                                        (["glibc,glibc+arena_max=2"], lab.BAD_INPUT, "line 1 has more than one"),
                                        (["./lib.so+X=1"], lab.BAD_INPUT, "line 1 names a library"),
                                        (["x" * 300], lab.BAD_INPUT, "line 1 is too long"),
                                        (["# nothing"], lab.MISUSE, "no candidate is named"),
                                        (["glibc"], lab.MISUSE, "nothing to compare glibc with")):
            with self.subTest(lines=lines):
                result = self.mallab("tune", *self.settings(*lines), self.workload, status=status)
                self.assertEqual(result.stdout, b"")
                self.assertIn(fragment, result.stderr.decode())
        missing = self.mallab("tune", "--settings", "nowhere", self.workload, status=lab.BAD_INPUT)
        self.assert_one_line(missing, "nowhere")
        self.mallab("tune", "--settings", "settings", self.workload, self.workload, status=lab.MISUSE)
