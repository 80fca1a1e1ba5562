"""Allocators that break a promise, end the run or need too much memory: named, with the op; the others go on."""
import json
import os
import re
import signal
import subprocess

import lab



def number(grouped):
    return int(grouped.replace(",", ""))


class Broken(lab.Lab):
    def setUp(self):
        super().setUp()
        self.one, self.many = (self.made(threads, 20_000, 21, 500, name=name) for name, threads in (("one.wl", 1), ("many.wl", 12)))

    def check(self, promise, workload, *fragments):
        result = self.mallab("replay", "--promises", "--json", "-a", promise, workload, status=lab.FAILED,
                             **self.broken_allocators(promise))
        self.assertEqual(result.stdout, b"")
        self.assert_one_line(result, *fragments)
        return result.stderr.decode()

    def test_a_sound_allocator_passes(self):
        for workload in (self.one, self.many):
            for name in lab.candidates():
                with self.subTest(workload=workload.name, candidate=name):
                    if name == "mimalloc":
                        continue  # below
                    run = self.answer("replay", "--promises", "--json", "-a", name, workload)
                    self.assertGreater(run["check"]["objects_verified"], 10_000)
                    self.assertIsNone(run["whole_ns_per_op"])
            own = self.answer("replay", "--json", "-a", "glibc", workload)
            checked = self.answer("replay", "--json", "--promises", "-a", "glibc", workload)
            self.assertEqual(checked["digest"], own["digest"])

    def test_what_mimalloc_2_0_9_does(self):
        """aligned_alloc(256, 256) comes out 128 bytes off: a real defect that the check found."""
        listed = {one["name"]: one for one in self.answer("allocators", "--json")["allocators"]}
        if not listed["mimalloc"]["found"] or listed["mimalloc"]["version"] != "2.0.9":
            self.skipTest("no mimalloc 2.0.9")
        result = self.mallab("replay", "--promises", "-a", "mimalloc", self.one, status=lab.FAILED)
        self.assert_one_line(result, "misaligned", "aligned_alloc", "no multiple of 256")

    def test_a_flood_of_messages(self):
        """200,000 lines before the cause: `ab` finds it at the end."""
        result = self.mallab("ab", "-a", "glibc,flood", "-n", "1", self.one, status=lab.FAILED, **self.broken_allocators("flood"))
        self.assertIn(b"the allocator returned NULL", result.stdout + result.stderr)

    def test_signals_end_the_run(self):
        """What ends `mallab replay` ends the run too, and the status is that signal's."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with self.subTest(number=number):
                env = {**os.environ, **self.broken_allocators("hang")["env"]}
                process = subprocess.Popen([lab.BUILD / "mallab", "replay", "-a", "hang", self.one], env=env,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                while not lab.children(process.pid):
                    self.assertIsNone(process.poll())
                process.send_signal(number)
                # The pipes end when both have: a run that lives on would hold them open.
                process.communicate(timeout=300)
                self.assertEqual(process.returncode, -number)

    def test_broken_promises(self):
        cases = {
            "overlap": "overlapping: its|overwritten while the program had it", # by another thread, which was quicker
            "misalign": "misaligned:",
            "smear": "overwritten while the program had it",
            "realloc": "not kept when it was resized: byte 50 ",
            "calloc": "not zero: byte",
        }
        for promise, words in cases.items():
            for workload in (self.one, self.many):
                with self.subTest(promise=promise, workload=workload.name):
                    said = self.check(promise, workload)
                    self.assertRegex(said, words)
                    self.assertRegex(said, r"seen at op [\d,]+ \(|seen after the last op")

    def test_the_op_at_fault_is_the_same_each_time(self):
        """One thread: the same op, whichever way the run ends."""
        said = {self.check("overlap", self.one, "seen at op") for _ in range(2)}
        self.assertEqual(len(said), 1)
        null = self.check("null", self.one, "returned NULL", "B in", "objects live", "MB available: the allocator is broken")
        crash = self.check("abort", self.one, "SIGABRT in op ")
        self.assertEqual(re.search(r"(?:at|in) op ([\d,]+)", null)[1], re.search(r"in op ([\d,]+)", crash)[1])
        timed = self.mallab("replay", "-a", "abort", self.one, status=lab.FAILED, **self.broken_allocators("abort"))
        first, last = map(number, re.search(r"one of the ops ([\d,]+) to ([\d,]+)", timed.stderr.decode()).groups())
        self.assertTrue(first <= number(re.search(r"in op ([\d,]+)", crash)[1]) <= last, (timed.stderr, crash))

    def test_one_fault_has_one_reason(self):
        """Whatever is in errno, a calloc has no alignment that could be refused; in a timed run, a check and `ab`."""
        directory = self.broken_allocators("vague")
        reason = r"returned NULL at op [\d,]+: .*; the machine has [\d,]+ MB available: the allocator is broken"
        for options in ((), ("--promises",)):
            with self.subTest(options=options):
                said = self.mallab("replay", *options, "-a", "vague", self.one, status=lab.FAILED, **directory)
                self.assertRegex(said.stderr.decode(), reason)
        result = self.mallab("ab", "-q", "-n", "1", "-a", "glibc,vague", self.one, status=lab.FAILED, **directory)
        self.assertRegex(result.stderr.decode(), reason)

    def test_a_crash_under_a_limit_names_the_limit_first(self):
        """Where calls are refused the crash may be of that; the allocator without a limit is told the rest alone."""
        directory = self.broken_allocators("abort")
        limited = self.mallab("replay", "-a", "abort", "--limit", "20G", "--limit-by", "data", self.one, status=lab.FAILED, **directory)
        self.assert_one_line(limited, "the limit is 21.5 GB, and it may not bear a mapping that is refused; else it does not bear a call")
        free = self.mallab("replay", "-a", "abort", self.one, status=lab.FAILED, **directory)
        self.assertNotIn(b"limit", free.stderr)

    def test_the_others_go_on(self):
        promises = ["null", "abort", "hang", "overlap"]
        result = self.mallab("ab", "--json", "-q", "-n", "2", "--timeout", "5s", "-a", ",".join(["glibc"] + promises),
                             self.one, status=lab.FAILED, **self.broken_allocators(*promises))
        entries = {one["name"]: one for one in json.loads(result.stdout)["workloads"][0]["candidates"]}
        self.assertIsNone(entries["glibc"]["failed"])
        self.assertEqual(len(entries["glibc"]["runs"]), 2)
        self.assertEqual(entries["null"]["failure"]["cause"], "null")
        self.assertGreater(entries["null"]["failure"]["live_bytes"], 0)
        self.assertIn("died: the allocator returned NULL", entries["null"]["failed"])
        self.assertEqual((entries["abort"]["failure"]["cause"], entries["abort"]["failure"]["signal"]),
                         ("crash", signal.SIGABRT))
        self.assertIn("gave no answer in 5 s", entries["hang"]["failed"])
        table = self.mallab("ab", "-q", "--details", "-n", "2", "--promises", "--timeout", "5s", "-a", "glibc,null,overlap", self.one,
                            status=lab.FAILED, **self.broken_allocators(*promises))
        text = table.stdout.decode()
        self.assertRegex(text, r"null +- .* died")
        self.assertRegex(text, r"overlap +- .* failed")
        self.assertIn("overlapping", " ".join(text.split()))

    def test_broken_in_the_rest(self):
        """Calls of the harness, behind the recording's: the phase is named, --promises makes them, and nothing is left in figures."""
        late = self.broken_allocators("abort", "overlap", at=40_000)
        result = self.mallab("replay", "--promises", "-a", "abort", self.one, status=lab.FAILED, **late)
        self.assert_one_line(result, "SIGABRT in the rest after the last op, at its call ", "malloc of ",
                             "a call of the harness and none of the recording")
        result = self.mallab("replay", "--promises", "-a", "overlap", self.one, status=lab.FAILED, **late)
        self.assert_one_line(result, "seen in the rest after the last op, at its call ", "overlapping: its", " of the rest made")
        self.mallab("replay", "-a", "abort", self.one, **late)
        result = self.mallab("ab", "--json", "-q", "-n", "1", "-a", "glibc,abort", "-o", self.place / "rest.json", self.one,
                             status=lab.FAILED, **late)
        entry = json.loads(result.stdout)["workloads"][0]["candidates"][1]
        self.assertEqual((entry["failure"]["cause"], entry["failure"]["call"]), ("crash", "malloc"))
        self.assertGreater(entry["failure"]["rest_call"], 0)
        self.assertNotIn("op", entry["failure"])
        self.assertIsNone(entry["waste"])
        self.assertIsNone(entry["faults_minor"])

    def test_one_thread(self):
        """All calls on one thread, in ab and in replay; both say so."""
        arguments = ["ab", "-q", "-n", "1", "-a", "glibc"]
        one = self.answer(*arguments, "--one-thread", "--json", "-o", "one.json", self.many)
        self.assertIs(self.answer(*arguments, "--json", "-o", "two.json", self.many)["one_thread"], False)
        self.assertIs(one["one_thread"], True)
        self.assertEqual({run["threads_as"] for run in one["workloads"][0]["candidates"][0]["runs"]}, {"one"})
        told = "the calls of 12 threads ran on one"
        self.assertIn(told, " ".join(self.mallab("report", "one.json").stdout.decode().split()))
        self.assertNotIn(told, " ".join(self.mallab("report", "two.json").stdout.decode().split()))
        run = self.answer("replay", "--one-thread", "--json", "-a", "glibc", self.many)
        self.assertEqual(run["threads_as"], "one")

    def test_limit(self):
        """Too little memory ends a run with the op and what was live; enough of it changes nothing."""
        own = self.answer("replay", "--json", "-a", "glibc", self.one)
        self.assertIsNone(own["limit"])
        wide = self.answer("replay", "--json", "-a", "glibc", "--limit", "1G", "--limit-by", "data", self.one)
        self.assertEqual(wide["limit"]["bytes"], 1 << 30)
        self.assertEqual(wide["digest"], own["digest"])
        narrow = own["live_peak_bytes"] // 2
        result = self.mallab("replay", "-a", "glibc", "--limit", narrow, "--limit-by", "data", self.one, status=lab.FAILED)
        self.assert_one_line(result, f"the limit is {narrow / 1e6:.1f} MB", "objects live")
        compared = self.mallab("ab", "--json", "-q", "-n", "1", "--limit", narrow, "--limit-by", "data", "-a", "glibc",
                               self.one, status=lab.FAILED)
        compared = json.loads(compared.stdout)
        self.assertEqual((compared["limit_bytes"], compared["limit_by"]), (narrow, "RLIMIT_DATA"))
        failure = compared["workloads"][0]["candidates"][0]["failure"]
        self.assertEqual((failure["cause"], failure["limit_bytes"]), ("null", narrow))
        self.assertLessEqual(failure["live_bytes"], narrow + 400_000)

    def test_limit_below_what_is_mapped_at_load(self):
        """What an allocator maps before the first op is its own: else one that maps ahead would survive any limit."""
        result = self.mallab("replay", "-a", "glibc", "--limit", "4K", "--limit-by", "data", self.one, status=lab.FAILED)
        self.assert_one_line(result, "B were mapped before the first op", "the limit is 4.1 kB")
        if "mimalloc" in lab.candidates():
            run = self.mallab("replay", "-a", "mimalloc", "--limit", "8M", "--limit-by", "data", self.one, status=lab.FAILED)
            self.assert_one_line(run, "the limit is 8.4 MB")
