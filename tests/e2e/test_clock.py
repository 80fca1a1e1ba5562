"""The recorded clock: an allocator that gives memory back by the clock does in the replay, in no time, what it does in
the real program over seconds; on the machine's clock it does not. Bounds are wide: an allocator's purging has chance in it."""
import json
import os
import unittest

import lab

os.environ.pop("MALLOC_CONF", None)

DECAY = lab.PROGRAMS / "decay"
JEMALLOC = "libjemalloc.so.2"
DECAY_NS = 10 ** 9
SETTINGS = f"dirty_decay_ms:{DECAY_NS // 10 ** 6},muzzy_decay_ms:0"
HAS_JEMALLOC = "jemalloc" in lab.candidates()


def replay(name, workload, *options, settings="", status=lab.DONE):
    """The replay program itself, with the allocator's settings: `mallab replay` would take them out."""
    result = lab.run([lab.BUILD / f"mallab-replay-{name}", "--json", *options, workload], env={"MALLOC_CONF": settings})
    if result.returncode != status:
        raise AssertionError(f"exit code {result.returncode}: {result.stderr.decode()}")
    return json.loads(result.stdout) if status == lab.DONE else result


class Clock(lab.Lab):
    def decay(self, *arguments):
        recording = self.record(DECAY, *arguments, stdout=lab.subprocess.DEVNULL)
        return self.convert(recording)

    def really(self, settings, *arguments):
        """Peak and end of the program itself under jemalloc, which its own clock and sleeps drive."""
        words = lab.run([DECAY, *arguments], env={"LD_PRELOAD": JEMALLOC, "MALLOC_CONF": settings}).stdout.split()
        return int(words[1]), int(words[3])

    @unittest.skipUnless(HAS_JEMALLOC, "no replay program for jemalloc")
    def test_what_the_program_gives_back_over_seconds_the_replay_does(self):
        shape = (100, 4, 1000, 60_000)
        peak, end = self.really(SETTINGS, *shape)
        self.assertLess(end, peak / 2, "the program itself gave nothing back: this test shows nothing")
        workload = self.decay(*shape)
        recorded = replay("jemalloc", workload, "--clock", "recorded", settings=SETTINGS)
        # The machine's clock goes on while it replays. Where other work makes that last as long as the decay does, the replay
        # gives back what the program did: nothing is to be seen then but the recorded clock's side.
        tries = [replay("jemalloc", workload, settings=SETTINGS)]
        while tries[-1]["wall_ns"] > DECAY_NS / 4 and len(tries) < 10:
            tries.append(replay("jemalloc", workload, settings=SETTINGS))
        real = tries[-1]
        in_no_time = real["wall_ns"] <= DECAY_NS / 4
        self.assertEqual(recorded["digest"], real["digest"])
        self.assertLess(abs(recorded["resident"]["end_bytes"] - end), 0.15 * peak)
        self.assertLess(abs(recorded["resident"]["peak_bytes"] - peak), 0.1 * peak)
        if in_no_time:
            self.assertGreater(real["resident"]["end_bytes"], 0.75 * peak)
            self.assertGreater(recorded["resident"]["given_back_share"], real["resident"]["given_back_share"])
        else:
            print(f"skipped {self.id()}, its replay by the machine's clock: {len(tries)} of them took {real['wall_ns'] / 1e9:.2f} s or more")
        # It was asked as often as it moved, and says which figure to trust.
        clock = recorded["proof"]["clock"]
        self.assertGreater(clock["served"], 10)
        self.assertGreaterEqual(clock["asked"], clock["served"])
        self.assertEqual(recorded["allocator_clock"], "recorded")
        self.assertIs(recorded["resident"]["predicted"], True)
        self.assertIsNone(recorded["resident"]["not_predicted_why"])
        self.assertEqual(real["allocator_clock"], "real")
        self.assertIs(real["resident"]["predicted"], False)
        self.assertIn("clock", real["resident"]["not_predicted_why"])

    @unittest.skipUnless(HAS_JEMALLOC, "no replay program for jemalloc")
    def test_rest_and_threads_of_the_allocators_own(self):
        """A rest's calls let the allocator look at the clock; its own threads look by themselves."""
        workload = self.decay(100, 1, 50, 0)
        alone, threaded = SETTINGS, SETTINGS + ",background_thread:true"
        rest = ("--clock", "recorded", "--idle-ms", "36000000")  # ten hours, within the limit of the test
        called = replay("jemalloc", workload, *rest, settings=alone)["resident"]
        self.assertLess(called["idle_bytes"], 0.5 * called["peak_bytes"])
        self.assertEqual(called["idle_with"], "calls")
        self.assertLessEqual(called["idle_bytes"], called["end_bytes"])  # what the rest's own objects add is apart
        run = replay("jemalloc", workload, *rest, settings=threaded)
        self.assertLess(run["resident"]["idle_bytes"], 0.5 * run["resident"]["peak_bytes"])
        self.assertIs(run["resident"]["predicted"], True, run["resident"])
        self.assertEqual(run["proof"]["clock"]["own_threads"], 1)
        self.assertEqual(run["proof"]["clock"]["own_threads_unseen"], 0)

    def test_who_asks_no_clock_has_the_same_memory_on_both(self):
        workload = self.decay(20, 2, 10, 8000)
        runs = [self.answer("replay", "--json", "--clock", clock, workload) for clock in ("real", "recorded")]
        for run in runs:
            self.assertEqual(run["proof"]["clock"]["asked"], 0)
            self.assertIs(run["resident"]["predicted"], True)
        peaks = [run["resident"]["peak_bytes"] for run in runs]
        self.assertLess(abs(peaks[0] - peaks[1]), 0.02 * peaks[0])
        self.assertEqual(runs[0]["digest"], runs[1]["digest"])

    def test_every_candidate_that_follows_the_clock_asks_the_replays(self):
        """By its INI file: linked or preloaded, the run would fail otherwise. Ten calls are enough."""
        workload = self.decay(1, 1, 10, 0)
        known = self.answer("allocators", "--json")["allocators"]
        inis = {path.stem: path.read_text() for path in (lab.SOURCE / "allocators").glob("*.ini")}
        followers = [one["name"] for one in known if one["found"] and "clock = yes" in inis.get(one["name"], "")]
        if HAS_JEMALLOC:
            self.assertIn("jemalloc", followers)
        for name in followers:
            with self.subTest(candidate=name):
                run = self.answer("replay", "--json", "--clock", "recorded", "-a", name, workload)
                self.assertGreater(run["proof"]["clock"]["asked"], 0)

    def test_a_run_fails_when_the_clock_was_expected_to_be_asked(self):
        workload = self.decay(1, 1, 1, 0)
        result = replay("glibc", workload, "--clock", "recorded", "--expect-clock", status=lab.FAILED)
        self.assertIn(b"never asked", result.stderr)
        replay("glibc", workload, "--expect-clock")  # it speaks of the recorded clock only

    def test_workloads_without_time(self):
        trace = self.place / "t.rep"
        trace.write_text("1000\n2\n4\n1\na 0 100\na 1 200\nf 0\nf 1\n")
        workload = self.place / "t.wl"
        self.mallab("convert", "-q", "-o", workload, trace)
        result = self.mallab("replay", "--clock", "recorded", workload, status=lab.FAILED)
        self.assert_one_line(result, "no recorded time", workload)
        result = self.answer("ab", "--json", "-n", "1", "-a", "glibc", workload)
        (one,) = result["workloads"]
        self.assertEqual(one["memory_rounds"], 0)
        self.assertEqual(one["candidates"][0]["resident"]["clock"], "real")
        said = self.mallab("ab", "-q", "--details", "-n", "1", "-a", "glibc", workload).stdout.decode()
        self.assertIn("the workload has no recorded time", " ".join(said.split()))

    def test_ab_has_a_pass_for_memory(self):
        workload = self.decay(20, 3, 100, 8000)
        result = self.answer("ab", "--json", "-n", "2", "-a", ",".join(lab.candidates()), workload)
        (one,) = result["workloads"]
        self.assertEqual((one["rounds"], one["memory_rounds"]), (2, 2))
        for candidate in one["candidates"] + [one["control"]]:
            with self.subTest(candidate=candidate["name"]):
                resident = candidate["resident"]
                self.assertEqual((resident["clock"], resident["rounds"], candidate["time"]["clock"]), ("recorded", 2, "real"))
                self.assertIs(resident["predicted"], True)
                self.assertGreater(resident["idle_bytes"], 0)
                runs = candidate["memory_runs"]
                self.assertEqual([run["allocator_clock"] for run in runs], ["recorded", "recorded"])
                peaks = [run["resident"]["peak_bytes"] + resident.get("own_start_bytes", 0) for run in runs]
                self.assertTrue(min(peaks) <= resident["peak_bytes"] <= max(peaks), (peaks, resident["peak_bytes"]))
                self.assertEqual([one["allocator_clock"] for one in candidate["runs"]], ["real", "real"])
        self.assertNotIn("memory_runs", one["floor"])
