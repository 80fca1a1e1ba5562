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

PEAKS = ["peak_total_bytes", "peak_heap_bytes"]
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
        self.assertEqual([one["runs"] for one in result["confirmed"]], [rounds] * len(names))
        for candidate in result["candidates"]:
            with self.subTest(candidate=candidate["name"]):
                self.assertIsNone(candidate["failed"])
                for key in PEAKS:
                    self.assertGreater(candidate["real"][key], 0, key)
                    self.assertGreater(candidate["predicted"][key], 0, key)
                real, error = candidate["real"], candidate["error"]
                self.assertGreater(real["peak_total_bytes"], real["peak_heap_bytes"])
                self.assertEqual([len(real["sampled_runs"]), len(real["mapped_runs"])], [min(rounds + 1, 3)] * 2)
                # Far off is a defect whatever the machine does: memory does not depend on time here.
                self.assertLess(error["peak_total"], 0.25)
                self.assertGreater(error["peak_total"], -0.25)
                # So few rounds never judge a sign.
                self.assertIn(error["time_sign"], ("noise", "unknown"))

    def test_what_calloc_zeroed_is_not_taken_for_written(self):
        """jemalloc hands out pages that are zero already: a replay that wrote to all of them held 20 MB where the program held 8."""
        result = self.validate("--", lab.PROGRAMS / "blank", rounds=3)
        for candidate in result["candidates"]:
            with self.subTest(candidate=candidate["name"]):
                self.assertIsNone(candidate["failed"])
                # jemalloc gives back by time: a recording that other work held up is replayed with up to a third more. Writing to
                # all of it would make peaks 1.1 and 1.7 times too high.
                self.assertLess(abs(candidate["error"]["peak_total"]), 0.5)
                self.assertLess(abs(candidate["error"]["peak_heap"]), 0.75)

    def believed(self, result):
        """By the errors of a result: what to decide by; a miss that unwritten objects explain names them, where they were written."""
        told = json.loads(json.dumps(result))
        for total, heap, touch, words, cause in ((0.001, -0.02, "page", "Both are within what mallab asks of itself.", False),
                                                 (0.071, 0.125, "page", "Do not decide by what is beyond its bar.", True),
                                                 (0.071, 0.125, "none", "Do not decide by what is beyond its bar.", False),
                                                 (-0.075, -0.125, "page", "Do not decide by what is beyond its bar.", False)):
            told["touch"] = touch
            for candidate in told["candidates"]:
                candidate["error"].update(peak_total=total, peak_heap=heap)
            (self.place / "believed.json").write_text(json.dumps(told))
            shown = self.mallab("report", "believed.json").stdout.decode()
            said = " ".join(shown.split())
            self.assertIn(f"is {100 * total:+.1f}% in total, {100 * heap:+.1f}% in the heap's part. {words}", said)
            self.assertEqual("--touch none is the other bound" in said, cause, said)
            self.assertLessEqual(max(map(len, shown.splitlines())), 100)
        (self.place / "believed.json").unlink()

    def advised(self, result):
        """What the replays advise beside what the program shows."""
        told = json.loads(json.dumps(result))
        name = told["candidates"][1]["name"]
        told["validation"]["advice"] = {"time": {"candidate": name, "of_process": 0.043, "shown": "wrong"},
                                        "peak": {"candidate": None, "of_process": None, "shown": "none"}}
        (self.place / "advised.json").write_text(json.dumps(told))
        shown = self.mallab("report", "advised.json").stdout.decode()
        self.assertIn(f"advice      time: {name} saves 4.3 % of the process: wrong\n            peak: none\n", shown)
        (self.place / "advised.json").unlink()

    def before(self, result):
        """A result of before: several recordings, means and ends; no pairs of runs, no advice. Its table is shown as far as it goes."""
        told = json.loads(json.dumps(result))
        del told["confirmation"], told["confirmed"], told["validation"]["advice"], told["validation"]["group_processes"]
        told["validation"].update(recordings=3, recordings_asked=3, recordings_left_out=0, recordings_stopped=False)
        told["validation"]["bars"]["memory_order"] = {"checked": 1, "met": 1}
        for candidate in told["candidates"]:
            candidate["real"].update(mean_heap_bytes=1, timed_runs=[{"wall_ns": 1, "user_ns": 1, "system_ns": 0}])
        (self.place / "before.json").write_text(json.dumps(told))
        shown = self.mallab("report", "before.json").stdout.decode()
        self.assertIn("peak within 3 % in total", shown)
        self.assertNotIn("advice      time", shown)
        kept = self.answer("report", "--json", "before.json")
        self.assertEqual(kept["candidates"], told["candidates"])
        self.assertEqual(kept["validation"]["recordings_asked"], 3)
        (self.place / "before.json").unlink()

    def no_line_is_wider(self, result):
        """Long names stand above their figures; notes are folded."""
        told = json.loads(json.dumps(result))
        about, name = told["validation"], "jemalloc+narenas=1+dirty_decay_ms=0+muzzy_decay_ms=0"
        told["rounds_asked"], about["stopped"], about["time_of"] = 40, True, "process"
        about["processes_alike"], about["process"] = 3, "a-rather-long-name-of-a-program"
        told["candidates"][1].update(name=name, failed="the program ended by signal 11 (Segmentation fault) under it, not with exit code 0")
        told["candidates"][1]["real"]["disturbed_by"] = 0.05
        told["baseline"] = told["candidates"][0]["name"] = "glibc+trim_threshold=16384+top_pad=131072"
        (self.place / "wide.json").write_text(json.dumps(told))
        lines = [line for line in self.mallab("report", "wide.json").stdout.decode().splitlines() if "mallab confirm" not in line]
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
        self.assertIn("2 pairs of runs, stopped before the 8 asked for", told)
        self.assertIn("3 go by the name 'sqlite3': predicted is the one with most calls", told)
        self.assertIn("bars none is judged: several processes go by that name", told)
        self.assertNotIn("MISSED", told)
        self.assertNotIn("stopped", shown)
        self.disturbed(result)
        self.no_line_is_wider(result)
        self.believed(result)
        self.advised(result)
        self.before(result)
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
        none = self.mallab("validate", "-q", "-a", "glibc", "-n", 1, "-o", "days/", "--process", "no-such", "--", script, status=lab.MISUSE)
        self.assertIn("no-such", none.stderr.decode())
        self.assertEqual(list((self.place / "days").iterdir()), [])  # made before long work, as ab does

    def test_own_mappings_between_samples_are_told(self):
        """As php's chunks: mapped, written and unmapped faster than samples come. 32 MB five times are 32 MB."""
        code = ("import mmap\nfor _ in range(5):\n m = mmap.mmap(-1, 32 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
                " m[0] = m[9 << 20] = 1\n m.close()\n")
        result = self.validate("-a", "glibc", "--", "/usr/bin/python3", "-c", code)
        for run in result["candidates"][0]["real"]["mapped_runs"]:
            self.assertGreaterEqual(run["apart_most_bytes"], 32 << 20)
            self.assertLess(run["apart_most_bytes"], 80 << 20)

    @lab.needs("perl")
    def test_processor_time_is_the_process_own(self):
        """Neither that of children it waited for, nor what the process took before it executed the program."""
        burn = "perl -e 'for (1 .. 3000000) { }'"
        for name, line in (("sh", f"{burn}; exit 0"), ("half", f"{burn}; {lab.PROGRAMS}/half 3; exit 0")):
            result = self.validate("-a", "glibc", "-o", f"{name}.json", "--process", name, "--", "sh", "-c", line)
            real = result["candidates"][0]["real"]
            self.assertEqual(result["validation"]["time_of"], "process")
            self.assertGreater(real["process_cpu_ns"], 0)
            self.assertLess(real["process_cpu_ns"], result["workloads"][0]["process"]["cpu_user_ns"] + 1e9)
            self.assertIsNone(real["cpu_ns"])
            whole = self.answer("confirm", "-q", "--json", "-n", 1, "-a", "glibc,glibc+nocache", "--", "sh", "-c", line)
            self.assertLess(real["process_cpu_ns"], whole["confirmed"][-1]["time"]["baseline_ns"] / 3, name)
            row = [line for line in self.mallab("report", f"{name}.json").stdout.decode().splitlines() if line.startswith("glibc")][-1]
            self.assertIn(f" {real['process_cpu_ns'] / 1e6:.0f} ms", row)

    @lab.needs("perl")
    def test_workers_are_predicted_and_compared_together(self):
        """Two that a process forked, alive at once: a group, of which memory is what all held, and which is judged."""
        code = ('my %h; $h{$_} = "x$_" for 1 .. 9000; pipe(R, W); for (1 .. 2) { if (!fork) { close R; my @a = map { "y$_" } 1 .. 40000; '
                'print W "x"; close W; select(undef, undef, undef, 0.4); exit 0 } } wait; wait;')
        result = self.validate("-a", "glibc", "-o", "kept.json", "--", "perl", "-e", code)
        about, (candidate,) = result["validation"], result["candidates"]
        self.assertEqual((about["group_processes"], result["workloads"][0]["group_processes"], about["processes_alike"]), (3, 3, 3))
        self.assertEqual(about["time_of"], "command")
        self.assertGreater(candidate["real"]["peak_total_bytes"], 2 * 8e6)
        self.assertLess(abs(candidate["error"]["peak_total"]), 0.25)
        self.assertEqual(about["bars"]["peak_total"]["checked"], 1)
        self.assertIn("3 of the name 'perl', predicted and compared together", self.mallab("report", "kept.json").stdout.decode())
        # A shell's fork that executes another program was the shell's image for a moment: no process to be mistaken for it.
        about = self.validate("-a", "glibc", "--process", "sh", "--", "sh", "-c", f"{lab.PROGRAMS}/half 1; {lab.PROGRAMS}/half 1; exit 0")["validation"]
        self.assertEqual((about["group_processes"], about["processes_alike"]), (0, 1))

    def test_a_program_that_became_another(self):
        """Both have one process id, and the shell makes the most calls: the named one counts, and only what has an end of its own."""
        became = ["bash", "-c", 'a=(); for i in {1..20000}; do a+=("$i"); done; exec ' + f"{lab.PROGRAMS}/half 1"]
        result = self.validate("-a", "glibc", "--process", "half", "--", *became)
        self.assertEqual(result["workloads"][0]["program"], "half")
        gone = self.mallab("validate", "-q", "-a", "glibc", "-n", 1, "--process", "bash", "--", *became, status=lab.FAILED)
        self.assertIn("'bash' was not seen at its end", gone.stderr.decode())

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
        told = self.mallab("validate", "-q", "-n", 1, "--timeout", "1s", "-a", "glibc", "--", script, status=lab.FAILED).stdout.decode()
        self.assertIn("bars        none is judged: no real run came through\n", told)
        self.assertIn("did not end within --timeout", told)
        self.assertNotIn("fidelity", told)
        self.assertNotIn("what mallab asks", told)

    def test_a_time_budget_holds(self):
        """Spent by the warm-up: one round of replays, one look at memory, no pair of timed runs."""
        result = self.answer("validate", "-q", "--json", "--time-budget", "1ms", "-a", "glibc,glibc+nocache", "--", lab.PROGRAMS / "blocks")
        self.assertEqual((result["workloads"][0]["rounds"], result["workloads"][0]["stopped"]["by"]), (1, "time_budget"))
        self.assertEqual([one["runs"] for one in result["confirmed"]], [0, 0])
        self.assertGreater(result["confirmed"][0]["peak"]["bytes"], 0)

    def test_a_failing_program_is_compared_with_its_own_end(self):
        """It fails when recorded and under glibc alike: a result. Under one candidate only: that candidate is out."""
        alike = self.validate("-a", "glibc", "--", "sh", "-c", f"{lab.PROGRAMS}/half 1; exit 7")["validation"]
        self.assertEqual(alike["exit_code"], 7)
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

    def test_a_death_by_signal_is_named(self):
        """Under one candidate only: by which signal, not by the code that a shell makes of it. One signal is not another."""
        if "jemalloc" not in lab.candidates():
            self.skipTest("needs jemalloc")
        for end, recorded in (("exit 0", "with exit code 0"), ("kill -TERM $$", r"by signal 15 \(Terminated\)")):
            script = f"{lab.PROGRAMS}/half 1; case $LD_PRELOAD in *jemalloc*) kill -SEGV $$;; esac; {end}"
            failed = self.mallab("validate", "-q", "-n", 1, "-a", "glibc,jemalloc", "--", "sh", "-c", script, status=lab.FAILED)
            self.assertRegex(failed.stderr.decode(), rf"jemalloc failed: the program ended by signal 11 \(Segmentation fault\) under it, not {recorded}")

    def test_it_is_recorded_on_the_baseline(self):
        """Redis asks for other sizes where malloc_usable_size answers otherwise: recorded on its own jemalloc, glibc's heap was 4 % too low."""
        self.validate("-a", "glibc", "--", "sh", "-c", 'case "$LD_PRELOAD" in *libmallab.so*) printf "%s\\n" "$LD_PRELOAD" >>recorded;; esac; '
                      f"{lab.PROGRAMS}/half 1")
        self.assertRegex((self.place / "recorded").read_text(), r"^.*libmallab\.so[: ].*/libc\.so\.6\n$")

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
            if line.startswith(b"3 of 3: "):
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
