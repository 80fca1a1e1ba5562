"""A memory limit by control groups: who needs more is killed and told of, who does not is not disturbed, the harness does not
count, and no group is left behind however mallab ends. Skipped where no group with a memory controller can be made."""
import json
import os
import signal
import subprocess

import groups
import lab



class Limit(lab.Lab):
    def setUp(self):
        super().setUp()
        self.group = groups.Group(self)
        self.here = ["--limit-in", self.group.place]
        self.one = self.made(1, 60_000, 21, 500, name="one.wl")

    def tearDown(self):
        self.assertEqual(self.group.left(), [])

    def told(self, *arguments, **settings):
        return self.mallab("ab", "-q", "-n", "1", *self.here, *arguments, self.one, **settings)

    def test_one_run(self):
        own = self.answer("replay", "--json", "-a", "glibc", self.one)
        wide = self.answer("replay", "--json", "-a", "glibc", "--limit", "1G", *self.here, self.one)
        limit = wide["limit"]
        self.assertEqual(wide["digest"], own["digest"])
        self.assertEqual((limit["by"], limit["bytes"], limit["at_limit_count"]), (f"cgroup v{self.group.version}", 1 << 30, 0))
        self.assertGreater(limit["base_bytes"], 0)
        if limit["peak_bytes"] is not None:
            # Batches of 64 pages that each processor charges ahead, tables of pages, and the files of the run.
            self.assertAlmostEqual(limit["peak_bytes"], wide["resident"]["peak_bytes"], delta=6 << 20)
        narrow = own["live_peak_bytes"] // 2
        killed = self.mallab("replay", "-a", "glibc", "--limit", narrow, *self.here, self.one, status=lab.FAILED)
        self.assertEqual(killed.stdout, b"")
        self.assert_one_line(killed, "the kernel killed it for want of memory in one of the ops", f"the limit is {narrow / 1e6:.1f} MB")

    def test_what_is_mapped_does_not_count(self):
        """Twice what is in memory at the peak is enough, whatever an allocator maps ahead; tcmalloc and mimalloc map more."""
        for name in lab.candidates():
            peak = self.answer("replay", "--json", "-a", name, self.one)["resident"]["peak_bytes"]
            run = self.answer("replay", "--json", "-a", name, "--limit", 2 * peak + (4 << 20), *self.here, self.one)
            self.assertEqual(run["limit"]["at_limit_count"], 0)
        if "mimalloc" in lab.candidates():
            self.mallab("replay", "-a", "mimalloc", "--limit", 2 * peak + (4 << 20), "--limit-by", "data", self.one,
                        status=lab.FAILED)

    def test_who_survives(self):
        narrow = self.answer("replay", "--json", "-a", "glibc", self.one)["live_peak_bytes"] // 2
        out = self.place / "result.json"
        self.told("-a", "glibc", "--limit", narrow, "-o", out, status=lab.FAILED)
        result = json.loads(out.read_text(encoding="utf-8"))
        self.assertEqual((result["limit_bytes"], result["limit_by"], result["limit_by_why"]),
                         (narrow, f"cgroup v{self.group.version}", None))
        entry = result["workloads"][0]["candidates"][0]
        failure = entry["failure"]
        self.assertEqual((failure["cause"], failure["limit_bytes"]), ("oom", narrow))
        self.assertTrue(0 <= failure["op"] <= failure["op_last"] < 60_000, failure)
        self.assertLessEqual(failure["live_bytes"], narrow)
        self.assertLessEqual(failure.get("peak_bytes", 0), narrow + (8 << 20))
        text = " ".join(self.mallab("report", "--details", out).stdout.decode().split())
        self.assertIn("glibc - died", text)
        self.assertIn("no candidate survives the limit of", text)
        self.assertIn(f"as in a container: cgroup v{self.group.version}, without swap", text)
        page = subprocess.run([lab.BUILD / "mallab", "report", "--format", "html", "-o", "-", out], capture_output=True, check=True)
        self.assertIn("for want of memory", page.stdout.decode())
        wide = json.loads(self.told("--json", "-a", "glibc", "--limit", "1G").stdout)["workloads"][0]["candidates"][0]
        self.assertIsNone(wide["failed"])
        self.assertGreaterEqual(wide["limit"]["runs"], 1)
        self.assertEqual((wide["limit"]["runs_at_limit"], wide["limit"]["at_limit_count_max"]), (0, 0))

    def test_a_survivor_without_room(self):
        """Pages that an allocator does not need count until the kernel takes them back, which it does before it kills."""
        env = self.broken_allocators("lazy")["env"]
        wide = self.answer("replay", "--json", "-a", "lazy", *self.here, "--limit", "1G", self.one, env=env)
        self.assertEqual(wide["limit"]["at_limit_count"], 0)
        limit = wide["resident"]["peak_bytes"] - (16 << 20)
        run = self.answer("replay", "--json", "-a", "lazy", *self.here, "--limit", limit, self.one, env=env)
        self.assertGreater(run["limit"]["at_limit_count"], 0)
        words = self.mallab("replay", "-a", "lazy", *self.here, "--limit", limit, self.one, env=env).stdout.decode()
        self.assertRegex(words, r"(?m)^limit\.at_limit_count +[1-9]")
        # Without recorded time no run ends with a rest, whose objects would not fit: this allocator takes none back.
        self.mallab("convert", "-q", "--to", "text", "-o", "one.txt", self.one)
        lines = (self.place / "one.txt").read_text().splitlines(True)
        (self.place / "timeless.txt").write_text("".join(line for line in lines if not line.startswith(("time ", "end "))) + "end 0\n")
        self.mallab("convert", "-q", "-o", "timeless.wl", "timeless.txt")
        told = self.mallab("ab", "-q", "--details", "-n", "1", *self.here, "-a", "lazy", "-b", "lazy", "--limit", limit, "timeless.wl", env=env)
        text = " ".join(told.stdout.decode().split())
        self.assertRegex(text, r"ran into it and went on: lazy in ([0-9]+) of \1 runs, up to [0-9,]+ times\.")

    def test_a_recorded_program_that_the_kernel_kills(self):
        """For want of memory in a group of 64 MiB: each call before is recorded, and how it ended."""
        group = self.group.below("own")
        for name, most in (("memory.limit_in_bytes", 64 << 20), ("memory.memsw.limit_in_bytes", 64 << 20), ("memory.max", 64 << 20), ("memory.swap.max", 0)):
            if (group / name).exists():
                groups.put(group / name, str(most))
        eats = "kept = []\nwhile True: kept.append(b\"x\" * (1 << 20))"
        recording = self.record("sh", "-c", f"echo $$ >{group}/cgroup.procs; exec /usr/bin/python3 -S -c '{eats}'", status=-signal.SIGKILL,
                                env={"PYTHONMALLOC": "malloc"})
        info = self.info(recording)
        self.assert_whole(info)
        self.assertEqual(info["ended"], {"how": "signal", "code": signal.SIGKILL})
        (large,) = [one["count"] for one in info["sizes"] if one["from_bytes"] == 1 << 20]
        self.assertTrue(25 <= large <= 64, large)

    def test_where_there_can_be_none(self):
        """Said before anything is done, with a remedy."""
        made = self.place / "made"
        for directory, words in (("/nowhere", "No such file"), ("/tmp", "no group of the memory controller")):
            told = self.mallab("ab", "--limit", "8M", "--limit-in", directory, "--", "touch", made, status=lab.FAILED)
            self.assert_one_line(told, "no memory limit by control groups here", words, "--limit-by data")
        self.assertFalse(made.exists())

    def hang(self):
        """A run that never ends, in a group; returns mallab, and the group's directory once the run is in it, not before:
        mallab's trial of the place is another group, which comes and goes."""
        env = self.broken_allocators("hang")["env"]
        process = subprocess.Popen([lab.BUILD / "mallab", "replay", "-a", "hang", "--limit", "1G", *self.here, self.one],
                                   env={**os.environ, **env}, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        running = lambda: [group for group in self.group.left() if groups.has_run(group)]
        lab.wait_for(lambda: running() or process.poll() is not None, "its run")
        return process, running()[0]

    def test_interrupted(self):
        process, _ = self.hang()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(self.group.left(), [])

    def test_killed(self):
        """The run dies with mallab; its group stays, until the next mallab removes it."""
        process, group = self.hang()
        process.kill()
        process.communicate(timeout=lab.PATIENCE_S)  # the pipes end when the run has ended, too
        lab.wait_for(lambda: not groups.members(group), "its end")
        self.assertEqual(self.group.left(), [group])
        self.mallab("replay", "-a", "glibc", "--limit", "1G", *self.here, self.one)

    def test_nothing_is_taken_from_others(self):
        """A group of a mallab that is at work has no members for a moment: nobody else removes it."""
        process, group = self.hang()
        try:
            self.mallab("replay", "-a", "glibc", "--limit", "1G", *self.here, self.one)
            self.assertEqual(self.group.left(), [group])
        finally:
            process.terminate()
            process.communicate(timeout=lab.PATIENCE_S)
