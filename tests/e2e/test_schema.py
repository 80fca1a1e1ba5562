#!/usr/bin/env python3
"""What mallab prints as JSON is what docs/schema publishes: real answers of each verb are valid, hold no key that the
schema does not name, and the schemas do refuse what is wrong. A key that is new fails here until its schema has it."""
import copy
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import schema
from lab import FAILED, SOURCE, Lab, main, needs

SCRIPT = "local t = {} for i = 1, 4000 do t[i % 300 + 1] = {tostring(i)} end"


@unittest.skipUnless(schema.jsonschema, "no jsonschema: scripts/setup --tests installs python3-jsonschema")
@needs("lua5.4")
class Schema(Lab):
    @classmethod
    def setUpClass(cls):
        cls.made = cls.keeper()
        cls.made.mallab("record", "-q", "-o", "kept", "--", "lua5.4", "-e", SCRIPT)
        cls.made.mallab("convert", "-q", "-o", "lua.wl", "kept")

    def judge(self, name, document):
        self.assertEqual(schema.faults(name, document), [], f"docs/schema/{name}.schema.json")

    def test_schemas_are_schemas(self):
        for name in schema.all_of_them():
            schema.jsonschema.Draft202012Validator.check_schema(schema.load(name))
            self.assertEqual(schema.load(name)["$id"], f"{name}.schema.json")

    def test_a_run_is_the_same_in_both(self):
        run, experiment = schema.load("mallab-run-1"), schema.load("mallab-experiment-1")
        for name, part in run["$defs"].items():
            self.assertEqual(experiment["$defs"][name], part)
        self.assertEqual(experiment["$defs"]["run"], {key: value for key, value in run.items() if key[0] != "$" and key != "title"})

    def test_replay(self):
        for more in ([], ["--latency"], ["--syscalls"], ["--placement"], ["--check"], ["--clock", "recorded", "--idle", "1s", "--limit", "200M"],
                     ["--pace", "100x", "--pin", "auto", "--nice", "1", "--threads", "1", "--touch", "full"]):
            with self.subTest(more=more):
                self.judge("mallab-run-1", self.made.answer("replay", "--json", *more, "lua.wl"))

    def test_info(self):
        footprint = next((self.made.place / "kept").glob("*.fp"))
        for what in (["kept"], [footprint], ["lua.wl"], ["--verify", "lua.wl"]):
            self.judge("mallab-info-1", self.made.answer("info", "--json", *what))

    def test_allocators(self):
        self.judge("mallab-allocators-1", self.made.answer("allocators", "--json"))

    def test_ab(self):
        result = self.made.answer("ab", "-q", "-a", "glibc,jemalloc,glibc+arena_max=1", "-n", "2", "--memory-rounds", "1", "--idle", "1s",
                                  "--latency", "-o", "r.json", "--json", "lua.wl")
        self.judge("mallab-experiment-1", result)
        self.judge("mallab-experiment-1", self.made.answer("report", "--json", "r.json"))
        self.judge("mallab-experiment-1", self.made.answer("info", "--json", "r.json"))
        for path, wrong in ((["rounds"], "2"), (["workloads", 0, "candidates", 1, "time", "verdict"], "better"),
                            (["workloads", 0, "candidates", 0, "resident", "peak_bytes"], "much"), (["workloads", 0, "candidates"], []),
                            (["workloads", 0, "candidates", 0, "runs", 0, "wall_ns"], -1), (["unknown_key"], 1)):
            damaged = copy.deepcopy(result)
            place = damaged
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = wrong
            self.assertEqual(len(schema.faults("mallab-experiment-1", damaged)), 1, path)
        # For readers new keys are no fault.
        self.assertEqual(schema.faults("mallab-experiment-1", damaged, is_closed=False), [])

    def test_check_and_compare(self):
        for name in ("then.json", "now.json"):
            self.made.mallab("ab", "-q", "-f", "-a", "glibc,jemalloc", "-n", "2", "--memory-rounds", "0", "--no-syscalls", "-o", name, "lua.wl")
        self.judge("mallab-compare-1", self.made.answer("compare", "--json", "then.json", "now.json"))
        kept = SOURCE / "tests" / "cli" / "data" / "unbeaten.json"
        for status, budget, *arguments in ((5, "time<=+3%", "now.json"), (5, "time<=+3%", "--baseline", "then.json", "now.json"),
                                           (0, "small:rss-peak<=1GiB", kept), (4, "fast:rss-peak<=1MiB", kept)):
            told = self.made.mallab("check", "--json", "--budget", budget, *arguments, status=status)
            self.judge("mallab-check-1", json.loads(told.stdout))

    def test_ab_where_a_candidate_dies(self):
        told = self.made.mallab("ab", "-q", "-a", "glibc,mimalloc", "-n", "1", "--limit", "8M", "--no-syscalls", "--json", "lua.wl", status=FAILED)
        result = json.loads(told.stdout)
        self.assertEqual(result["workloads"][0]["candidates"][1]["failure"]["cause"], "limit")
        self.judge("mallab-experiment-1", result)

    def test_validate(self):
        self.judge("mallab-experiment-1", self.made.answer("validate", "-q", "-n", "1", "-a", "glibc,jemalloc", "--json", "--", "lua5.4", "-e", SCRIPT))


if __name__ == "__main__":
    main()
