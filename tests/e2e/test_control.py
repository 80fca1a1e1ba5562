"""A recording controlled while it runs: paused, cut into windows, ended, asked for what there is; programs chosen by
name. The recorded program does as it is told (steps.c), so every count here is exact."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import lab

STEPS = lab.PROGRAMS / "steps"


class Steps(lab.Told):
    """steps under `mallab record`, line by line."""

    def __init__(self, test, *options, command=(STEPS,), name="recording", programs=lab.BUILD):
        self.test = test
        super().__init__(test, command, *options, name=name, mallab=programs / "mallab", stderr=subprocess.PIPE)

    def ask(self, request, status=lab.DONE):
        result = self.test.mallab("record", "--control", self.directory, request, status=status)
        return (result.stdout + result.stderr).decode()

    def play(self, *lines):
        """What it is to do, and requests, which begin with --, each when the one before is answered."""
        for line in lines:
            self.ask(line) if line.startswith("--") else self.do(line)

    def end(self):
        """Let it end; returns what `mallab record` said."""
        self.test.assertEqual(super().end(), 0)
        return self.process.stderr.read()

    def window(self, number):
        found = list(self.directory.glob(f"steps.*.w{number:04}.fp"))
        self.test.assertEqual(len(found), 1, sorted(self.directory.iterdir()))
        return found[0]


def asked(info):
    """Requests by size class: {least size of the class: count}."""
    return {c["from_bytes"]: c["count"] for c in info["sizes"] if c["count"]}


def odd(info):
    return {name: count for name, count in info["irregularities"].items() if count}


class Pauses(lab.Lab):
    def test_what_is_called_in_a_pause_is_not_recorded(self):
        steps = Steps(self)
        self.assertEqual(steps.do("take 100 1000"), "ok")
        self.assertIn("paused", steps.ask("--pause"))
        steps.play("take 50 3000", "drop 30")
        self.assertIn("recording", steps.ask("--resume"))
        steps.do("churn 10 5000")
        steps.do("drop 120")  # 70 that were taken before the pause, 50 that were taken in it
        said = steps.end()
        self.assertIn("paused 1 time", said)
        info = self.info(steps.directory)
        self.assertEqual(asked(info)[512], 100)
        self.assertNotIn(2048, asked(info))
        self.assertEqual(asked(info)[4096], 10)
        self.assertIs(info["complete"], False)
        self.assertIn("paused", info["incomplete_why"])
        self.assertEqual(info["irregularities"]["unrecorded_objects"], 50)
        self.assertIn("unrecorded_objects, 50 calls",
                      self.mallab("convert", "-o", "out.wl", steps.directory).stderr.decode())
        [pause] = steps.json()["pauses"]
        self.assertEqual((info["pauses"], info["paused_ns"]), (1, pause["to_ns"] - pause["from_ns"]))
        text = self.mallab("info", "--details", steps.directory).stdout.decode()
        self.assertRegex(text, r"paused +1 time, .* in all, as asked")
        self.assertNotRegex(text, r"\d: pauses")  # asked for, so nothing irregular
        self.assertEqual(info["irregularities"]["pauses"], 1)
        self.assertEqual(sum(info["lost"].values()), 0)
        # released in the pause, which nobody saw, unless their addresses were given out again
        self.assertEqual(info["live_end_objects"] + odd(info).get("unrecorded_frees", 0), 30)
        self.replay_everywhere(self.convert(steps.directory))

    def test_an_allocation_where_a_release_was_missed(self):
        steps = Steps(self)
        steps.play("take 20 1000", "--pause", "drop 20", "--resume")
        steps.do("take 20 1000")  # at the same addresses, in glibc
        steps.end()
        self.assertIn("unrecorded_frees, 20 times",
                      self.mallab("convert", "-o", "out.wl", steps.directory).stderr.decode())
        info = self.info(steps.directory)
        self.assertEqual(info["irregularities"]["unrecorded_frees"], 20)
        self.assertEqual(odd(info).get("lost_free", 0), 0)
        self.assertEqual(info["live_end_objects"], 20)

    def test_begin_paused(self):
        steps = Steps(self, "--paused")
        steps.do("take 40 1000")
        self.assertIn("paused", steps.ask("--status"))
        self.assertEqual(steps.json()["events"], 0)
        steps.play("--resume", "take 7 3000")
        steps.end()
        self.assertEqual(asked(self.info(steps.directory)), {2048: 7})

    def test_twice_the_same_is_no_error(self):
        steps = Steps(self)
        steps.do("take 1 1000")
        for request in ("--resume", "--pause", "--pause", "--resume", "--resume"):
            steps.ask(request)
        steps.do("take 2 1000")
        steps.end()
        self.assertEqual(asked(self.info(steps.directory)), {512: 3})
        self.assertEqual(len(steps.json()["pauses"]), 1)

    def test_signals_do_the_same(self):
        steps = Steps(self)
        steps.do("take 1 1000")
        collector = steps.json()["collector"]["pid"]
        os.kill(collector, signal.SIGUSR1)
        lab.wait_for(lambda: steps.json()["state"] == "paused", "the pause")
        steps.do("take 2 1000")
        os.kill(collector, signal.SIGUSR2)
        lab.wait_for(lambda: steps.json()["state"] == "recording", "its end")
        steps.do("take 4 1000")
        steps.end()
        self.assertEqual(asked(self.info(steps.directory)), {512: 5})

    def test_threads_under_storm(self):
        """Pauses amid four threads' calls: nothing but pauses is told of it, and it replays."""
        steps = Steps(self)
        steps.do("storm")
        for _ in range(5):
            steps.play("--pause", "--resume")
        steps.do("calm")
        steps.end()
        info = self.info(steps.directory)
        found = set(odd(info))
        self.assertLessEqual(found, {"pauses", "unrecorded_objects", "unrecorded_frees", "order_repaired"})
        self.assertGreaterEqual(info["irregularities"]["pauses"], 4)
        self.replay_everywhere(self.convert(steps.directory))


