"""docs/published: what it holds is read by this mallab as by the one that wrote it, gives valid documents, the figures that
README.md prints and those that its own README tells, and each command of that does what it says."""

import schema
from lab import BUILD, SOURCE, Lab, run

PUBLISHED = SOURCE / "docs" / "published"
RESULTS = sorted(PUBLISHED.glob("*.json"))
OVER = 4


class Published(Lab):
    def test_there_are_two_small_ones(self):
        self.assertEqual([path.name for path in RESULTS], ["perl.json", "quickstart.json"])
        self.assertLess(RESULTS[0].stat().st_size, 300_000)
        for path in RESULTS:
            self.assertEqual(path.read_text().count("\n"), 1, path)

    def test_what_is_made_of_them_is_valid(self):
        if not schema.jsonschema:
            self.skipTest("no jsonschema: scripts/setup --tests installs python3-jsonschema")
        for path in RESULTS:
            # Open: they have keys that this version does not write.
            made = self.answer("report", "--json", path)
            self.assertEqual(schema.faults("mallab-experiment-1", made, is_closed=False), [], path)

    def test_readme_prints_its_figures(self):
        """What README shows is what is printed of the result that it names; only its last row is that of ab -o."""
        shown = self.mallab("report", PUBLISHED / "quickstart.json").stdout.decode().splitlines()
        table = [line[4:] for line in (SOURCE / "README.md").read_text().splitlines() if line.startswith("    ") or not line]
        first = table.index(shown[0])
        more = first + len(shown) - 1
        self.assertEqual(table[first:more], shown[:-1])
        self.assertRegex(table[more], "^more  .*mallab report --format html FILE")
        self.assertRegex(shown[-1], "^more  ")

    def test_perl_shows_what_allocators_trade(self):
        """What docs/published/README.md tells of it."""
        workload = self.answer("report", "--json", PUBLISHED / "perl.json")["workloads"][0]
        found = {one["name"]: one for one in workload["candidates"]}
        for name in ("jemalloc", "tcmalloc", "mimalloc"):
            self.assertEqual(found[name]["time"]["verdict"], "faster")
            self.assertLess(found[name]["time"]["ratio"], 0.6)
        self.assertAlmostEqual(found["tcmalloc"]["resident"]["peak_ratio"], 7 / 6, delta=0.04)
        for name, gives_back in (("glibc", False), ("tcmalloc", False), ("jemalloc", True), ("mimalloc", True)):
            resident = found[name]["resident"]
            self.assertIs(resident["idle_bytes"] < 0.8 * resident["peak_bytes"], gives_back, name)

    def test_every_reader_takes_every_result(self):
        """Each form of report, check and compare."""
        for form in ("table", "md", "json"):
            for path in RESULTS:
                self.mallab("report", "--format", form, path)
                self.mallab("check", "--format", form, "--inconclusive", "pass", "--budget", "time<=+90%,rss-peak<=+90%,faults<=+90%",
                            "--baseline", path, path)
            self.mallab("compare", "--any-workload", "--format", form, *RESULTS)

    def test_its_commands(self):
        """As a reader pastes them, from a directory that has the same names."""
        (self.place / "docs").symlink_to(SOURCE / "docs")
        (self.place / "build").symlink_to(BUILD)
        lines = [line.split("#") for line in (PUBLISHED / "README.md").read_text().splitlines() if line.startswith("    build/mallab ")]
        self.assertEqual(len(lines), 4)
        for command, told in lines:
            done = run(["sh", "-c", command], cwd=self.place)
            self.assertEqual(done.returncode, OVER if "over budget" in told else 0, f"{command}\n{done.stderr.decode()}")
