"""The machine of a recording: it is kept, shown, and told to the allocators, which size themselves by it and not by the replaying one."""

import json
import os

import lab

POOL = lab.BUILD / "tests" / "e2e" / "pool"
THREADS = 40


class Processors(lab.Lab):
    def setUp(self):
        super().setUp()
        if lab.is_sanitized():
            self.skipTest("a sanitizer stands in for the allocators of this build")
        self.usable = sorted(os.sched_getaffinity(0))
        self.allocators = [name for name in ("glibc", "jemalloc", "tcmalloc", "mimalloc") if name in lab.candidates()]

    def recorded(self, *before):
        self.recordings = getattr(self, "recordings", 0) + 1
        recording = self.place / f"recording{self.recordings}"
        lab.run([*before, lab.BUILD / "mallab", "record", "-q", "-o", recording, "--", POOL, str(THREADS)]).check_returncode()
        workload = self.place / "pool.wl"
        self.mallab("convert", "-q", "--force", "-o", workload, recording)
        return recording, workload

    def replayed(self, name, workload, *options, before=()):
        done = lab.run([*before, lab.BUILD / "mallab", "replay", "--json", "--clock", "recorded", "-a", name, *options, workload])
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_machine_is_kept_and_shown(self):
        one = ["taskset", "-c", str(self.usable[0])]
        recording, workload = self.recorded(*one)
        online = os.sysconf("SC_NPROCESSORS_ONLN")
        for path in (recording, next(recording.glob("*.fp")), workload):
            with self.subTest(path=path.name):
                machine = self.answer("info", "--json", path)["machine_recorded"]
                self.assertEqual((machine["processors"], machine["affinity"], machine["affinity_end"]), (online, 1, 1))
                self.assertEqual((machine["kernel"], machine["page_bytes"]), (os.uname().release, os.sysconf("SC_PAGESIZE")))
                self.assertRegex(self.mallab("info", "--details", path).stdout.decode(), rf"(?m)^machine +{online} CPUs, ")
        usage = self.listing(recording)["processes"][0]["usage"]
        self.assertEqual((usage["affinity"], usage["kernel"]), (1, os.uname().release))

    def test_allocators_size_themselves_as_there(self):
        """Arenas in force are a state; peaks are as on the machine of the recording, for every allocator."""
        if len(self.usable) < 2:
            self.skipTest("one processor is all that may be used")
        for mine, other in ((("taskset", "-c", ",".join(map(str, self.usable[:2]))), ("taskset", "-c", str(self.usable[0]))),
                            (("taskset", "-c", str(self.usable[0])), ("taskset", "-c", ",".join(map(str, self.usable[:2]))))):
            _, workload = self.recorded(*mine)
            for name in self.allocators:
                with self.subTest(recorded=mine, name=name):
                    there, here = (self.replayed(name, workload, before=before) for before in (mine, other))
                    self.assertEqual(there["digest"], here["digest"])
                    self.assertIsNone(there["processors_told"])
                    self.assertEqual(here["processors_told"], len(mine[2].split(",")))
                    self.assertEqual(here["processors"], len(other[2].split(",")))  # what runs is what there is
                    self.assertEqual(there["arenas"]["made"], here["arenas"]["made"])
                    peaks = sorted(run["resident"]["peak_bytes"] for run in (there, here))
                    self.assertLess(peaks[1], 1.03 * peaks[0])  # jemalloc's were 25 % apart

    def test_what_if(self):
        _, workload = self.recorded()
        for name, most, least in (("glibc", 512, THREADS - 5), ("jemalloc", 256, THREADS - 5)):
            if name in self.allocators:
                run = self.replayed(name, workload, "--processors", "64")
                self.assertEqual((run["processors_told"], run["arenas"]["most"]), (64, most))
                self.assertGreater(run["arenas"]["made"], least)
        one = self.replayed("glibc", workload, "--processors", "1")
        self.assertEqual(one["arenas"]["made"], 9)
        self.assertEqual(one["proof"]["settings"]["glibc.malloc.arena_max"]["from"], "the loader")
        # Who sets it has set it.
        two = self.replayed("glibc+arena_max=2", workload, "--processors", "64")
        self.assertEqual((two["arenas"]["most"], two["arenas"]["made"]), (2, 2))

    def test_ab_says_so(self):
        _, workload = self.recorded()
        text = self.mallab("ab", "-q", "-n", "1", "-a", "glibc", "--processors", "64", workload).stdout.decode()
        self.assertRegex(text, r"(?m)^machine +allocators size themselves for 64 CPUs")
        result = self.answer("ab", "--json", "-q", "-n", "1", "-a", "glibc", "--processors", "64", workload)
        self.assertEqual(result["processors_asked"], 64)
        self.assertEqual(result["workloads"][0]["candidates"][0]["runs"][0]["processors_told"], 64)
        self.assertEqual(result["workloads"][0]["process"]["machine"]["affinity"], len(self.usable))
        for number in ("0", "8193", "-1", "many"):
            self.assertIn(b"--processors", self.mallab("ab", "--processors", number, workload, status=lab.MISUSE).stderr)

    def test_what_cannot_be_is_not_believed(self):
        """A text form with numbers of no machine: it is replayed as on this one."""
        _, workload = self.recorded()
        text = self.mallab("convert", "--to", "text", "-o", "-", workload).stdout.decode()
        for affinity, processors in (("0", "2"), ("9000", "9000"), ("3", "2"), ("18446744073709551615", "64"), ("", "")):
            lines = [line for line in text.splitlines(True) if "usage_affinity=" not in line and "usage_processors=" not in line]
            at = next(i for i, line in enumerate(lines) if "usage_page_bytes=" in line)
            word = lines[at].split("usage_page_bytes=")[0]
            lines[at:at] = [f"{word}usage_affinity={affinity}\n", f"{word}usage_processors={processors}\n"]
            changed = self.place / "changed.txt"
            changed.write_text("".join(lines))
            self.mallab("convert", "-q", "--force", "-o", self.place / "changed.wl", changed)
            with self.subTest(affinity=affinity):
                self.assertIsNone(self.replayed("glibc", self.place / "changed.wl")["processors_told"])

    def test_an_imported_trace_says_that_it_does_not_know(self):
        _, workload = self.recorded()
        text = self.mallab("convert", "--to", "text", "-o", "-", workload).stdout.decode()
        trace = self.place / "trace.txt"
        trace.write_text("".join(line for line in text.splitlines(True) if "usage_" not in line))
        self.mallab("convert", "-q", "-o", self.place / "trace.wl", trace)
        text = self.mallab("ab", "-q", "-n", "1", "-a", "glibc", "--details", self.place / "trace.wl").stdout.decode()
        self.assertRegex(text, r"(?m)^machine +not recorded: allocators size themselves for the \d+ CPUs here")
