"""The replay binaries by themselves: one digest everywhere, the right allocator or none, no crash on bad input."""
import json
import resource

import lab

REFUSING = lab.PROGRAMS / "librefusing.so"
LACKING = lab.PROGRAMS / "liblacking.so"
BIG_AT = 12_345


def replay(name, *arguments, **settings):
    return lab.run([lab.BUILD / f"mallab-replay-{name}", *arguments], **settings)


class Replay(lab.Lab):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        keeper = cls.keeper()
        cls.many = keeper.made(40, 60_000, 11, 500, name="many.wl")  # threads that come and go
        cls.one = keeper.made(1, 30_000, 12, 0, BIG_AT, name="one.wl")
        cls.names = lab.candidates()

    def run_json(self, name, *arguments, **settings):
        result = replay(name, "--json", *arguments, **settings)
        self.assertEqual(result.returncode, lab.DONE, result.stderr)
        self.assertEqual(result.stderr, b"")
        return json.loads(result.stdout)

    def test_figures_fit_together(self):
        run = self.run_json("glibc", self.many)
        self.assertEqual(run["schema"], "mallab-run/1")
        self.assertEqual((run["ops"], run["threads"], run["threads_started"]), (60_000, 40, 39))
        self.assertEqual(run["windows"], 120)
        for values in (run["batch_ns"], *run["samples"].values()):
            self.assertEqual(len(values), run["windows"])
        self.assertAlmostEqual(sum(run["batch_ns"]), run["allocator_ns"], delta=run["windows"])
        self.assertAlmostEqual(run["allocator_ns"] / run["ops"], run["whole_ns_per_op"], delta=0.01)
        resident = run["resident"]
        samples = run["samples"]["resident_bytes"]
        self.assertGreaterEqual(resident["peak_bytes"], max(samples))
        self.assertEqual(resident["end_bytes"], samples[-1])
        self.assertTrue(min(samples) <= resident["mean_bytes"] <= max(samples))
        self.assertGreater(resident["peak_bytes"], run["live_peak_bytes"])
        self.assertEqual(run["samples"]["live_bytes"][-1], run["live_end_bytes"])
        self.assertGreater(run["faults_minor"] * 4096, resident["peak_bytes"] * 0.9)

    def test_a_long_run_is_told_in_pieces(self):
        """What is printed does not grow with a workload's length: 6,000 windows are told in pieces of three."""
        long = self.made(1, 60_000, 11, 10)
        run = self.run_json("glibc", long)
        self.assertEqual(run["windows"], 6_000)
        for values in (run["batch_ns"], *run["samples"].values()):
            self.assertEqual(len(values), 2_000)
        self.assertAlmostEqual(sum(run["batch_ns"]), run["allocator_ns"], delta=2_000)
        self.assertEqual(run["samples"]["time_ns"], sorted(run["samples"]["time_ns"]))
        highest = self.run_json("glibc", "--waste", long)["waste"]["peak"]["live_bytes"]
        self.assertEqual(max(run["samples"]["live_bytes"]), highest)

    def test_idle(self):
        run = self.run_json("glibc", self.one)
        self.assertIsNone(run["resident"]["idle_bytes"])
        self.assertIn("idle_note", run["resident"])
        run = self.run_json("glibc", "--idle-ms", "20", self.one)
        self.assertGreater(run["resident"]["idle_bytes"], 0)
        run = self.run_json("glibc", "--idle-ms", "20", "--clock", "recorded", self.one)
        # A rest's own 0.5 MB are no part of it: the program made no call since its end.
        self.assertLessEqual(run["resident"]["idle_bytes"], run["resident"]["end_bytes"])
        self.assertGreaterEqual(run["resident"]["idle_own_bytes"], 0)

    def test_none_calls_no_allocator(self):
        for workload in (self.one, self.many):
            run = self.run_json("none", workload)
            self.assertEqual(run["proof"]["harness_calls"], 0)
            self.assertIs(run["proof"]["ok"], True)
            self.assertLess(run["resident"]["peak_bytes"], 1 << 20)

    def test_lies_are_found(self):
        """Another library in front, an expectation that does not hold, an allocator that cannot answer."""
        lies = [("glibc", ["--expect-library", "libjemalloc.so.2"], {}),
                ("glibc", ["--expect-library", "/nowhere/libc.so.6"], {}),
                ("glibc", ["--proof", "jemalloc"], {}),
                ("glibc", [], {"LD_PRELOAD": str(REFUSING)})]
        if "jemalloc" in self.names and "mimalloc" in self.names:
            lies.append(("jemalloc", [], {"LD_PRELOAD": "libmimalloc.so.2"}))
            lies.append(("mimalloc", ["--expect-library", "libjemalloc.so.2"], {}))
            lies.append(("glibc", ["--expect-library", "libmimalloc.so.2", "--proof", "jemalloc"],
                         {"LD_PRELOAD": "libmimalloc.so.2"}))
        for name, arguments, environment in lies:
            with self.subTest(name=name, arguments=arguments, environment=environment):
                result = replay(name, "--json", *arguments, self.one, env=environment)
                self.assertEqual(result.returncode, lab.FAILED, result.stderr)
                self.assertEqual(result.stdout, b"")
                self.assert_one_line(result, "wrong allocator")

    def test_a_library_that_lacks_a_function(self):
        """That is the candidate's lack, told with its name: the allocator is the right one."""
        result = replay("glibc", "--candidate", "./mine.so", "--expect-library", LACKING, self.one, env={"LD_PRELOAD": str(LACKING)})
        self.assertEqual(result.returncode, lab.FAILED, result.stderr)
        self.assert_one_line(result, "the candidate './mine.so' lacks posix_memalign", "of its own")
        self.assertNotIn(b"wrong allocator", result.stderr)

    def test_preloaded_library(self):
        run = self.run_json("glibc", "--expect-library", REFUSING, self.made(3, 20_000, 14),
                            env={"LD_PRELOAD": str(REFUSING)})
        self.assertEqual(run["proof"]["malloc_library"], str(REFUSING.resolve()))
        self.assertEqual(run["proof"]["free_library"], str(REFUSING.resolve()))
        # It has no memalign and no valloc of its own; glibc's would return memory of another heap.
        for call in ("memalign", "aligned_alloc", "valloc", "pvalloc", "reallocarray", "free_sized"):
            self.assertIn(call, run["substituted"])
        self.assertNotIn("malloc", run["substituted"])

    def test_ends_of_threads_are_time_of_the_allocator(self):
        """Each thread of the library's works for 3 ms of processor time as it ends, in no call. Threads that the recording did not
        see end are the harness's to end, and cost nothing."""
        threads = self.made(30, 20_000, 15, 700)
        def told(workload):
            return self.run_json("glibc", "--expect-library", REFUSING, workload, env={"LD_PRELOAD": str(REFUSING), "BROKEN": "linger"})
        run, ended = told(threads), json.loads(self.mallab("info", "--json", threads).stdout)["thread_exits"]
        self.assertGreaterEqual(run["lives_ns"], 3_000_000 * ended)
        self.assertLess(run["lives_ns"], 3_000_000 * run["threads_started"])
        self.assertGreaterEqual(run["allocator_ns"], run["lives_ns"])
        self.assertAlmostEqual(sum(run["batch_ns"]), run["allocator_ns"], delta=len(run["batch_ns"]))
        self.assertEqual(self.run_json("glibc", self.one)["lives_ns"], 0)

    def test_refused_request_is_named(self):
        for arguments in ([], ["--threads", "1"]):
            result = replay("glibc", "--expect-library", REFUSING, *arguments, self.one,
                            env={"LD_PRELOAD": str(REFUSING)})
            self.assertEqual(result.returncode, lab.FAILED, result.stderr)
            self.assert_one_line(result, f"NULL at op {BIG_AT:,}: malloc of 1,234,567 bytes by thread 0")
        threads = self.made(30, 20_000, 15, 700, BIG_AT)
        result = replay("glibc", "--expect-library", REFUSING, threads, env={"LD_PRELOAD": str(REFUSING)})
        self.assertEqual(result.returncode, lab.FAILED, result.stderr)
        self.assert_one_line(result, f"NULL at op {BIG_AT:,}: malloc of 1,234,567 bytes by thread ")

    def test_damaged_workloads(self):
        """That each is seen tests/unit decides; here that it is told, also in the middle of a run."""
        whole = self.many.read_bytes()
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 1
        path = self.place / "damaged.wl"
        for content in (b"", whole[:40], whole[:-1], flipped):
            path.write_bytes(content)
            result = replay("glibc", "--json", path)
            self.assertEqual((result.returncode, result.stdout), (lab.BAD_INPUT, b""), result.stderr)
            self.assert_one_line(result, path)

    def test_empty_workload(self):
        path = self.made(1, 0, 1)
        for name in ("none", "glibc"):
            run = self.run_json(name, path)
            self.assertEqual((run["ops"], run["windows"], run["whole_ns_per_op"]), (0, 0, 0))

    def test_little_memory(self):
        """Whatever cannot be had, the answer is a whole one, or one line and no answer."""
        codes = set()
        for megabytes in range(4, 68, 4):
            limits = (megabytes << 20, megabytes << 20)
            result = replay("glibc", "--json", self.many,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits))
            codes.add(result.returncode)
            with self.subTest(megabytes=megabytes, said=result.stderr):
                if result.returncode == lab.DONE:
                    self.assertEqual(json.loads(result.stdout)["ops"], 60_000)
                elif result.returncode != 127:  # the loader's, before main
                    self.assertEqual(result.returncode, lab.FAILED)
                    self.assertEqual(result.stdout, b"")
                    self.assert_one_line(result)
        self.assertIn(lab.FAILED, codes)

    def test_timeout(self):
        result = replay("glibc", "--timeout", "1", "--idle-ms", "200000", self.one)
        self.assertEqual(result.returncode, lab.FAILED, result.stderr)
        self.assertEqual(result.stdout, b"")
        self.assert_one_line(result, "timeout")

    def test_misuse(self):
        for arguments in ([], [self.one, self.one], ["--bogus", self.one],
                          ["--threads", "2", self.one], ["--idle-ms", "-1", self.one], ["--timeout"],
                          ["--proof", "word", self.one]):
            with self.subTest(arguments=arguments):
                result = replay("glibc", *arguments)
                self.assertEqual(result.returncode, lab.MISUSE, result.stderr)
                self.assertEqual(result.stdout, b"")
                self.assert_one_line(result)
