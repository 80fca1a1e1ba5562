#!/usr/bin/env python3
"""`mallab validate`: reality beside prediction for small real programs. Structure, exact ends, and sanity: no tight figures,
since other work runs beside it. What fails is named, and what is stopped leaves no half file."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import lab

LEVELS = [f"{level}_{part}_bytes" for level in ("peak", "mean", "end") for part in ("total", "heap")]
SQL = ("CREATE TABLE t(a, b); WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10000) "
       "INSERT INTO t SELECT x, hex(x * 7919) || x FROM n; CREATE INDEX i ON t(b); SELECT count(*) FROM t;")


class Validate(lab.Lab):
    def validate(self, *arguments, rounds=1, recordings=1, **settings):
        return self.answer("validate", "-q", "--json", "-n", rounds, "--recordings", recordings, "--seed", 1, *arguments, **settings)

    def check(self, result, names, process, rounds=1):
        self.assertEqual(result["schema"], "mallab-experiment/1")
        self.assertEqual(result["validation"]["process"], process)
        self.assertEqual(result["validation"]["rounds"], rounds)
        self.assertEqual([c["name"] for c in result["candidates"]], names)
        # What is predicted of memory is of runs in which recorded time passed for the allocator.
        for replayed in result["workloads"][0]["candidates"]:
            self.assertEqual((replayed["resident"]["clock"], len(replayed["memory_runs"])), ("recorded", rounds))
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

    def test_what_calloc_zeroed_is_not_taken_for_written(self):
        """jemalloc hands out pages that are zero already: a replay that wrote to all of them held 20 MB where the program held 8."""
        result = self.validate("--", lab.PROGRAMS / "blank")
        for candidate in result["candidates"]:
            with self.subTest(candidate=candidate["name"]):
                self.assertIsNone(candidate["failed"])
                self.assertLess(abs(candidate["error"]["peak_total"]), 0.25)
                self.assertLess(abs(candidate["error"]["peak_heap"]), 0.35)

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
        self.assertLessEqual(max(map(len, shown.splitlines())), 100)

    def believed(self, result):
        """By the errors of a result: what to decide by; a miss that unwritten objects explain names them, where they were written."""
        told = json.loads(json.dumps(result))
        for total, heap, mean, touch, words, cause in ((0.001, -0.02, -0.36, "page", "Decide by the peaks of this program, not by its means.", False),
                                                       (0.071, 0.125, 0.05, "page", "Its means are within 10 %, its peaks beyond their bars.", True),
                                                       (0.071, 0.125, 0.05, "none", "Its means are within 10 %", False),
                                                       (-0.075, -0.125, 0.2, "page", "Both are beyond their bars", False),
                                                       (0.054, -0.01, 0.05, "page", "Its means are within 10 %", False),
                                                       (0.001, 0.002, 0.003, "page", "Both are within what mallab asks of itself.", False)):
            told["touch"] = touch
            for candidate in told["candidates"]:
                candidate["error"].update(peak_total=total, peak_heap=heap, mean_heap=mean)
            (self.place / "believed.json").write_text(json.dumps(told))
            shown = self.mallab("report", "believed.json").stdout.decode()
            said = " ".join(shown.split())
            self.assertIn(f"is {100 * total:+.1f}% in total, {100 * heap:+.1f}% in the heap's part; of the heap's means {100 * mean:+.1f}%. {words}", said)
            self.assertEqual("--touch none is the other bound" in said, cause, said)
            self.assertLessEqual(max(map(len, shown.splitlines())), 100)
        (self.place / "believed.json").unlink()

    def no_line_is_wider(self, result):
        """Long names stand above their figures; notes are folded."""
        told = json.loads(json.dumps(result))
        about, name = told["validation"], "jemalloc+narenas=1+dirty_decay_ms=0+muzzy_decay_ms=0"
        told["rounds_asked"], about["stopped"], about["time_of"] = 40, True, "process"
        about["processes_alike"], about["process"] = 3, "a-rather-long-name-of-a-program"
        told["candidates"][1].update(name=name, failed="the program ended by signal 11 (Segmentation fault) under it, with exit code 0 when it was recorded")
        told["candidates"][1]["real"]["disturbed_by"] = 0.05
        told["baseline"] = told["candidates"][0]["name"] = "glibc+trim_threshold=16384+top_pad=131072"
        (self.place / "wide.json").write_text(json.dumps(told))
        lines = self.mallab("report", "wide.json").stdout.decode().splitlines()
        self.assertLessEqual(max(map(len, lines)), 100, "\n".join(lines))
        self.assertEqual(lines.count(name), 1)
        figures = [line.split() for above, line in zip(lines, lines[1:]) if above == name]
        self.assertEqual(figures[0][0], f"{told['candidates'][1]['real']['peak_total_bytes'] / 1e6:.2f}")
        self.assertTrue(any(line.startswith("candidate ") for line in lines))
        (self.place / "wide.json").unlink()

    def disturbed(self, result):
        """A candidate whose mapped runs held more or less than its spread explains is named below the table."""
        told = json.loads(json.dumps(result))
        self.assertEqual([one["real"]["disturbed_by"] for one in told["candidates"]], [0, 0])
        told["candidates"][1]["real"]["disturbed_by"] = -0.034
        (self.place / "disturbed.json").write_text(json.dumps(told))
        shown = " ".join(self.mallab("report", "disturbed.json").stdout.decode().split())
        self.assertIn(f"held at its peak: {told['candidates'][1]['name']} -3.4%; the heap's real figures", shown)
        (self.place / "disturbed.json").unlink()

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
        self.assertIn("bars none is judged: several processes go by that name", told)
        self.assertNotIn("MISSED", told)
        self.assertNotIn("stopped", shown)
        self.assertNotIn("mappings ", shown)  # two runs of each do not tell
        self.disturbed(result)
        self.no_line_is_wider(result)
        self.believed(result)
        self.check_ranges(result, shown)
        self.assertEqual(list(self.place.iterdir()), [self.place / "kept.json"])

    @lab.needs("hyperfine")
    def test_what_a_program_maps_itself_is_not_its_heap(self):
        """python's arenas come from mmap: 10 MB of objects, of which malloc sees little."""
        python = pathlib.Path("/usr/bin/python3")
        if not python.exists():
            self.skipTest("no /usr/bin/python3")
        code = "x = [[i] for i in range(60000)]"
        # On a busy machine one run's samples may miss most of what is not the heap's: the median of three does not.
        result = self.validate("-a", "glibc", "--", python, "-c", code, rounds=3)
        own = result["candidates"][0]["real"]
        self.assertEqual(result["validation"]["process"], "python3")
        all_of_it = self.validate("-a", "glibc", "--", python, "-c", code, rounds=3, env={"PYTHONMALLOC": "malloc"})["candidates"][0]["real"]
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
        result = self.mallab("validate", "-n", 1, "--recordings", 1, "-a", "glibc", "--process", "half", "--", script)
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

    def test_own_mappings_between_samples_are_told(self):
        """As php's chunks: mapped, written and unmapped faster than samples come. 32 MB five times are 32 MB."""
        code = ("import mmap\nfor _ in range(5):\n m = mmap.mmap(-1, 32 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
                " m[0] = m[9 << 20] = 1\n m.close()\n")
        result = self.validate("-a", "glibc", "--", "/usr/bin/python3", "-c", code)
        for run in result["candidates"][0]["real"]["mapped_runs"]:
            self.assertGreaterEqual(run["apart_most_bytes"], 32 << 20)
            self.assertLess(run["apart_most_bytes"], run["apart_peak_bytes"] + (48 << 20))

    @lab.needs("perl")
    def test_processor_time_is_the_process_own(self):
        """Neither that of children it waited for, nor what the process took before it executed the program."""
        burn = "perl -e 'for (1 .. 3000000) { }'"
        for name, line in (("sh", f"{burn}; exit 0"), ("half", f"i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; exec {lab.PROGRAMS}/half 3")):
            result = self.validate("-a", "glibc", "-o", f"{name}.json", "--process", name, "--", "sh", "-c", line)
            real = result["candidates"][0]["real"]
            self.assertGreater(real["process_cpu_ns"], 0)
            self.assertLess(real["process_cpu_ns"], real["cpu_ns"] / 3, name)
            if result["validation"]["time_of"] == "process":
                row = [line for line in self.mallab("report", f"{name}.json").stdout.decode().splitlines() if line.startswith("glibc")][-1]
                self.assertIn(f" {real['process_cpu_ns'] / 1e6:.0f} ms", row)

    @lab.needs("perl")
    def test_of_forks_by_one_name_no_bar_is_judged(self):
        """Predicted is the one with most calls, compared the one with the most memory: where these may be two, no error is the prediction's."""
        code = 'my %h; $h{$_} = "x$_" for 1 .. 9000; for (1 .. 2) { if (!fork) { my @a = map { "y$_" } 1 .. 20000; exit 0 } } wait; wait;'
        about = self.validate("-a", "glibc", "-o", "kept.json", "--", "perl", "-e", code)["validation"]
        self.assertEqual(about["processes_alike"], 3)
        self.assertEqual({key: bar["checked"] for key, bar in about["bars"].items()}, dict.fromkeys(about["bars"], 0))
        self.assertEqual({one["checked"] for one in about["within_reality"].values()}, {0})
        shown = self.mallab("report", "kept.json").stdout.decode()
        self.assertIn("bars        none is judged", shown)
        self.assertNotIn("fidelity  ", shown)
        # A shell's fork that executes another program was the shell's image for a moment: no process to be mistaken for it.
        about = self.validate("-a", "glibc", "--process", "sh", "--", "sh", "-c", f"{lab.PROGRAMS}/half 1; {lab.PROGRAMS}/half 1; exit 0")["validation"]
        self.assertEqual(about["processes_alike"], 1)

    def test_a_program_that_became_another(self):
        """Both have one process id, and the shell makes the most calls: the named one counts, and only what has an end of its own."""
        became = ["bash", "-c", 'a=(); for i in {1..20000}; do a+=("$i"); done; exec ' + f"{lab.PROGRAMS}/half 1"]
        result = self.validate("-a", "glibc", "--process", "half", "--", *became)
        self.assertEqual(result["workloads"][0]["program"], "half")
        gone = self.mallab("validate", "-q", "-a", "glibc", "-n", 1, "--process", "bash", "--", *became, status=lab.FAILED)
        self.assertIn("each 'bash' executed another program", gone.stderr.decode())

    def test_without_hyperfine(self):
        """PATH holds what the command needs, and no hyperfine: said, and measured all the same."""
        result = self.mallab("validate", "--json", "-n", 1, "--recordings", 1, "-a", "glibc", "-o", "days/", "--", lab.PROGRAMS / "half", 3,
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

    @lab.needs("cat")
    def test_a_heap_of_some_pages_is_not_judged(self):
        result = self.validate("-a", "glibc", "-o", "kept.json", "--", "cat", "/dev/null")
        (candidate,) = result["candidates"]
        self.assertLess(candidate["real"]["peak_heap_bytes"], 256 * 1024)
        self.assertEqual((candidate["error"]["heap_is_small"], candidate["error"]["peak_heap"]), (True, None))
        bars = result["validation"]["bars"]
        self.assertEqual((bars["peak_heap"]["checked"], bars["peak_total"]["checked"]), (0, 1))
        shown = self.mallab("report", "kept.json").stdout.decode()
        self.assertIn("heap        below 256 KiB, and so too small to judge: glibc.", shown)
        self.assertIn("-       peak within 10 % in the heap's part: no figure, or too small to judge", shown)

    def test_without_a_real_run_there_are_no_bars(self):
        """None ends within --timeout, the recorded one did: said in one line, without an empty list of bars. What is left is no fidelity."""
        script = self.place / "slow"
        script.write_text(f"#!/bin/sh\ncase \"$LD_PRELOAD\" in *libmallab.so*) ;; *) {lab.PROGRAMS}/half 1; exec sleep 1000;; esac\nexec {lab.PROGRAMS}/half 1\n")
        script.chmod(0o755)
        told = self.mallab("validate", "-q", "-n", 1, "--recordings", 1, "--timeout", "1s", "-a", "glibc", "--", script, status=lab.FAILED).stdout.decode()
        self.assertIn("bars        none is judged: no real run came through\n", told)
        self.assertIn("did not end within --timeout", told)
        self.assertNotIn("fidelity", told)
        self.assertNotIn("what mallab asks", told)

    def test_a_failing_program_is_compared_with_its_own_end(self):
        """It fails when recorded and under glibc alike: a result. Under one candidate only: that candidate is out."""
        alike = self.validate("-a", "glibc", "--", "sh", "-c", f"{lab.PROGRAMS}/half 1; exit 7", recordings=2)["validation"]
        self.assertEqual((alike["exit_code"], alike["recordings"], alike["recordings_left_out"]), (7, 2, 0))
        if "jemalloc" not in lab.candidates():
            self.skipTest("needs jemalloc")
        script = f"{lab.PROGRAMS}/half 1; case $LD_PRELOAD in *jemalloc*) echo no such luck >&2; exit 9;; esac"
        failed = self.mallab("validate", "-q", "-n", 1, "--recordings", 1, "-o", "kept.json", "-a", "glibc,jemalloc", "--", "sh", "-c", script, status=lab.FAILED)
        said = failed.stderr.decode()
        self.assertIn("jemalloc failed", said)
        self.assertIn("exit code 9", said)
        self.assertIn("no such luck", said)
        result = json.loads((self.place / "kept.json").read_text())
        self.assertIsNone(result["candidates"][0]["failed"])
        self.assertIn("exit code 9", result["candidates"][1]["failed"])

    @lab.needs("hyperfine")
    def test_hyperfine_runs_without_the_candidate(self):
        """It is a program that the candidate need not bear: library and settings are the command's alone, which has both."""
        hyperfine = self.place / "hyperfine"
        hyperfine.write_text('#!/bin/sh\nprintf "%s\\n" "$LD_PRELOAD$GLIBC_TUNABLES" >>of-hyperfine\n'
                             f'exec {shutil.which("hyperfine")} "$@"\n')
        hyperfine.chmod(0o755)
        program = self.place / "is=a path"
        program.write_text('#!/bin/sh\n[ -z "$MALLAB_TEST" ] || printf "%s:%s:%s\\n" "$LD_PRELOAD" "$GLIBC_TUNABLES" "$*" >>of-command\n'
                           f"exec {lab.PROGRAMS}/half 1\n")
        program.chmod(0o755)
        for command in (program, "sh"):
            told = self.validate("-a", "glibc,glibc+nocache", "--", command, *(["-c", f"exec '{program}' 'a  b'"] if command == "sh" else ["a  b"]),
                                 env={"PATH": f"{self.place}:{os.environ['PATH']}", "MALLAB_TEST": "1"})
            self.assertEqual([one["failed"] for one in told["candidates"]], [None, None])
            self.assertEqual([len(one["real"]["timed_runs"]) for one in told["candidates"]], [1, 1])
            self.assertEqual((self.place / "of-hyperfine").read_text(), "\n" * 3)  # two and the control
            lines = (self.place / "of-command").read_text().splitlines()
            self.assertTrue(all(re.search(r"^.*libc\.so\.6:.*:a  b$", line) for line in lines), lines)
            self.assertTrue(any("tcache_count=0" in line for line in lines), lines)
            for name in ("of-hyperfine", "of-command"):
                (self.place / name).unlink()

    def test_a_death_by_signal_is_named(self):
        """Under one candidate only: by which signal, not by the code that a shell makes of it. One signal is not another."""
        if "jemalloc" not in lab.candidates():
            self.skipTest("needs jemalloc")
        for end, recorded in (("exit 0", "with exit code 0"), ("kill -TERM $$", r"by signal 15 \(Terminated\)")):
            script = f"{lab.PROGRAMS}/half 1; case $LD_PRELOAD in *jemalloc*) kill -SEGV $$;; esac; {end}"
            failed = self.mallab("validate", "-q", "-n", 1, "--recordings", 1, "-a", "glibc,jemalloc", "--", "sh", "-c", script, status=lab.FAILED)
            self.assertRegex(failed.stderr.decode(), rf"jemalloc failed: the program ended by signal 11 \(Segmentation fault\) under it, {recorded} when it was recorded")

    def test_it_is_recorded_on_the_baseline(self):
        """Redis asks for other sizes where malloc_usable_size answers otherwise: recorded on its own jemalloc, glibc's heap was 4 % too low."""
        self.validate("-a", "glibc", "--", "sh", "-c", 'case "$LD_PRELOAD" in *libmallab.so*) printf "%s\\n" "$LD_PRELOAD" >>recorded;; esac; '
                      f"{lab.PROGRAMS}/half 1", recordings=2)
        self.assertRegex((self.place / "recorded").read_text(), r"^(.*libmallab\.so[: ].*/libc\.so\.6\n){2}$")

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
        process = subprocess.Popen([lab.BUILD / "mallab", "validate", "-n", "1", "--recordings", "1", "-a", "glibc", "--json", "--progress", "--",
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

    def changing(self, *recorded, unrecorded="repeat 900"):
        """A program that makes other calls whenever it is recorded, by a file that counts, and the same whenever it is not."""
        script = self.place / "changing"
        turns = "".join(f"{turn}) {words};;\n" for turn, words in enumerate(recorded, 1))
        script.write_text("#!/bin/sh\ncase \"$LD_PRELOAD\" in *libmallab.so*) turn=0\n[ ! -e turns ] || read turn <turns\n"
                          f"echo $((turn + 1)) >turns\ncase $((turn + 1)) in\n{turns}esac;; esac\nexec {lab.PROGRAMS}/{unrecorded}\n")
        script.chmod(0o755)
        return script

    def test_the_prediction_is_the_median_of_recordings(self):
        """Recorded are 400, 1,600 and 900 rounds: of each level the third's is predicted, and the table says how far they differ."""
        repeat = f"exec {lab.PROGRAMS}/repeat"
        script = self.changing(f"{repeat} 400", f"{repeat} 1600", f"{repeat} 900")
        two = self.two()
        told = self.mallab("validate", "-q", "-n", 2, "--seed", 1, "-a", two, "-o", "kept.json", "--keep", "kept", "--", script)  # three unasked
        result = json.loads((self.place / "kept.json").read_text())
        about, said = result["validation"], told.stderr.decode()
        self.assertEqual([about[key] for key in ("recordings", "recordings_asked", "recordings_left_out", "recordings_stopped")], [3, 3, 0, False])
        ops = [one["ops"] for one in about["recording_list"]]
        self.assertEqual(sorted(ops), [ops[0], ops[2], ops[1]])
        self.assertEqual(about["ops_difference_max"], ops[1] - ops[0])
        self.assertEqual(result["workloads"][0]["ops"], ops[0])
        self.assertIn(f"recording 2 of 3 has {ops[1]:,} calls, the first {ops[0]:,} (+{100 * (ops[1] / ops[0] - 1):.1f} %)", said)
        for candidate in result["candidates"]:
            predicted = candidate["predicted"]
            self.assertEqual([one["number"] for one in predicted["recordings"]], [1, 2, 3])
            self.assertEqual([len(one["replays"]) for one in predicted["recordings"][1:]], [2, 2])
            for key in LEVELS:
                each = [one[key] for one in predicted["recordings"]]
                self.assertEqual(predicted[key], sorted(each)[1], key)
                if "mean" not in key:  # that is over time, which other work on the machine moves
                    self.assertEqual(sorted(each), [each[0], each[2], each[1]], key)
            error = predicted["peak_heap_bytes"] / candidate["real"]["peak_heap_bytes"] - 1
            self.assertAlmostEqual(candidate["error"]["peak_heap"], error, places=5)
        # What is kept: each recording with its workload. What is shown: how far predictions are from each other, at most.
        for place, name in (("kept", "changing"), ("kept/recording-2", "changing"), ("kept/recording-3", "changing")):
            self.assertTrue((self.place / place / name).is_dir())
            self.assertTrue((self.place / place / f"{name}.wl").is_file())
        def widest(key):
            each = [[one[key] for one in candidate["predicted"]["recordings"]] for candidate in result["candidates"]]
            return max(100 * (max(of_one) / min(of_one) - 1) for of_one in each)
        shown = told.stdout.decode()
        self.assertIn("predicted is the median of 3\n", shown)
        # In words, as spreads of thousands of per cent take a second line.
        self.assertIn(f"differ by up to {widest('peak_heap_bytes'):.1f} % in the heap's peak, {widest('mean_heap_bytes'):.1f} % in its mean, "
                      f"{widest('end_heap_bytes'):.1f} % at its end and by up to {ops[1] - ops[0]:,} calls from the first, which has {ops[0]:,} ",
                      " ".join(shown.split()))
        self.assertLessEqual(max(map(len, shown.splitlines())), 100)
        # A result of an earlier version has one recording and does not say so.
        for key in [key for key in about if key.startswith("recording") or key == "ops_difference_max"]:
            del about[key]
        for candidate in result["candidates"]:
            del candidate["predicted"]["recordings"]
        (self.place / "old.json").write_text(json.dumps(result))
        old = self.mallab("report", "old.json").stdout.decode()
        self.assertNotIn("recordings", old)
        before, line, behind = shown.partition("recordings  ")
        self.assertEqual(line, "recordings  ")
        self.assertTrue(old.endswith(before + behind[behind.index("bars  "):]), old)

    def test_a_recording_that_is_no_run_like_the_first_is_left_out(self):
        """It ends otherwise, or another program was recorded: told, counted, and the others predict."""
        repeat = f"{lab.PROGRAMS}/repeat"
        script = self.changing(f"exec {repeat} 400", f"{repeat} 1600; exit 3", f"exec {lab.PROGRAMS}/half 30", f"exec {repeat} 500")
        told = self.mallab("validate", "-q", "-n", 1, "--recordings", 4, "--seed", 1, "-a", "glibc", "-o", "kept.json", "--", script)
        result = json.loads((self.place / "kept.json").read_text())
        about, said, shown = result["validation"], told.stderr.decode(), told.stdout.decode()
        self.assertEqual([about[key] for key in ("recordings", "recordings_asked", "recordings_left_out", "recordings_stopped")], [2, 4, 2, False])
        reasons = [one["left_out"] for one in about["recording_list"]]
        self.assertEqual((reasons[0], reasons[3]), (None, None))
        self.assertEqual(reasons[1], "the program ended with exit code 3, the first time with exit code 0")
        self.assertEqual(reasons[2], "the process with most calls was 'half', the first time 'repeat'")
        for number in (2, 3):
            self.assertIn(f"recording {number} of 4 is left out: {reasons[number - 1]}", said)
            self.assertIn(f"recording {number} was left out: {reasons[number - 1]}", " ".join(shown.split()))
        self.assertIn("predicted is the median of 2, of the 4 asked for\n", shown)
        (candidate,) = result["candidates"]
        first, fourth = candidate["predicted"]["recordings"]
        self.assertEqual((first["number"], fourth["number"]), (1, 4))
        self.assertAlmostEqual(candidate["predicted"]["peak_heap_bytes"], (first["peak_heap_bytes"] + fourth["peak_heap_bytes"]) / 2, delta=1)
        # One that is left out is not in the differences.
        self.assertEqual(about["ops_difference_max"], about["recording_list"][3]["ops"] - about["recording_list"][0]["ops"])

    def test_each_recording_has_its_process_by_name(self):
        """Of two processes the one that is named, though the other calls more; where it is not there, the recording is left out."""
        half, repeat = f"{lab.PROGRAMS}/half 30", f"{lab.PROGRAMS}/repeat 9000"
        script = self.changing(f"{repeat}; exec {half}", f"exec {repeat}", f"{half}; exec {repeat}", unrecorded="half 30")
        told = self.mallab("validate", "-q", "-n", 1, "--recordings", 3, "-a", "glibc", "--process", "half", "-o", "kept.json", "--", script)
        about = json.loads((self.place / "kept.json").read_text())["validation"]
        first, second, third = about["recording_list"]
        self.assertEqual((about["process"], about["recordings"], about["recordings_left_out"]), ("half", 2, 1))
        self.assertEqual(first["ops"], third["ops"])
        self.assertIsNotNone(second["left_out"])
        self.assertIn("no process 'half' was recorded", told.stderr.decode())
        self.assertIn(f"recording 2 of 3 is left out: {second['left_out']}", told.stderr.decode())

    def test_stopped_in_a_further_recording(self):
        """Ctrl-C while the program is recorded for the third time: the two before predict, beside all real rounds."""
        repeat = f"exec {lab.PROGRAMS}/repeat"
        script = self.changing(f"{repeat} 400", f"{repeat} 500", "echo third >&2; exec sleep 1000")
        process = subprocess.Popen([lab.BUILD / "mallab", "validate", "-n", "1", "-a", "glibc", "--json", "--progress", "--", script],
                                   cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                                   env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"} | {"TMPDIR": str(self.place)})
        self.addCleanup(process.kill)
        phases = []
        for line in process.stderr:
            phases += [line.decode().strip()] if b" of 4: " in line else []
            if line == b"third\n":
                break
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual(process.returncode, -signal.SIGINT, said)
        about = json.loads(shown)["validation"]
        self.assertEqual([about[key] for key in ("rounds", "stopped", "recordings", "recordings_asked", "recordings_left_out", "recordings_stopped")],
                         [1, False, 2, 3, 0, True])
        self.assertIn(b"predictions are of 2 of 3", said)
        self.assertEqual([phase.split("'")[0] for phase in phases[::3]], ["1 of 4: recording 1 of 3 of ", "4 of 4: recording 2 of 3 of "])
        self.assertEqual(self.alive(process.pid), [])
        self.assertEqual({path.name for path in self.place.iterdir()}, {"changing", "turns"})

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
