"""Who allocates and who does not free: a program whose sites are known, recorded with its call stacks."""
import ctypes.util
import json
import os
import pathlib
import re
import struct
import subprocess
import unittest

import lab
from test_flame import decoded
from witnessed import REGULAR, Witnessed

OWN = ("churns", "keeps", "grows", "descends", "hands_over")


class Sites(lab.Lab):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program, cls.exact = lab.BUILD / "tests/e2e/sites", None
        cls.exact = cls.keeper().record()

    def record(self, how="--sites", name="rec"):
        self.mallab("record", "--quiet", how, "-o", name, self.program)
        return self.place / name

    def told(self, verb, *options):
        answer = json.loads(self.mallab(verb, "--json", "--top", "0", *options, self.record_path).stdout)
        return answer, {site["site"].split(" ")[0]: site for site in answer["sites"]}

    def setUp(self):
        super().setUp()
        self.record_path = self.exact

    def test_counts_of_each_function(self):
        answer, sites = self.told("sites", "--by", "function")
        expected = {"churns": (4000, 400000), "keeps": (300, 19200), "descends": (80, 4000), "hands_over": (100, 20000),
                    "grows": (44, 4 * sum(1000 * i for i in range(1, 12)))}
        for name, (calls, size) in expected.items():
            self.assertEqual((name, sites[name]["allocations"], sites[name]["bytes"]), (name, calls, size))
        self.assertEqual(sum(site["allocations"] for site in answer["sites"]), answer["allocations"])
        self.assertEqual(sites["churns"]["soon_share"], 1)
        self.assertEqual(sites["hands_over"]["elsewhere_share"], 1)
        self.assertEqual(sites["keeps"]["freed_share"], 0)
        self.assertEqual(sites["grows"]["freed_share"], 1)
        self.assertEqual(sites["keeps"]["live_bytes"], 19200)

    def test_a_stack_has_its_callers_and_lines(self):
        _, sites = self.told("sites", "--by", "site")
        frames = sites["churns"]["stack"]
        self.assertEqual([frame["function"] for frame in frames][:3], ["xmalloc", "churns", "main"])
        self.assertTrue(frames[1]["file"].endswith("sites.c"), frames[1])
        source = (lab.SOURCE / "tests/e2e/sites.c").read_text().splitlines()
        self.assertIn("xmalloc(100)", source[frames[1]["line"] - 1])

    INLINED = b"""
        #include <memory>
        #include <string>
        #include <vector>
        struct part { std::vector<std::string> names; };
        static std::vector<std::unique_ptr<part>> parts;
        static inline void name(part &p, int i) { p.names.push_back(std::string(40 + i % 50, 'x')); }
        static inline part &add() { parts.push_back(std::make_unique<part>()); return *parts.back(); }
        __attribute__((noinline)) static void fill(int depth)
        {
            for (int i = 0; i < 20; i++)
                name(add(), i);
            if (depth > 0)
                fill(depth - 1);
        }
        int main() { fill(3); return parts.size() != 80; }
    """

    @lab.needs("g++", "addr2line")
    def test_every_frame_has_its_line_and_what_is_inlined(self):
        """As addr2line tells, not only of the function that allocates; of --stacks, of the JSON and of flame --lines."""
        program = self.built(self.INLINED, "inlined", compiler=["g++", "-O2", "-g", "-x", "c++"])
        self.mallab("record", "--quiet", "--sites", "-o", "inlined.rec", program)
        printed = lab.run([lab.PROGRAMS / "print_sites", self.place / "inlined.rec"]).stdout.decode()
        addresses = {int(place, 16) - 1 for place in re.findall(rf",{re.escape(str(program))}\+(\w+)", printed)}
        lines = lab.run(["addr2line", "-i", "-a", "-e", program, *map(hex, sorted(addresses))]).stdout.decode().split("\n0x")
        expected = {tuple(re.findall(r"([^/\n]+:\d+)(?: \(discriminator \d+\))?$", frames, re.M)) for frames in lines}
        expected = {frames for frames in expected if frames} # none of the start-up code
        self.assertGreater(max(map(len, expected)), 3)
        answer = self.answer("sites", "--json", "--top", "0", "--by", "stack", "inlined.rec")
        told = [frame for site in answer["sites"] for frame in site["stack"] if frame["module"] == "inlined"]
        groups, group = set(), []
        for frame in told: # innermost first; the physical one ends an address' frames
            group.append(f"{os.path.basename(frame['file'])}:{frame['line']}" if frame["file"] else "")
            if not frame["inlined"]:
                groups.add(tuple(group))
                group = []
        self.assertEqual({frames for frames in groups if frames != ("",)}, expected)
        stacks = self.mallab("sites", "--top", "0", "--by", "stack", "--stacks", "inlined.rec").stdout.decode()
        self.mallab("flame", "--lines", "-o", "inlined.pb.gz", "inlined.rec")
        profile = {frame for stack in decoded((self.place / "inlined.pb.gz").read_bytes())[3] for frame in stack}
        for place in {place for frames in expected for place in frames}:
            self.assertRegex(stacks, rf" {re.escape(place)}\s")
            self.assertTrue(any(re.search(rf"/{re.escape(place)} ", frame) for frame in profile), place)

    RUST = b"""
        mod inner {
            pub struct Keep<T>(pub Vec<T>);
            impl<T: Clone> Keep<T> { #[inline(never)] pub fn add(&mut self, t: &T) { self.0.push(t.clone()); } }
        }
        #[inline(never)] fn lost(n: usize) -> &'static mut [u8] { Box::leak(vec![0u8; n].into_boxed_slice()) }
        fn main() {
            let mut keep = inner::Keep(Vec::new());
            for i in 0..100 { keep.add(&format!("x{}", i)); lost(i + 1)[0] = 1; }
        }
    """

    @lab.needs("rustc")
    def test_rust_allocates_where_its_own_code_does(self):
        """Vec, String, Box and format hand on; both manglings are read."""
        for mangling, options in (("default", []), ("v0", ["-C", "symbol-mangling-version=v0"])):
            program = self.built(self.RUST, mangling, *options, compiler=["rustc", "-O", "-g", "--crate-name", "web"])
            self.mallab("record", "--quiet", "--sites", "-o", f"{mangling}.rec", program)
            answer = self.answer("sites", "--json", "--top", "0", "--by", "function", f"{mangling}.rec")
            own = {site["site"]: site["allocations"] for site in answer["sites"] if "web::" in site["site"]}
            names = {"web::inner::Keep<T>::add", "<web::inner::Keep<alloc::string::String>>::add"} # legacy's, and v0's
            self.assertEqual((set(own) - names, len(set(own) & names)), ({"web::main", "web::lost"}, 1))
            self.assertEqual(own["web::lost"], 100)

    def test_each_depth_is_a_stack(self):
        answer, _ = self.told("sites", "--by", "stack")
        depths = [sum(frame["function"] == "descends" for frame in site["stack"]) for site in answer["sites"]]
        self.assertEqual(sorted(depth for depth in depths if depth > 0), list(range(1, 21)))

    def test_what_is_never_freed_comes_first(self):
        answer, _ = self.told("leaks", "--by", "function")
        self.assertEqual(answer["sites"][0]["site"], "keeps")
        self.assertEqual(sum(answer["sites"][0][f"quarter{i}_bytes"] for i in range(1, 5)), 19200)
        self.assertEqual({site["site"] for site in answer["sites"]} & set(OWN), {"keeps"})

    def counts(self, verb, path):
        figures = ("allocations", "bytes", "live_bytes", "live_objects", "peak_bytes", "freed_share", "elsewhere_share")
        answer = json.loads(self.mallab(verb, "--json", "--top", "0", "--by", "stack", "--symbols", self.program.parent,
                                        path).stdout)
        return sorted(([frame["function"] for frame in site["stack"]], [site.get(key) for key in figures])
                      for site in answer["sites"])

    def test_a_workload_tells_what_its_recording_tells(self):
        self.mallab("convert", "--quiet", "-o", "all.wl", self.record_path)
        self.assertEqual(self.counts("sites", "all.wl"), self.counts("sites", self.record_path))
        self.assertEqual(self.counts("leaks", "all.wl"), self.counts("leaks", self.record_path))
        self.assertIn(b"keeps;xmalloc 19200", self.mallab("flame", "--symbols", self.program.parent, "all.wl").stdout)

    def test_a_workload_has_names_and_no_paths(self):
        self.mallab("convert", "--quiet", "-o", "all.wl", self.record_path)
        out = self.mallab("sites", "--json", "--by", "module", "all.wl").stdout.decode()
        self.assertIn("libc.so.6", out)
        self.assertNotIn(str(self.program.parent), out)

    def test_a_section_keeps_its_sites(self):
        """From the middle of the calls on: that of the time may lie behind the last of them."""
        self.mallab("convert", "--quiet", "--to", "text", "-o", "calls.txt", self.record_path)
        times = [line.split()[1] for line in (self.place / "calls.txt").read_text().splitlines() if line.startswith("time ")]
        self.mallab("convert", "--quiet", "--from-time", f"{int(times[len(times) // 2]) / 1e9:.9f}s", "-o", "end.wl", self.record_path)
        self.assertEqual(sum(figures[2] for frames, figures in self.counts("leaks", "end.wl") if "keeps" in frames), 19200)

    def test_a_workload_without_sites(self):
        self.mallab("convert", "--quiet", "--no-sites", "-o", "none.wl", self.record_path)
        self.assertNotIn("sites", json.loads(self.mallab("info", "--json", "none.wl").stdout))
        self.assertIn("mallab record --sites", self.mallab("sites", "none.wl", status=lab.BAD_INPUT).stderr.decode())
        self.mallab("convert", "--quiet", "-o", "all.wl", self.record_path)
        self.mallab("convert", "--quiet", "--to", "text", "-o", "all.txt", "all.wl")
        self.assertIn("call sites, which are not in here", (self.place / "all.txt").read_text())
        self.mallab("convert", "--quiet", "-o", "back.wl", "all.txt")
        self.assertEqual((self.place / "back.wl").read_bytes(), (self.place / "none.wl").read_bytes())

    def test_a_sample_has_the_exact_figures_in_its_ranges(self):
        exact, known = self.told("sites", "--by", "function")
        self.record_path = self.record("--sites=4K", "sample")
        answer, sites = self.told("sites", "--by", "function")
        for key in ("allocations", "bytes", "peak_bytes", "live_bytes", "live_objects"): # four times its width, a range fails once in ten million runs
            told = answer[key] if answer[key] is not None else 0
            self.assertLess(abs(told - exact[key]), 4 * (answer[key + "_high"] - told) + 1, (key, answer))
        self.assertEqual((exact["sample_bytes"], answer["sample_bytes"]), (None, 4096))
        info, whole = self.info(self.record_path), self.info(self.exact)
        self.assertEqual((info["sample_bytes"], whole.get("sample_bytes")), (4096, None))
        self.assertLess(info["events"], whole["events"] / 3)
        self.assert_whole(info)
        for name in ("churns", "grows"):
            site = sites[name]
            self.assertGreaterEqual(site["samples"], 10)
            for key in ("allocations", "bytes"):
                self.assertLessEqual(site[key + "_low"], site[key])
                self.assertLess(abs(site[key] - known[name][key]), 4 * (site[key + "_high"] - site[key]) + 1, (name, key, site))
        self.assertEqual((sites["churns"]["soon_share"], sites["churns"]["churn"]), (None, None))
        for site in answer["sites"]:
            self.assertTrue(site["bytes"] is not None or site["samples"] < 10, site)
        self.assertEqual(set(site["most_size"] for site in answer["sites"] if site["site"] == "churns"), {100})

    def test_a_sample_is_told(self):
        self.record_path = self.record("--sites=4K", "sample")
        table = self.mallab("sites", self.record_path).stdout.decode()
        self.assertRegex(table, r"sampled +[\d,]+ objects are recorded, about one for 4\.1 kB")
        self.assertRegex(table, r"(\302\261|\u00b1|\+-)\d+ %")
        self.assertRegex(table, r"sites: about [\d,]+ \([\d,]+ to [\d,]+\) allocations of about")
        head = self.answer("sites", "--json", self.record_path)["sites"][0]
        self.assertLessEqual({"samples", "bytes_low", "bytes_high", "live_bytes_low"}, set(head))
        folded = self.mallab("flame", "--value", "bytes", self.record_path).stdout.decode()
        self.assertIn("churns", folded)
        # What is over a budget has to be so with all of its range.
        found = self.told("leaks", "--by", "function")[0]["sites"]
        self.mallab("leaks", "--tolerate", "1k", "--by", "function", self.record_path,
                    status=4 if any(one["live_bytes_low"] > 1024 for one in found) else 0)

    def test_a_sample_is_not_replayed(self):
        said = self.mallab("record", "--sites=4K", "-o", "sample", self.program).stderr.decode()
        self.assertIn("a sample of objects, one in 4.1 kB: sites, leaks and flame read it; it cannot be converted or replayed", said)
        self.assertIn("of a sample of objects, one in 4.1 kB", self.mallab("top", "--once", "sample").stdout.decode())
        self.assertEqual(json.loads(self.mallab("top", "--once", "--json", "sample").stdout)["sample_bytes"], 4096)
        self.assertRegex(self.mallab("info", "sample").stdout.decode(), "holds +a sample of objects, one in 4.1 kB")
        for verb in (("convert", "-o", "out.wl"), ("convert", "--to", "text", "-o", "out.txt"), ("ab",), ("replay",)):
            said = self.mallab(*verb, "sample", status=lab.BAD_INPUT).stderr.decode()
            self.assertIn("to replay, record without =BYTES", said)
        self.assertFalse([path for path in self.place.iterdir() if path.name.startswith("out")])
        said = self.mallab("record", "--sites=1G", "-o", "none", "true").stderr.decode()
        self.assertIn("no object was chosen, as about one for 1.1 GB is", said)

    def test_the_recorder_without_mallab_takes_a_sample(self):
        env = {"LD_PRELOAD": str(lab.BUILD / "libmallab.so"), "MALLAB_SITES": "4K", "MALLAB_OUT": str(self.place / "alone")}
        subprocess.run([self.program], env={**os.environ, **env}, check=True)
        self.wait_for_end("alone")
        self.assertEqual(json.loads(self.mallab("sites", "--json", self.place / "alone").stdout)["sample_bytes"], 4096)


