#!/usr/bin/env python3
"""docs/published: what it holds is read by this mallab as by the one that wrote it, is valid by the published schemas, gives the
figures that README.md prints, and each command of its own README does what that says."""
import json
import pathlib
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import schema
from lab import BUILD, SOURCE, Lab, main, run

PUBLISHED = SOURCE / "docs" / "published"
OVER = 4


class Published(Lab):
    def test_results_are_valid(self):
        if not schema.jsonschema:
            self.skipTest("no jsonschema: scripts/setup --tests installs python3-jsonschema")
        results = sorted(PUBLISHED.rglob("*.json"))
        self.assertEqual(len(results), 3)
        for path in results:
            # Open: later versions add keys, and rename none.
            self.assertEqual(schema.faults("mallab-experiment-1", json.loads(path.read_text()), is_closed=False), [], path)
        self.judge(self.answer("report", "--json", PUBLISHED / "nights"))

    def judge(self, history):
        self.assertEqual(schema.faults("mallab-history-1", history), [])
        self.assertEqual((history["results"], history["left_out"]), (2, []))
        moved = {candidate["name"]: candidate["points"][1]["peak_moved"] for candidate in history["series"][0]["candidates"]}
        self.assertIsNone(moved["glibc"])

    def test_readme_prints_its_figures(self):
        """What README shows is what is printed of the result that it names."""
        shown = self.mallab("report", PUBLISHED / "quickstart.json").stdout.decode().splitlines()
        table = [line[4:] for line in (SOURCE / "README.md").read_text().splitlines() if line.startswith("    ") or not line]
        first = table.index(shown[0])
        self.assertEqual(table[first:first + len(shown)], shown)

    def test_compare_shows_what_changed(self):
        compared = self.answer("compare", "--json", *sorted((PUBLISHED / "nights").glob("*.json")))
        candidates = {candidate["name"]: candidate for candidate in compared["workloads"][0]["candidates"]}
        self.assertEqual([name for name, candidate in candidates.items() if candidate["settings_differ"]], ["jemalloc"])
        found = {(candidate["name"], one["metric"]): one for candidate in compared["workloads"][0]["candidates"] for one in candidate["metrics"]}
        self.assertEqual(found[("jemalloc", "rss-end")]["verdict"], "less")
        self.assertEqual(found[("glibc", "rss-peak")]["verdict"], "same")

    def test_every_reader_takes_every_result(self):
        """Each form of report, check and compare, of each result, and of all of them as a directory."""
        results = sorted(PUBLISHED.rglob("*.json"))
        nights = [path for path in results if path.parent.name == "nights"]
        for form in ("table", "md", "csv", "json"):
            for path in [*results, PUBLISHED / "nights"]:
                self.mallab("report", "--format", form, path)
            self.mallab("compare", "--any-workload", "--format", form, results[-1], nights[0])
            if form != "csv":
                self.mallab("check", "--format", form, "--inconclusive", "pass", "--budget", "time<=+90%,rss-peak<=+90%,faults<=+90%",
                            "--baseline", nights[0], nights[1])

    def test_its_workload_is_legal(self):
        self.assertIs(self.answer("info", "--json", "--verify", PUBLISHED / "sqlite3.wl")["verify"]["legal"], True)
        digests = {workload["file_digest"] for path in (PUBLISHED / "nights").glob("*.json") for workload in json.loads(path.read_text())["workloads"]}
        self.assertEqual(digests, {self.answer("info", "--json", PUBLISHED / "sqlite3.wl")["file_digest"]})

    def test_its_commands(self):
        """As a reader pastes them, from a directory that has the same names; but for the long one."""
        (self.place / "docs").symlink_to(SOURCE / "docs")
        (self.place / "build").symlink_to(BUILD)
        lines = [line.split("#") for line in (PUBLISHED / "README.md").read_text().splitlines() if line.startswith("    build/mallab ")]
        self.assertEqual(len(lines), 6)
        for command, told in lines:
            if shlex.split(command)[1] == "ab":
                continue
            done = run(["sh", "-c", command], cwd=self.place)
            self.assertEqual(done.returncode, OVER if "over budget" in told else 0, f"{command}\n{done.stderr.decode()}")


if __name__ == "__main__":
    main()
