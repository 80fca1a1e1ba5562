"""What mallab prints as JSON is what the schemas say (docs/schema): real answers of each verb are valid, hold no key that the
schema does not name, and the schemas do refuse what is wrong. A key that is new fails here until its schema has it."""
import copy
import json
import re
import subprocess
import unittest

import schema
from lab import BUILD, FAILED, SOURCE, Lab, needs

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

    def test_every_document_has_one(self):
        """Whatever the sources call a document; that of a page is nobody else's (docs/schema/README.md)."""
        words = {word for part in ("cli", "convert", "record", "replay", "results", "shim") for path in (SOURCE / part).rglob("*.[ch]")
                 for word in re.findall(r'"(mallab-[a-z-]+/\d+)"', path.read_text())}
        self.assertIn("mallab-run/1", words)
        published = {schema.load(name)["properties"]["schema"]["const"] for name in schema.all_of_them() if schema.load(name)["type"] == "object"}
        self.assertEqual(words - {"mallab-report/1", "mallab-plan/1"}, published)  # a plan is a table, not JSON
        listed = (SOURCE / "docs" / "schema" / "README.md").read_text()
        for name in schema.all_of_them():
            self.assertIn(f"`{name}`", listed)

    def test_replay(self):
        for more in ([], ["--latency"], ["--promises"], ["--clock", "recorded", "--limit", "200M", "--limit-by", "data"],
                     ["--one-thread"]):
            with self.subTest(more=more):
                self.judge("mallab-run-1", self.made.answer("replay", "--json", *more, "lua.wl"))

    def test_info(self):
        footprint = next((self.made.place / "kept").glob("*.fp"))
        self.mallab("convert", "-q", "-o", "some.wl", "--head", "1000", self.made.place / "kept")
        for what in (["kept"], [footprint], ["lua.wl"], ["--verify", "lua.wl"], [self.place / "some.wl"], [SOURCE / "tests/golden/traces/rep-calls.rep"]):
            self.judge("mallab-info-1", self.made.answer("info", "--json", *what))
        told = self.mallab("info", "--json", "--verify", SOURCE / "tests/golden/invalid/id-released-twice.wl", status=None)
        self.judge("mallab-info-1", json.loads(told.stdout))

    def test_convert(self):
        kept = self.made.place / "kept"
        self.judge("mallab-convert-1", self.answer("convert", "-q", "--json", "-o", "a.wl", kept))
        self.judge("mallab-convert-1", self.answer("convert", "-q", "--json", "--head", "100", "-o", "b.wl", kept))
        self.judge("mallab-convert-1", self.answer("convert", "-q", "--json", "--to", "text", "-o", "a.txt", kept))
        self.judge("mallab-convert-1", self.answer("convert", "-q", "--json", "-o", "c.wl", SOURCE / "tests/golden/traces/rep-calls.rep"))
        twice = self.record("sh", "-c", "sort /dev/null; sort /dev/null; true", name="twice")
        each = self.answer("convert", "-q", "--json", "--process", "sort", "-o", "all", twice)
        self.judge("mallab-convert-each-1", each)
        self.assertEqual(len(each["workloads"]), 2)

    def test_sites_and_leaks(self):
        footprint = self.place / "sites.fp"
        footprint.write_bytes((SOURCE / "tests/golden/valid/sites.fp").read_bytes())
        footprint.chmod(0o644)  # a checkout's may be writable to its group
        for verb in ("sites", "leaks"):
            self.judge("mallab-sites-1", self.answer(verb, "--json", footprint))

    def test_while_it_is_recorded_and_after(self):
        record = subprocess.Popen([BUILD / "mallab", "record", "-q", "-o", "live", "--only", "lua5.4", "--window", "1h", "--keep-windows", "2", "--", "lua5.4", "-e",
                                   SCRIPT + " print() io.stdout:flush() io.read()"], cwd=self.place, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(record.kill)
        with record:
            record.stdout.read(1)
            for request, state in (("--status", "recording"), ("--pause", "paused"), ("--resume", "recording"), ("--rotate", "recording")):
                status = self.answer("record", "--control", "live", request, "--json")
                self.judge("mallab-status-1", status)
                self.assertEqual(status["state"], state)
                self.judge("mallab-recording-1", self.listing("live"))
            frame = self.answer("top", "--once", "--json", "live")
            self.judge("mallab-top-1", frame)
            self.assertEqual((frame["state"], frame["processes"]), ("recording", 1))
            self.judge("mallab-info-1", self.answer("info", "--json", "live"))
            record.stdin.close()
            self.assertEqual(record.wait(), 0)
        self.judge("mallab-recording-1", self.listing("live"))
        self.judge("mallab-recording-1", self.listing(self.made.place / "kept"))
        for directory in ("live", self.made.place / "kept"):
            status = self.answer("record", "--control", directory, "--status", "--json")
            self.judge("mallab-status-1", status)
            self.assertEqual(status["state"], "ended")
            self.judge("mallab-top-1", self.answer("top", "--once", "--json", directory))
        info = self.answer("info", "--json", "live")
        self.judge("mallab-info-1", info)
        self.assertEqual(len(info["window_list"]), 2)

    def test_allocators(self):
        self.judge("mallab-allocators-1", self.made.answer("allocators", "--json"))

    def test_ab(self):
        result = self.made.answer("ab", "-q", "-a", "glibc,jemalloc,glibc+arena_max=1", "-n", "2",
                                  "--latency", "-o", "r.json", "--json", "lua.wl")
        self.judge("mallab-experiment-1", result)
        self.judge("mallab-experiment-1", self.made.answer("report", "--json", "r.json"))
        result["workloads"][0]["stopped"]["by"] = "decided"  # as of --decide
        self.judge("mallab-experiment-1", result)
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
            self.made.mallab("ab", "-q", "-f", "-a", "glibc,jemalloc", "-n", "2", "-o", name, "lua.wl")
        self.judge("mallab-compare-1", self.made.answer("compare", "--json", "then.json", "now.json"))
        (self.place / "days").mkdir()
        for name in ("then.json", "now.json"):
            (self.place / "days" / name).write_text((self.made.place / name).read_text())
        (self.place / "days" / "other.json").write_text("{}")
        history = self.answer("report", "--json", "days")
        self.judge("mallab-history-1", history)
        self.assertEqual((history["results"], len(history["left_out"])), (2, 1))
        kept = SOURCE / "tests" / "cli" / "data" / "result-rest.json"
        for status, budget, *arguments in ((5, "time<=+3%", "now.json"), (5, "time<=+3%", "--baseline", "then.json", "now.json"),
                                           (0, "small:rss-peak<=1GiB", kept), (4, "fast:rss-peak<=1MiB", kept)):
            told = self.made.mallab("check", "--json", "--budget", budget, *arguments, status=status)
            self.judge("mallab-check-1", json.loads(told.stdout))

    def test_fleet(self):
        """Of several workloads, as of the documents of their own."""
        self.mallab("convert", "-q", "-o", "some.wl", "--head", "1000", self.made.place / "kept")
        result = self.answer("ab", "-q", "-a", "glibc,jemalloc", "-n", "2", "--json", self.made.place / "lua.wl", "some.wl")
        self.judge("mallab-experiment-1", result)
        self.judge("mallab-fleet-1", {"schema": "mallab-fleet/1", "mallab_version": "0", "fleet": result["fleet"], "missing": [], "mixed": [], "left_out": []})
        self.assertEqual([host["label"] for host in result["fleet"]["hosts"]], ["lua.wl", "some.wl"])

    def test_ab_where_a_candidate_dies(self):
        told = self.made.mallab("ab", "-q", "-a", "glibc,mimalloc", "-n", "1", "--limit", "8M", "--limit-by", "data", "--json", "lua.wl", status=FAILED)
        result = json.loads(told.stdout)
        self.assertEqual(result["workloads"][0]["candidates"][1]["failure"]["cause"], "limit")
        self.judge("mallab-experiment-1", result)

    def test_confirm(self):
        self.judge("mallab-experiment-1", self.made.answer("confirm", "-q", "-n", "1", "-a", "glibc,jemalloc", "--json", "--", "lua5.4", "-e", SCRIPT))