class Chosen(Witnessed):
    """A sample of objects, with a counter behind: what is not chosen reaches the allocator as well, once, and what is chosen ends."""

    def record(self, name, *command, how="--sites=4K"):
        for path in self.tallies.iterdir():
            path.unlink()
        process = self.start(*command, options=("--sites",) if how is None else (how,), place=self.place / name)
        said = process.communicate(timeout=lab.PATIENCE_S)[1]
        self.assertEqual(process.returncode, 0, said)
        info = self.info(self.place / name / "recording")
        self.assert_whole(info)
        self.assertEqual([name for name, n in info["irregularities"].items() if n and name not in REGULAR], [])
        calls = sum(struct.unpack("Q", path.read_bytes()[:8])[0] for path in self.tallies.iterdir() if not path.name.startswith("mallab."))
        return info, calls

    def of_all(self, name, *options):
        return json.loads(self.mallab("sites", "--json", "--top", "0", *options, self.place / name / "recording").stdout)

    def assert_held(self, sample, exact, *keys):
        for key in keys:  # four times its width, a range fails once in ten million runs
            told = sample[key] if sample[key] is not None else 0
            self.assertLess(abs(told - exact[key]), 4 * (sample[key + "_high"] - told) + 1, (key, told, exact[key]))

    def compare(self, *command, least, how="--sites=4K"):
        for name in ("exact", "sample"):
            (self.place / name).mkdir()
        whole, calls = self.record("exact", *command, how=None)
        self.assertEqual(whole["events"], calls)
        info, again = self.record("sample", *command, how=how)
        self.assertEqual(again, calls)
        self.assertLess(info["events"], calls / 4)
        self.assertGreater(info["events"], least)
        return self.of_all("exact"), self.of_all("sample")

    def test_every_call_is_served_once(self):
        exact, sample = self.compare(lab.BUILD / "tests/e2e/sites", least=50)
        self.assert_held(sample, exact, "allocations", "bytes", "live_bytes", "live_objects", "peak_bytes")

    def test_resizes_and_alignments_of_threads(self):
        exact, sample = self.compare(lab.PROGRAMS / "told", 20_000, 3, least=500, how="--sites=32K")
        self.assert_held(sample, exact, "allocations", "bytes", "live_bytes", "live_objects")
        self.assertIsNotNone(sample["live_bytes"])

    @lab.needs("cc")
    def test_a_child_ends_what_it_inherits(self):
        program = self.place / "child"
        built = lab.run(["cc", "-O1", "-fno-builtin", "-x", "c", "-o", program, "-"], stdin=None, input=b"""
            #include <stdlib.h>
            #include <sys/wait.h>
            #include <unistd.h>
            static void *kept[400], *own[200];
            int main(void)
            {
                for (int i = 0; i < 400; i++)
                    kept[i] = i % 2 ? malloc(10000) : realloc(malloc(9000), 10000);
                if (fork() == 0) {
                    for (int i = 0; i < 300; i++)
                        free(kept[i]);
                    for (int i = 0; i < 200; i++)
                        own[i] = malloc(5000);
                    exit(0);
                }
                wait(NULL);
                for (int i = 0; i < 350; i++)
                    free(kept[i]);
                return 0;
            }
        """)
        self.assertEqual(built.returncode, 0, built.stderr)
        (self.place / "forked").mkdir()
        self.record("forked", program)
        processes = json.loads((self.place / "forked/recording/recording.json").read_text())["processes"]
        self.assertEqual(len(processes), 2)
        parent = min(process["pid"] for process in processes)
        for process in processes:
            live = (50, 500000) if process["pid"] == parent else (300, 2000000)
            told = self.of_all("forked", "--process", str(process["pid"]))
            self.assert_held(told, {"live_objects": live[0], "live_bytes": live[1]}, "live_objects", "live_bytes")
            self.assertIsNotNone(told["live_bytes"])


