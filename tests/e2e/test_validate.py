#!/usr/bin/env python3
"""`mallab validate`: reality beside prediction for small real programs. Structure, exact ends, and sanity: no tight figures,
since other work runs beside it. What fails is named, and what is stopped leaves no half file."""
import json
import os
import pathlib
import re
import signal
import subprocess

import lab

LEVELS = [f"{level}_{part}_bytes" for level in ("peak", "mean", "end") for part in ("total", "heap")]
SQL = ("CREATE TABLE t(a, b); WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10000) "
       "INSERT INTO t SELECT x, hex(x * 7919) || x FROM n; CREATE INDEX i ON t(b); SELECT count(*) FROM t;")


class Validate(lab.Lab):
    def validate(self, *arguments, rounds=1, **settings):
        return self.answer("validate", "-q", "--json", "-n", rounds, "--seed", 1, *arguments, **settings)

    def check(self, result, names, process, rounds=1):
        self.assertEqual(result["schema"], "mallab-experiment/1")
        self.assertEqual(result["validation"]["process"], process)
        self.assertEqual(result["validation"]["rounds"], rounds)
        self.assertEqual([c["name"] for c in result["candidates"]], names)
        # What is predicted of memory is of runs in which recorded time passed for the allocator.
        for replayed in result["workloads"][0]["candidates"]:
            self.assertEqual((replayed["resident"]["clock"], len(replayed["memory_runs"])), ("recorded", rounds))
            self.assertIn("definition", replayed["placement"])
        for candidate in result["candidates"]:
            with self.subTest(candidate=candidate["name"]):
                self.assertIsNone(candidate["failed"])
                for key in LEVELS:
                    self.assertGreater(candidate["real"][key], 0, key)
                    self.assertGreater(candidate["predicted"][key], 0, key)
                real, error = candidate["real"], candidate["error"]
                self.assertGreaterEqual(real["peak_total_bytes"], real["end_total_bytes"])
                self.assertGreater(real["peak_total_bytes"], real["peak_heap_bytes"])
                self.assertEqual(len(real["timed_runs"]), rounds)
                self.assertEqual(len(real["sampled_runs"]), rounds)
                # Far off is a defect whatever the machine does: memory does not depend on time here.
                self.assertLess(error["peak_total"], 0.25)
                self.assertGreater(error["peak_total"], -0.25)
                # So few rounds never judge a sign.
                self.assertIn(error["time_sign"], ("noise", "unknown"))

    def check_ranges(self, result, shown):
        """Reality's own range, by the samples that the result keeps, and whether a prediction lies within it."""
        met = {}
        for candidate in result["candidates"]:
            real = candidate["real"]
            for key, runs, sample in (("peak_total", "sampled_runs", "peak_bytes"), ("mean_total", "sampled_runs", "mean_bytes"),
                                      ("end_total", "sampled_runs", "end_bytes"), ("mean_heap", "mapped_runs", "heap_mean_bytes"),
                                      ("end_heap", "mapped_runs", "heap_end_bytes")):
                samples = [run[sample] for run in real[runs]]
                range_, told = real["ranges"][key], candidate["predicted"][f"{key}_bytes"]
                self.assertEqual(range_, {"low_bytes": min(samples), "high_bytes": max(samples), "runs": len(samples)}, key)
                low, high = range_["low_bytes"], range_["high_bytes"]
                beyond = told / low - 1 if told < low else told / high - 1 if told > high else 0
                self.assertAlmostEqual(candidate["error"]["beyond_reality"][key], beyond, places=4, msg=key)
                met[key] = met.get(key, 0) + (low <= told <= high)
                self.assertLessEqual(low, real[f"{key}_bytes"])
                self.assertGreaterEqual(high, real[f"{key}_bytes"])
        for key, count in met.items():
            self.assertEqual(result["validation"]["within_reality"][key], {"checked": len(result["candidates"]), "met": count}, key)
        self.assertIn(f"within reality's own range: {met['peak_total']} of {len(result['candidates'])}", shown)
        self.assertIn("lie within the range of the real runs", shown)
        self.assertLessEqual(max(map(len, shown.splitlines())), 100)

    def two(self):
        names = lab.candidates()
        return "glibc,jemalloc" if "jemalloc" in names else "glibc,glibc+nocache"

    @lab.needs("sqlite3", "hyperfine")
    def test_sqlite_beside_its_replay(self):
        two = self.two()
        result = self.validate("-a", two, "-o", "kept.json", "--", "sqlite3", ":memory:", SQL, rounds=2)
        self.check(result, two.split(","), "sqlite3", rounds=2)
        self.assertEqual(result["validation"]["timed_by"], "hyperfine")
        self.assertEqual(result["validation"]["time_of"], "command")
        self.assertEqual(result["validation"]["heap_told_by"], "mapping")
        self.assertEqual(json.loads((self.place / "kept.json").read_text()), result)
        # Every report made from the result carries its fidelity.
        shown = self.mallab("report", "kept.json").stdout.decode()
        self.assertIn("fidelity", shown)
        self.assertIn("peak within 3 % in total", shown)
        # Ended by a signal; and one process of several by a name, which need not be the predicted one.
        torn = json.loads((self.place / "kept.json").read_text())
        torn["rounds_asked"], torn["validation"]["stopped"], torn["validation"]["processes_alike"] = 8, True, 3
        (self.place / "torn.json").write_text(json.dumps(torn))
        told = " ".join(self.mallab("report", "torn.json").stdout.decode().split())
        (self.place / "torn.json").unlink()
        self.assertIn("2 rounds, stopped before the 8 asked for", told)
        self.assertIn("3 go by the name 'sqlite3': predicted is the one with most calls", told)
        self.assertNotIn("stopped", shown)
        # How far reality is from itself: the widest of its candidates, by the samples that the result keeps.
        def widest(key):
            runs = [[run[key] for run in one["real"]["mapped_runs"]] for one in result["candidates"]]
            return max(100 * (max(of_one) / min(of_one) - 1) for of_one in runs)
        self.assertIn(f"by up to {widest('heap_mean_bytes'):.1f} % in the heap's mean, {widest('heap_end_bytes'):.1f} % at its end",
                      shown)
        self.check_ranges(result, shown)
        self.assertEqual(list(self.place.iterdir()), [self.place / "kept.json"])

    @lab.needs("hyperfine")
    def test_what_a_program_maps_itself_is_not_its_heap(self):
        """python's arenas come from mmap: 10 MB of objects, of which malloc sees little."""
        python = pathlib.Path("/usr/bin/python3")
        if not python.exists():
            self.skipTest("no /usr/bin/python3")
        code = "x = [[i] for i in range(60000)]"
        result = self.validate("-a", "glibc", "--", python, "-c", code)
        own = result["candidates"][0]["real"]
        self.assertEqual(result["validation"]["process"], "python3")
        all_of_it = self.validate("-a", "glibc", "--", python, "-c", code, env={"PYTHONMALLOC": "malloc"})["candidates"][0]["real"]
        self.assertLess(own["peak_heap_bytes"], 0.4 * own["peak_total_bytes"])
        self.assertGreater(all_of_it["peak_heap_bytes"], 0.6 * all_of_it["peak_total_bytes"])

    def test_a_library_that_the_program_has_by_itself_is_not_brought(self):
        """jemalloc needs libstdc++, 1 to 2 MB of it in memory; a C++ program has it already."""
        if "jemalloc" not in lab.candidates() or not (lab.PROGRAMS / "containers").exists():
            self.skipTest("needs jemalloc and a C++ program")
        brought = []
        for program in ("half", "containers"):
            result = self.validate("-a", "glibc,jemalloc", "--", lab.PROGRAMS / program, 1)
            brought.append([c["real"]["startup_total_bytes"] - c["real"]["startup_heap_bytes"] for c in result["candidates"]])
        self.assertEqual([glibc for glibc, _ in brought], [0, 0])
        self.assertGreater(brought[0][1], brought[1][1] + 600_000)
        self.assertGreater(brought[1][1], 100_000)  # jemalloc's own

    def test_output_is_thrown_away(self):
        """The recorded run's too; its complaints are seen."""
        script = self.place / "loud"
        script.write_text(f"#!/bin/sh\necho nobody-reads-this\necho a-complaint >&2\nexec {lab.PROGRAMS}/half 3\n")
        script.chmod(0o755)
        result = self.mallab("validate", "-n", 1, "-a", "glibc", "--process", "half", "--", script)
        self.assertNotIn(b"nobody-reads-this", result.stdout + result.stderr)
        self.assertIn(b"a-complaint", result.stderr)

    @lab.needs("hyperfine")
    def test_one_process_of_several_in_a_script(self):
        script = self.place / "session"
        script.write_text(f"#!/bin/sh\n{lab.PROGRAMS}/steps >/dev/null 2>&1 || true\n{lab.PROGRAMS}/half 3 >/dev/null &\nwait $!\n")
        script.chmod(0o755)
        result = self.validate("-a", "glibc", "--process", "half", "--", script)
        self.check(result, ["glibc"], "half")
        self.assertEqual(result["validation"]["time_of"], "process")
        none = self.mallab("validate", "-q", "-a", "glibc", "-n", 1, "-o", "days/", "--process", "no-such", "--", script, status=lab.FAILED)
        self.assertIn("no-such", none.stderr.decode())
        self.assertEqual(list((self.place / "days").iterdir()), [])  # made before long work, as ab does

    def test_without_hyperfine(self):
        """PATH holds what the command needs, and no hyperfine: said, and measured all the same."""
        result = self.mallab("validate", "--json", "-n", 1, "-a", "glibc", "-o", "days/", "--", lab.PROGRAMS / "half", 3,
                             env={"PATH": str(self.place), "MALLAB_MACHINE": "ci 1"})
        self.assertIn("hyperfine is not installed", result.stderr.decode())
        answer = json.loads(result.stdout)
        self.check(answer, ["glibc"], "half")
        self.assertEqual(answer["validation"]["timed_by"], "wait4")
        # Into a directory under a name of its own, which is said; a history takes it.
        (kept,) = (self.place / "days").iterdir()
        self.assertRegex(kept.name, r"^half\.ci-1\.\d{8}T\d{6}Z\.json$")
        self.assertIn(f"kept as 'days/{kept.name}'", result.stderr.decode())
        self.assertEqual(json.loads(kept.read_text()), answer)
        self.assertEqual(self.answer("report", "--json", "days")["results"], 1)

    def test_a_failing_program_is_compared_with_its_own_end(self):
        """It fails when recorded and under glibc alike: a result. Under one candidate only: that candidate is out."""
        self.mallab("validate", "-q", "-n", 1, "-a", "glibc", "--", "sh", "-c", f"{lab.PROGRAMS}/half 1; exit 7")
        if "jemalloc" not in lab.candidates():
            self.skipTest("needs jemalloc")
        script = f"{lab.PROGRAMS}/half 1; case $LD_PRELOAD in *jemalloc*) echo no such luck >&2; exit 9;; esac"
        failed = self.mallab("validate", "-q", "-n", 1, "-o", "kept.json", "-a", "glibc,jemalloc", "--", "sh", "-c", script, status=lab.FAILED)
        said = failed.stderr.decode()
        self.assertIn("jemalloc failed", said)
        self.assertIn("exit code 9", said)
        self.assertIn("no such luck", said)
        result = json.loads((self.place / "kept.json").read_text())
        self.assertIsNone(result["candidates"][0]["failed"])
        self.assertIn("exit code 9", result["candidates"][1]["failed"])

    def test_it_is_recorded_on_the_baseline(self):
        """Redis asks for other sizes where malloc_usable_size answers otherwise: recorded on its own jemalloc, glibc's heap was 4 % too low."""
        self.validate("-a", "glibc", "--", "sh", "-c", 'case "$LD_PRELOAD" in *libmallab.so*) printf %s "$LD_PRELOAD" >recorded;; esac; '
                      f"{lab.PROGRAMS}/half 1")
        self.assertRegex((self.place / "recorded").read_text(), r"libmallab\.so[: ].*/libc\.so\.6")

    def test_a_program_that_is_not_there(self):
        result = self.mallab("validate", "-a", "glibc", "--", "./no-such-program", status=lab.FAILED)
        self.assertIn("no-such-program", result.stderr.decode())

    def test_an_end_by_signal_is_followed_to_the_last_moment(self):
        """A death by signal is an end like others: the program's peak is the kernel's, and its children are not left."""
        result = self.validate("-a", "glibc", "--", "sh", "-c", f"{lab.PROGRAMS}/half 1; kill -TERM $$")
        (candidate,) = result["candidates"]
        self.assertIsNone(candidate["failed"])
        self.assertEqual(result["validation"]["exit_code"], 128 + signal.SIGTERM)

    def test_stopped_in_the_midst(self):
        """Ctrl-C: no result before a round is finished, no file, no process left, and the shell sees the signal."""
        process = subprocess.Popen([lab.BUILD / "mallab", "validate", "-n", "1000", "-a", "glibc", "-o", "kept.json", "--progress", "--",
                                    lab.PROGRAMS / "repeat", "300000"], cwd=self.place, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"},
                                   start_new_session=True)
        line = process.stderr.readline()
        while line and b"warm-up" not in line and b"round" not in line:
            line = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=lab.PATIENCE_S)[1].decode()
        self.assertEqual(process.returncode, -signal.SIGINT, said)
        left = {path.name for path in self.place.iterdir()}
        self.assertLessEqual(left, {"kept.json"})
        if left:
            json.loads((self.place / "kept.json").read_text())  # whole, with the rounds that were finished
        self.assertEqual(self.alive(process.pid), [])

    def test_stopped_while_it_replays(self):
        """Rounds of the replay were finished, none of the real program: they are printed and kept, as what they are."""
        process = subprocess.Popen([lab.BUILD / "mallab", "validate", "-n", "1000", "-a", "glibc", "-o", "kept.json", "--progress", "--",
                                    lab.PROGRAMS / "repeat", "20000"], cwd=self.place, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})
        self.addCleanup(process.kill)
        for line in process.stderr:
            if re.search(rb"replay, round (?!1 )\d+ of 1000", line):
                break
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual(process.returncode, -signal.SIGINT, said)
        self.assertIn(b"of the replays alone", said)
        self.assertIn(b"glibc", shown)
        result = json.loads((self.place / "kept.json").read_text())
        self.assertGreaterEqual(result["workloads"][0]["rounds"], 1)
        self.assertEqual((result["stopped"], "validation" in result), (True, False))
        self.assertEqual(self.mallab("report", "kept.json").stdout, shown)

    def test_stopped_before_the_first_real_round(self):
        """The replays are whole, and yet it was stopped: the result says so. Each phase is told when it begins."""
        process = subprocess.Popen([lab.BUILD / "mallab", "validate", "-n", "1", "-a", "glibc", "--json", "--progress", "--",
                                    lab.PROGRAMS / "repeat", "20000"], cwd=self.place, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})
        self.addCleanup(process.kill)
        phases = []
        for line in process.stderr:
            phases += [line.decode().strip()] if b" of 3: " in line else []
            if b"real, " in line:
                break
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual(process.returncode, -signal.SIGINT, said)
        result = json.loads(shown)
        self.assertEqual((result["stopped"], result["workloads"][0]["rounds"], "validation" in result), (True, 1, False))
        self.assertEqual([phase.split(" of ")[0] for phase in phases], ["1", "2", "3"])

    @staticmethod
    def alive(session):
        found = []
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(stat.parent.name)
        return found


if __name__ == "__main__":
    lab.main()