class Present(lab.Lab):
    def test_every_call_so_far_is_written_when_asked(self):
        steps = Steps(self)
        steps.play("take 7 1000", "thread 5 3000")
        self.assertIn("events", steps.ask("--status"))
        before = self.info(steps.directory)
        self.assertEqual(asked(before)[512], 7)
        self.assertEqual(asked(before)[2048], 5)
        self.assertEqual(before["recording_state"], "recording")
        steps.play("take 9 1000", "--status")
        steps.ask("--status")  # nothing new
        self.assertEqual(asked(self.info(steps.directory))[512], 16)
        steps.do("take 1 1000")
        steps.end()
        info = self.info(steps.directory)
        self.assert_whole(info)
        self.assertEqual(asked(info)[512], 17)
        self.assertEqual(odd(info), {})

    def test_a_call_behind_a_pause_has_its_time(self):
        """Also in a program of one thread, most of whose calls share a reading of the clock: once the collector has seen how seldom it calls."""
        steps = Steps(self)
        steps.do("churn 20000 64")
        for _ in range(20):
            time.sleep(0.02)
            steps.do("take 1 1000")
        steps.end()
        self.mallab("convert", "-q", "--to", "text", "-o", "calls.txt", steps.directory)
        text = (self.place / "calls.txt").read_text()
        times = [int(before.rpartition("\ntime ")[2].split("\n")[0]) for before in re.split(r"\n\d+ malloc \d+ 1000\b", text)[11:-1]]
        self.assertEqual(len(times), 9)
        self.assertGreater(min(after - before for before, after in zip(times, times[1:])), 19e6)

    def test_the_end(self):
        steps = Steps(self)
        steps.do("take 11 1000")
        self.assertIn("has ended", steps.ask("--end"))
        steps.do("take 13 1000")
        info = self.info(steps.directory)
        self.assertEqual(asked(info)[512], 11)
        self.assertIs(info["complete"], False)
        self.assertIn("has ended", steps.ask("--end"))  # as asked
        self.assertIn("has ended", steps.ask("--pause", status=lab.FAILED))
        steps.end()


