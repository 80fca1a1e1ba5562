"""The right processes are replayed: of a wrapper the program that it executes, of a server its workers too. A group is replayed process by process and summed, and what was chosen is told."""
import json

import lab
import schema

PROGRAM = "data = [str(i) * 3 for i in range(40000)]"
# Three workers that are alive at the same time: each waits until the last one was begun.
WORKERS = """
import os
data = [str(i) * 3 for i in range(5000)]
begun, go = os.pipe()
for number in range(3):
    if os.fork() == 0:
        own = [str(i) * 4 for i in range(20000)]
        os.close(go)
        os.read(begun, 1)
        os._exit(0)
os.close(go)
for number in range(3):
    os.wait()
"""


class Groups(lab.Lab):
    @classmethod
    def setUpClass(cls):
        cls.workers = cls.keeper().record("/usr/bin/python3", "-S", "-c", WORKERS, env={"PYTHONMALLOC": "malloc"})

    def chosen(self, recording, *options, name="chosen.wl"):
        """What convert says of its choice, and the names of the processes that it took."""
        said = self.mallab("convert", "-f", "-o", name, *options, recording).stderr.decode()
        out = self.place / name
        files = sorted(out.iterdir()) if out.is_dir() else [out]
        return said, [self.info(path)["program"] for path in files]

    def measure(self, *what):
        self.mallab("ab", "-q", "-f", "-a", "glibc", "-n", "2", "-o", "result.json", *what)
        result = json.loads((self.place / "result.json").read_text())
        if schema.jsonschema:
            self.assertEqual(schema.faults("mallab-experiment-1", result), [])
        (workload,) = result["workloads"]
        return workload

    def test_a_wrapper_is_the_program_that_it_executes(self):
        """The wrapper makes many calls, as pyenv's does, before it becomes the program."""
        wrapper = "i=0; while [ $i -lt 3000 ]; do x=$x$i; i=$((i+1)); done; exec /usr/bin/env /usr/bin/python3 -S -c 'pass'"
        recording = self.record("bash", "-c", wrapper)
        calls = {}
        for one in self.info(recording)["process_list"]:
            calls[one["name"]] = calls.get(one["name"], 0) + one["events"]
        self.assertGreater(calls["bash"], calls["python3"])
        said, programs = self.chosen(recording)
        self.assertEqual(programs, ["python3"])
        self.assertRegex(said, r"converted: process \d+, 'python3', \d+ % of the calls \(--process chooses others, ")
        workload = self.measure(recording)
        self.assertEqual((workload["program"], workload["group_processes"]), ("python3", None))

    def test_workers_are_a_group(self):
        recording = self.workers
        said, programs = self.chosen(recording)
        self.assertEqual(programs, ["python3"] * 4)
        self.assertIn("the recording holds 4 processes; converted: 4 'python3', 100 % of the calls", said)
        members = [self.info(path) for path in (self.place / "chosen.wl").iterdir()]
        shown = self.mallab("info", "chosen.wl").stdout.decode().splitlines()
        self.assertRegex(shown[0], r"^file +chosen.wl: a group of 4 workloads, [0-9,]+ ops$")
        self.assertEqual([line.split()[0] for line in shown[3:]], sorted(f"chosen.wl/{path.name}" for path in (self.place / "chosen.wl").iterdir()))
        group = self.answer("info", "--json", "chosen.wl")
        self.assertEqual((group["kind"], group["ops"]), ("group", sum(one["ops"] for one in members)))
        self.assertEqual(sorted(one["file"] for one in group["members"]), sorted(f"chosen.wl/{path.name}" for path in (self.place / "chosen.wl").iterdir()))
        workload = self.measure(recording)
        self.assertEqual((workload["processes"], workload["group_processes"], workload["events_share"]), (4, 4, 1))
        self.assertEqual(workload["ops"], sum(one["ops"] for one in members))
        self.assertEqual(workload["inherited_ops"], sum(one["inherited_objects"] for one in members))
        # All four are alive together.
        together = sum(one["live_peak_bytes"] for one in members)
        self.assertLessEqual(workload["live_peak_bytes"], together)
        self.assertGreater(workload["live_peak_bytes"], 0.9 * together)
        # What they have in common counts once.
        parts = [one["usage"] for one in self.listing(recording)["processes"]]
        common = min(one["rss_peak_bytes"] - one["rss_anon_peak_bytes"] for one in parts)
        self.assertLess(workload["process"]["rss_peak_bytes"], sum(one["rss_peak_bytes"] for one in parts) - 2 * common)
        self.assertIn("are of one process of 4: --process PID", " ".join(self.mallab("report", "--details", "result.json").stdout.decode().split()))
        (candidate,) = workload["candidates"]
        for run in candidate["runs"] + candidate["memory_runs"]:
            self.assertEqual((run["processes"], run["ops"]), (4, workload["ops"]))
            self.assertEqual(run["digest"], workload["digest"])
        for run in candidate["memory_runs"]:
            self.assertGreater(run["resident"]["peak_bytes"], 0.9 * together)
            self.assertLess(run["resident"]["peak_bytes"], 2 * together)
            self.assertLessEqual(run["live_peak_bytes"], together)
            self.assertGreater(run["live_peak_bytes"], 0.9 * together)
        text = self.mallab("report", "result.json").stdout.decode()
        self.assertIn("4 of 4 processes, 100 % of the events", text)
        # What convert has made is the same group.
        kept = self.measure("chosen.wl")
        for key in ("ops", "digest", "file_digest", "group_processes", "live_peak_bytes"):
            self.assertEqual(kept[key], workload[key], key)

    def test_no_silent_place(self):
        """What would mix two groups, or cannot be of a group, is refused."""
        recording = self.workers
        self.mallab("convert", "-q", "-o", "group.wl", recording)
        said = self.mallab("convert", "-q", "-o", "group.wl", recording, status=lab.FAILED).stderr.decode()
        self.assertIn("--force", said)
        said = self.mallab("convert", "-o", "-", recording, status=lab.MISUSE).stderr.decode()
        self.assertIn("--process PID", said)
        said = self.mallab("ab", "--head", "5", "group.wl", status=lab.MISUSE).stderr.decode()
        self.assertIn("holds workloads already", said)
        report = self.answer("convert", "-q", "-f", "-o", "group.wl", "--json", recording)
        self.assertEqual((report["schema"], report["failed"], len(report["workloads"])), ("mallab-convert-each/1", 0, 4))

    def test_a_begin_that_is_not_known(self):
        """As of a trace: it is taken to have begun with the others."""
        (self.place / "group.wl").mkdir()
        self.mallab("convert", "-q", "-o", "group.wl/real.wl", self.record("/usr/bin/python3", "-S", "-c", PROGRAM))
        text = self.mallab("convert", "-q", "--to", "text", "-o", "-", "group.wl/real.wl").stdout.decode()
        (self.place / "trace.txt").write_text("".join(line for line in text.splitlines(True) if "recorded_unix_ns" not in line))
        self.mallab("convert", "-q", "-o", "group.wl/trace.wl", "trace.txt")
        workload = self.measure("group.wl")
        self.assertEqual(workload["group_processes"], 2)
        self.assertLess(workload["duration_ns"], 3600 * 10**9)