class Names(lab.Lab):
    """What names the code, and what does not."""

    def frames(self, *options, site="allocates", **settings):
        answer = json.loads(self.mallab("sites", "--json", "--by", "function", "--top", "0", *options, "rec", **settings).stdout)
        stack, = (one["stack"] for one in answer["sites"] if one["site"].startswith(site))
        return [frame["function"] for frame in stack]

    def test_a_perf_map_names_what_was_compiled_at_run_time(self):
        ran = lab.run([lab.BUILD / "mallab", "record", "--quiet", "--sites", "-o", "rec", lab.PROGRAMS / "jitted"], cwd=self.place)
        if ran.returncode == 77:
            self.skipTest("no code of this machine's")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        path = pathlib.Path(ran.stdout.decode().strip())
        self.addCleanup(path.unlink, missing_ok=True)
        named, unnamed = ["allocates", "LazyCompile:hot script.js:7"], ["allocates", "[jit]"]
        self.assertEqual(self.frames()[:2], named)
        now = path.stat().st_mtime
        for written in (now - 3600, now + 3600):  # by a process that had its number before, or since
            os.utime(path, (written, written))
            self.assertEqual(self.frames()[:2], unnamed)
        lab.shutil.copy(path, self.place)
        self.assertEqual(self.frames("--symbols", self.place)[:2], named)
        os.utime(path, (now, now))
        path.chmod(0o666)
        self.assertEqual(self.frames()[:2], unnamed)
        path.unlink()
        path.symlink_to(self.place / path.name)  # links are not followed to it
        self.assertEqual(self.frames()[:2], unnamed)

    def record_jitted(self, *arguments):
        lab.shutil.rmtree(self.place / "rec", ignore_errors=True)
        ran = lab.run([lab.BUILD / "mallab", "record", "--quiet", "--sites", "-o", "rec", lab.PROGRAMS / "jitted", *arguments], cwd=self.place)
        if ran.returncode == 77:
            self.skipTest("no code of this machine's")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.addCleanup(pathlib.Path(ran.stdout.decode().strip()).unlink)

    def test_a_perf_map_names_code_without_a_frame_pointer(self):
        name = "LazyCompile:hot script.js:7"
        for kind in ("framed", "bare"):
            self.record_jitted(kind)
            self.assertEqual(self.frames()[:4], ["allocates", name, "calls", "main"], kind)

    def test_a_frame_of_unknown_code_is_not_passed_over(self):
        """Its frame pointer is its caller's: what that leads to is the caller's caller."""
        self.record_jitted("strange")
        self.assertEqual(self.frames(), ["allocates", "LazyCompile:hot script.js:7"])
        said = json.loads(self.mallab("sites", "--json", "rec").stdout)
        self.assertEqual([site["cut"] for site in said["sites"] if site["allocations"] == 100], ["cfi"])

    def test_what_a_python_function_calls_allocates_for_it(self):
        name = "py::K.<lambda>:/a directory/script.py"
        self.record_jitted("bare", name)
        words = self.mallab("sites", "rec").stdout.decode()
        self.assertRegex(words, rf" 100 .* {re.escape(name)} < calls < main\n")
        self.assertIn("allocates", self.mallab("flame", "rec").stdout.decode())

    @unittest.skipUnless(ctypes.util.find_library("debuginfod"), "not installed: libdebuginfod1")
    @lab.needs("objcopy", "strip", "readelf")
    def test_servers_are_asked_for_names_only_when_told_to(self):
        program, server, cache = (self.place / name for name in ("stripped", "server", "cache"))
        self.place.chmod(0o755) # who asks for root is nobody
        lab.shutil.copy(lab.PROGRAMS / "sites", program)
        build_id = re.search(r"Build ID: (\w+)", lab.run(["readelf", "-n", program]).stdout.decode())[1]
        debug = server / "buildid" / build_id / "debuginfo"
        debug.parent.mkdir(parents=True)
        lab.run(["objcopy", "--only-keep-debug", program, debug], check=True)
        lab.run(["strip", program], check=True)
        self.mallab("record", "--quiet", "--sites", "-o", "rec", program)
        settings = {"env": {"DEBUGINFOD_URLS": f"file://{server}", "DEBUGINFOD_CACHE_PATH": str(cache)}}
        self.assertNotIn(b"churns", self.mallab("sites", "--json", "--top", "0", "rec", **settings).stdout)
        self.assertFalse(cache.exists())
        self.assertEqual(self.frames("--debuginfod", site="churns", **settings)[:3], ["xmalloc", "churns", "main"])
        self.assertEqual(cache.exists(), os.geteuid() != 0) # of root nothing is kept