class Windows(lab.Lab):
    def check_list(self, directory, whole, parts):
        """The windows that `info` lists are what it says of each one by itself. parts: {number: its info}."""
        listed = {window["window"]: window for window in whole["window_list"]}
        self.assertEqual(sorted(listed), sorted(parts))
        for number, part in parts.items():
            for one, other in (("events", "events"), ("live_end_bytes", "live_end_bytes"),
                               ("live_end_objects", "live_end_objects"), ("file_bytes", "file_bytes")):
                self.assertEqual(listed[number][one], part[other], (number, one))
            self.assertEqual(listed[number]["lost"], sum(part["lost"].values()))
        self.assertEqual(sum(window["events"] for window in listed.values()), whole["events"])
        rows = [line.split() for line in self.mallab("info", "--details", directory).stdout.decode().splitlines()
                if line[:5].strip() == "" and line[5:6].isdigit()]
        self.assertEqual([row[0] for row in rows[:len(parts)]], [str(number) for number in sorted(parts)])

    def test_calls_stand_in_their_windows(self):
        steps = Steps(self, "--window", "1h")
        steps.do("take 10 1000")
        steps.do("thread 5 3000")  # asleep when the window ends: what it holds is written all the same
        self.assertIn("window 2", steps.ask("--rotate"))
        steps.play("take 20 1000", "drop 4")
        self.assertIn("window 3", steps.ask("--rotate"))
        self.assertIn("window 4", steps.ask("--rotate"))  # nobody called: no file
        steps.do("drop 8")
        self.assertIn("4 windows", steps.end())
        self.assertEqual(sorted(path.name[-8:-3] for path in steps.directory.glob("*.fp")),
                         ["w0001", "w0002", "w0004"])
        whole = self.info(steps.directory)
        self.assert_whole(whole)
        self.assertEqual(odd(whole), {})
        self.assertEqual((asked(whole)[512], asked(whole)[2048]), (30, 5))
        first, second, last = (self.info(steps.window(number)) for number in (1, 2, 4))
        self.assertEqual((asked(first)[512], asked(first)[2048]), (10, 5))
        self.assertEqual(first["inherited_objects"], 0)
        self.assertEqual(asked(second), {512: 20})
        self.assertEqual(second["inherited_objects"], first["live_end_objects"])
        self.assertEqual(second["live_end_objects"], first["live_end_objects"] + 16)
        self.assertEqual((last["events"], last["inherited_objects"]), (8, second["live_end_objects"]))
        self.check_list(steps.directory, whole, {1: first, 2: second, 4: last})
        starts = [window["begin_ns"] for window in whole["window_list"]]
        ends = [window["end_ns"] for window in whole["window_list"]]
        self.assertEqual(starts[0], 0)
        self.assertEqual(sorted(starts + ends), [starts[0], ends[0], starts[1], ends[1], starts[2], ends[2]])
        for info in (first, second, last):
            self.assertEqual(odd(info), {})
            self.assertIs(info["complete"], True)
        self.assertLess(last["duration_ns"], whole["duration_ns"])
        self.assertEqual(self.info(self.convert(steps.window(4)))["ops"], 8 + last["inherited_objects"])
        self.replay_everywhere(self.convert(steps.directory))

    def test_a_process_that_came_since_the_collector_looked(self):
        """It comes, calls, and a window is asked for, all in one round of the collector, behind its look for new
        processes: what it did stands in the window before."""
        programs = self.place / "programs"
        programs.mkdir()
        for name in ("mallab", "libmallab.so"):
            shutil.copy(lab.BUILD / name, programs)
        collector = programs / "mallab-collect"
        collector.write_text("#!/bin/sh\nLD_PRELOAD=%s ASAN_OPTIONS=verify_asan_link_order=0 exec %s \"$@\"\n" %
                             (lab.PROGRAMS / "libdrag.so", lab.BUILD / "mallab-collect"))
        collector.chmod(0o755)
        steps = Steps(self, "--window", "1h", programs=programs,
                      command=("bash", "-c", f"read line; echo $line; {STEPS}"))
        self.assertEqual(steps.do("ready"), "ready")  # so bash is recorded, and the collector's rounds are long
        time.sleep(0.1)
        self.assertEqual(steps.do("take 10 1000"), "ok")
        self.assertIn("window 2", steps.ask("--rotate"))
        steps.do("take 20 3000")
        steps.end()
        first, second = (self.info(steps.window(number)) for number in (1, 2))
        self.assertEqual(asked(first)[512], 10)
        self.assertEqual(asked(second), {2048: 20})

    def test_windows_are_cut_by_the_clock(self):
        begin = time.monotonic()
        steps = Steps(self, "--window", "1s", "--keep-windows", "2")
        windows = 0
        while windows < 4: # as late as the collector may come to it
            steps.play("churn 100 1000", "--status")
            windows = steps.json()["windows"]
        steps.do("take 3 3000")
        said = steps.end()
        whole_s = time.monotonic() - begin
        self.assertIn("the last 2 are kept", said)
        recording = steps.json()
        self.assertGreaterEqual(recording["windows"], 4)
        self.assertEqual(recording["windows_removed"], recording["windows"] - 2)
        self.assertGreater(recording["events_removed"], 0)
        info = self.info(steps.directory)
        self.assertEqual(recording["events"], info["events"])
        self.assertEqual(recording["bytes"], sum(path.stat().st_size for path in steps.directory.glob("*.fp")))
        self.assertIs(info["complete"], False)
        self.assertIn("earlier ones are not there", info["incomplete_why"])
        self.assertLess(info["duration_ns"], (whole_s - 1) * 1e9)  # two windows at least are gone
        self.replay_everywhere(self.convert(steps.directory))

    def test_processes_whose_windows_are_removed(self):
        """A process that was quiet in the windows that are kept takes nothing from the others, nor from an intact
        recording of quiet processes alone."""
        asleep = "until read -r call rest < /proc/$!/syscall && case $call in 230|115) ;; *) false ;; esac; do :; done"  # clock_nanosleep
        script = f"sleep 100 & {asleep}; {STEPS}; kill $!"
        steps = Steps(self, "--window", "1h", "--keep-windows", "1", command=("sh", "-c", script))
        steps.play("take 10 1000", "--rotate", "take 5 3000")
        said = steps.end()
        self.assertNotIn("'sleep'", said)
        [quiet] = [one for one in steps.json()["processes"] if one["name"] == "sleep"]
        self.assertEqual((quiet["files"], quiet["events"]), ([], 0))
        info = self.info(steps.directory)
        self.assertEqual(asked(info)[2048], 5)
        listed = {one["name"]: (one["removed"], one["missing"]) for one in info["process_list"]}
        self.assertEqual((listed["sleep"], listed["steps"]), ((True, False), (False, False)))
        self.assertRegex(self.mallab("info", "--details", steps.directory).stdout.decode(), r"\.fp +removed")
        self.assertNotIn("missing", self.mallab("convert", "-o", "all.wl", steps.directory).stderr.decode())
        for options in ("--process=sleep", f"--process={quiet['pid']}"):
            said = self.mallab("convert", "-o", "quiet.wl", options, steps.directory, status=lab.BAD_INPUT)
            self.assertIn("its calls were in windows that are removed", said.stderr.decode(), options)

    def test_all_windows_with_calls_are_removed(self):
        steps = Steps(self, "--window", "1h", "--keep-windows", "1")
        steps.play("take 10 1000", "--rotate")
        self.assertIn("1 process ran on when it ended", steps.ask("--end"))
        answer = json.loads(self.mallab("record", "--control", steps.directory, "--status", "--json").stdout)
        self.assertEqual((answer["state"], answer["processes_running"], answer["processes_ran_on"]), ("ended", 0, 1))
        self.assertNotIn("running", steps.ask("--status"))
        steps.end()
        for options in ((), ("--salvage",)):
            info = json.loads(self.mallab("info", "--json", *options, steps.directory).stdout)
            self.assertEqual((info["events"], info["processes"], info["complete"]), (0, 1, False))
            self.assertIn("windows that are removed", info["incomplete_why"])
        self.assertIn("windows that are removed",
                      self.mallab("convert", "-o", "none.wl", steps.directory, status=lab.BAD_INPUT).stderr.decode())

    def test_cuts_under_storm_are_exact(self):
        """Windows cut amid four threads' calls: joined they are what one footprint would have been, and each one goes
        on from exactly what the one before left."""
        steps = Steps(self, "--window", "1h")
        steps.do("storm")
        for _ in range(4):
            steps.ask("--rotate")
        pairs = int(steps.do("calm"))
        steps.end()
        whole = self.info(steps.directory)
        self.assert_whole(whole)
        self.assertGreaterEqual(whole["events_by_call"]["malloc"], pairs)
        defects = {"lost_free", "free_of_unknown", "resize_of_unknown", "gaps", "missing_blocks"}
        self.assertFalse(defects & set(odd(whole)), odd(whole))
        live = 0
        events = 0
        parts = {}
        for path in sorted(steps.directory.glob("*.fp")):
            info = self.info(path)
            parts[int(path.name[-7:-3])] = info
            self.assertEqual(info["inherited_objects"], live, path)
            self.assertFalse(defects & set(odd(info)), (path, odd(info)))
            live = info["live_end_objects"]
            events += info["events"]
        self.assertEqual(events, whole["events"])
        self.assertEqual(live, whole["live_end_objects"])
        self.check_list(steps.directory, whole, parts)

    def test_windows_of_several_processes(self):
        """What is live at a window's end is of all that have not ended before it, also of those that did not call."""
        steps = Steps(self, "--window", "1h", "--only", "steps", command=(
            "bash", "-c", f"mkfifo {self.place}/p; {STEPS} <{self.place}/p >/dev/null & exec 4>{self.place}/p; "
            f"echo take 7 5000 >&4; {STEPS}; echo drop 3 >&4; exec 4>&-; wait"))
        steps.do("take 10 1000")
        lab.wait_for(lambda: "steps" in steps.ask("--status") or len(list(steps.directory.glob("*.fp"))) == 2, "both")
        steps.play("--rotate", "take 20 1000", "--rotate", "drop 30")
        steps.end()
        whole = self.info(steps.directory)
        self.assertEqual([(window["window"], window["processes"], window["live_end_objects"])
                          for window in whole["window_list"]], [(1, 2, 17), (2, 1, 37), (3, 2, 4)])

    def test_forks_across_windows(self):
        """A child forked in the second window begins with what its parent had by then."""
        steps = Steps(self, "--window", "1h")
        steps.play("leaks 10", "--rotate", "leaks 5", "forks 7", "leaks 2")
        steps.end()
        parent = steps.json()["command_pid"]
        [child] = [path for path in steps.directory.glob("*.fp") if f".{parent}." not in path.name]
        info = self.info(child)
        self.assertRegex(child.name, r"\.w0002\.fp$")
        self.assertEqual((info["events"], info["inherited_objects"], info["live_end_objects"], odd(info)), (7, 15, 22, {}))
        self.assertEqual(self.info(self.convert(child))["inherited_objects"], 15)

    def test_a_killed_collector_in_its_third_window(self):
        steps = Steps(self, "--window", "1h")
        steps.play("take 10 1000", "thread 5 3000", "--rotate", "take 20 1000", "--rotate", "take 40 1000")
        steps.ask("--status")  # some is written
        steps.do("take 80 1000")  # and some is not
        collector = steps.json()["collector"]["pid"]
        os.kill(collector, signal.SIGKILL)
        said = steps.end()
        self.assertIn("its collector was killed", said)
        info = self.info(steps.directory)
        self.assertEqual((asked(info)[512], asked(info)[2048]), (150, 5))
        self.assertEqual(odd(info), {})
        self.assertEqual(len(info["process_list"]), 1)

    def test_not_every_recording_has_windows(self):
        steps = Steps(self)
        steps.do("take 1 1000")
        self.assertIn("--window", steps.ask("--rotate", status=lab.FAILED))
        steps.end()


class Names(lab.Lab):
    def test_only_what_is_asked_for(self):
        script = f"{STEPS} </dev/null; cat /dev/null; {STEPS} </dev/null; exec -a other {STEPS} </dev/null"
        result = self.mallab("record", "-o", "r", "--only", "stepping,oth*", "--", "bash", "-c", script)
        said = result.stderr.decode()
        self.assertIn("'steps'", said)
        self.assertIn("4 processes were not asked for", said)
        self.assertEqual([p["name"] for p in self.info(self.place / "r")["process_list"]], ["other"])

    def test_a_name_that_nobody_has(self):
        result = self.mallab("record", "-o", "r", "--only", "ruby", "--", STEPS)
        self.assertIn("no program goes by a name that --only asks for; seen: 'steps'", result.stderr.decode())

    def test_without_mallab_record(self):
        environment = {"LD_PRELOAD": str(lab.SHIM), "MALLAB_OUT": str(self.place / "r"), "MALLAB_ONLY": "ste?s"}
        lab.run(["bash", "-c", f"cat /dev/null; {STEPS} </dev/null"], env=environment)
        self.wait_for_end("r")
        self.assertEqual([p["name"] for p in self.info(self.place / "r")["process_list"]], ["steps"])
