"""Real traces of glibc's mtrace and of heaptrack, made here and now: what converts is what the program says it did, and
what mallab itself recorded of it. Workloads without time, and with threads put in order, replay and compare."""
import json
import pathlib
import re
import subprocess
import unittest

import lab

PROGRAM = lab.PROGRAMS / "told"
DEBUG_LIBRARY = next((str(path) for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")
                      if (path := pathlib.Path(folder) / "libc_malloc_debug.so.0").exists()), None)


def calls(info, *names):
    return sum(info["events_by_call"].get(name, 0) for name in names)


class Traces(lab.Lab):
    def heaptrack(self, name, *arguments):
        """Returns the raw trace and what the program said."""
        result = lab.run(["heaptrack", "--raw", "-o", self.place / name, PROGRAM, *arguments], cwd=self.place)
        self.assertEqual(result.returncode, 0, result.stderr)
        (trace,) = self.place.glob(name + ".raw.*")
        (said,) = [line for line in result.stdout.decode().splitlines() if line.startswith("{")]
        return trace, json.loads(said)

    def mtrace(self, name, *arguments):
        trace = self.place / name
        result = lab.run([PROGRAM, *arguments], env={"LD_PRELOAD": DEBUG_LIBRARY, "MALLOC_TRACE": str(trace)})
        self.assertEqual(result.returncode, 0, result.stderr)
        return trace, json.loads(result.stdout)

    def assert_clean(self, info, *allowed):
        self.assertEqual({k: n for k, n in info["irregularities"].items() if n and k not in allowed}, {})

    @unittest.skipUnless(DEBUG_LIBRARY, "no libc_malloc_debug.so.0")
    def test_mtrace(self):
        trace, did = self.mtrace("mtrace.txt", 30000)
        info = self.info(trace)
        self.assertEqual(info["kind"], "mtrace")
        self.assert_whole(info)
        self.assert_clean(info, "failed_calls")
        self.assertEqual(calls(info, "malloc"), did["malloc"] + did["calloc"] + did["aligned"] + did["failed"])
        self.assertEqual(calls(info, "realloc"), did["realloc"])
        self.assertEqual(calls(info, "free"), did["free"])
        self.assertEqual(info["requested_bytes"], did["requested"])
        self.assertEqual(info["irregularities"]["failed_calls"], did["failed"])
        self.assertGreater(did["failed"], 10)
        self.assertEqual(info["lacks"], ["threads", "time", "exact call", "alignment"])
        # The same program, recorded by ourselves: as many bytes at the peak, less what it did outside.
        recorded = self.info(self.record(PROGRAM, 30000, stdout=subprocess.DEVNULL))
        before = self.info(self.record(PROGRAM, 0, name="nothing", stdout=subprocess.DEVNULL))
        self.assertEqual(recorded["requested_bytes"] - before["requested_bytes"], did["requested"])
        self.assertLess(abs(recorded["live_peak_bytes"] - info["live_peak_bytes"]), before["requested_bytes"] + 1)
        workload = self.place / "m.wl"
        self.mallab("convert", "-q", "-o", workload, trace)
        converted = self.info(workload)
        self.assertEqual(converted["lacks"], info["lacks"])
        self.assertEqual(converted["duration_ns"], 0)
        runs = [self.answer("replay", "--json", "-a", name, workload) for name in lab.candidates()]
        self.assertEqual({run["digest"] for run in runs}, {runs[0]["digest"]})
        self.assertEqual(runs[0]["ops"], info["events"] - did["failed"])

    @lab.needs("heaptrack")
    def test_heaptrack(self):
        trace, did = self.heaptrack("full", 30000)
        info, before = self.info(trace), self.info(self.heaptrack("empty", 0)[0])
        self.assertEqual(info["kind"], "heaptrack")
        self.assertEqual(info["program"], "told")
        self.assert_whole(info)
        self.assert_clean(info)
        # A realloc is written as a free and a malloc; what failed is not written.
        self.assertEqual(calls(info, "malloc") - calls(before, "malloc"),
                         did["malloc"] + did["calloc"] + did["aligned"] + did["realloc"])
        self.assertEqual(calls(info, "free") - calls(before, "free"), did["free"] + did["realloc"])
        self.assertEqual(info["requested_bytes"] - before["requested_bytes"], did["requested"])
        workload = self.place / "h.wl"
        self.mallab("convert", "-q", "-o", workload, trace)
        self.assertEqual(self.info(workload)["lacks"], info["lacks"])
        self.assertIn("exact time", info["lacks"])
        self.replay_everywhere(workload)

    @lab.needs("heaptrack", "zstd")
    def test_heaptrack_of_threads_and_what_was_killed(self):
        trace, did = self.heaptrack("threads", 5000, 3)
        info = self.info(trace)
        self.assert_clean(info)
        self.assertGreaterEqual(calls(info, "free"), did["free"] + did["realloc"])
        plain = subprocess.run(["zstd", "-dc", trace], check=True, capture_output=True).stdout
        cut = self.place / "cut.txt"
        cut.write_bytes(plain[:len(plain) // 2].rpartition(b"\n")[0] + b"\n+ 10")
        info = self.info(cut)
        self.assertIs(info["complete"], False)
        self.assertEqual(info["irregularities"]["cut_lines"], 1)
        self.assertEqual(info["events"], len(re.findall(rb"^[+-] ", cut.read_bytes(), re.M)) - 1)
