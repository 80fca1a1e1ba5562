"""Settings of candidates: in force and read back from the allocator, or the run fails and names them."""

import lab


class Settings(lab.Lab):
    def setUp(self):
        super().setUp()
        self.workload = self.made(8, 20_000, 11, 500)

    def needs(self, name):
        if name not in lab.candidates():
            self.skipTest(f"no {name} in this build")

    def settings(self, candidate):
        return self.answer("replay", "--json", "-a", candidate, self.workload)["proof"]["settings"]

    def refused(self, candidate, *fragments):
        result = self.mallab("replay", "--json", "-a", candidate, self.workload, status=lab.MISUSE)
        self.assertEqual(result.stdout, b"")
        line = result.stderr.decode().splitlines()[-1]  # jemalloc says something of its own before
        for fragment in fragments:
            self.assertIn(fragment, line)

    def test_every_candidate_and_every_range_is_proven(self):
        listed = self.answer("allocators", "--json")["allocators"]
        tried = 0
        for candidate in (one for one in listed if one["found"]):
            names = [candidate["name"]]
            for values in candidate["ranges"]:
                names += [f"{candidate['name']}+{values['setting']}={value}"
                          for value in (values["values"][0], values["values"][-1])]
            for name in names:
                with self.subTest(candidate=name):
                    settings = self.settings(name)
                    for entry in settings.values():
                        self.assertIsNotNone(entry["found"])
                        self.assertNotEqual(entry["from"], "nobody")
                    self.assertEqual(bool(settings), bool(candidate["environment"]) or "=" in name)
                    tried += "=" in name
        self.assertGreater(tried, 5)

    # What comes of settings, as the allocator answers: what the loader accepted is on its list.
    FOUND = {"glibc+tcache_count=3+mmap_threshold=200000+arena_max=2": {"tcache_count": 3, "mmap_threshold": 200000, "arena_max": 2},
             "jemalloc+narenas=1+dirty_decay_ms=-1+thp=always+tcache=false":
                 {"narenas": "1", "dirty_decay_ms": "-1", "thp": "always", "tcache": "false"},
             "jemalloc+narenas=3+oversize_threshold=0": {"narenas": "3", "oversize_threshold": "0"},
             "jemalloc+background_thread=true+max_background_threads=2": {"background_thread": "true", "max_background_threads": "2"},
             "tcmalloc+release_rate=2.5+max_total_thread_cache_bytes=1048576":
                 {"TCMALLOC_RELEASE_RATE": "2.5", "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES": "1048576"},
             "mimalloc+decommit_delay=0+eager_commit=no+reserve_os_memory=64M":
                 {"MIMALLOC_DECOMMIT_DELAY": "0", "MIMALLOC_EAGER_COMMIT": "0", "MIMALLOC_RESERVE_OS_MEMORY": "65536"}}
    REFUSED = (("glibc+arenamax=2", "no tunable of that name", "is it spelt right?"), ("glibc+tcache_count=70000", "at most 65535"),
               ("glibc+tcache_count=2K", "no whole number"), ("glibc+FOO=1", "FOO=1", "cannot be proven"),
               ("glibc+hugetlb=12288", "hugetlb=12288", "no effect", "no huge pages"),  # no machine has pages of 12 KiB
               ("jemalloc+narens=1", "this jemalloc has no 'opt.narens'", "is it spelt right?"),
               ("jemalloc+narenas=many", "opt.narenas", "'many'", "mallctl"),
               # Asked for and echoed by opt.*, but not what came of it.
               ("jemalloc+narenas=100000", "opt.narenas", "'100000'", "'4094'"), ("jemalloc+tcache_max=5000", "opt.tcache_max", "'5000'", "'5120'"),
               ("jemalloc+GLIBC_TUNABLES=glibc.malloc.arena_max=1", "arena_max", "no effect"),
               ("tcmalloc+max_total_thread_cache_bytes=10", "'10'", "'524288'"), ("tcmalloc+releaserate=1", "TCMALLOC_RELEASERATE=1 cannot be proven"),
               ("mimalloc+decommit=0", "no option 'DECOMMIT'"), ("mimalloc+decommit_delay=soon", "'soon'", "mi_option_get"))

    def test_what_is_found(self):
        for candidate, expected in self.FOUND.items():
            if candidate.split("+")[0] in lab.candidates():
                with self.subTest(candidate=candidate):
                    settings = self.settings(candidate)
                    is_loaders = {entry["from"] for entry in settings.values()} == {"the loader"}
                    self.assertEqual(is_loaders, candidate.startswith("glibc"))
                    self.assertEqual({name.split(".")[-1]: int(entry["found"], 0) if is_loaders else entry["found"]
                                      for name, entry in settings.items()}, expected)

    def test_what_is_refused(self):
        for candidate, *fragments in self.REFUSED:
            if candidate.split("+")[0] in lab.candidates():
                with self.subTest(candidate=candidate):
                    self.refused(candidate, *fragments)

    def test_arenas_are_counted_that_there_are(self):
        for most in (1, 2, 3):
            run = self.answer("replay", "--json", "-a", f"glibc+arena_max={most}", self.workload)
            self.assertEqual(run["arenas"], {"most": most, "made": most})

    def test_a_library_by_its_path(self):
        """Its kind is known by what it exports, and then its settings are read back too."""
        self.needs("jemalloc")
        library = next(one["library"] for one in self.answer("allocators", "--json")["allocators"]
                       if one["name"] == "jemalloc")
        self.assertEqual(self.settings(f"{library}+MALLOC_CONF=narenas:1")["opt.narenas"]["found"], "1")
        self.refused(f"{library}+MALLOC_CONF=narens:1", "opt.narens")

    def test_expectations_and_what_passes_unproven(self):
        directory = self.place / "allocators"
        directory.mkdir()
        head = "[allocator]\nname = {}\nreplay = glibc\nlibrary = libc.so.6\nproof = glibc\n"
        files = {
            "right": "[expect]\nglibc.malloc.arena_max = 0\n",
            "wrong": "[expect]\nglibc.malloc.arena_max = 2\n",
            "lenient": "settings = unproven\n[environment]\nFOO = 1\n",
        }
        for name, text in files.items():
            (directory / f"{name}.ini").write_text(head.format(name) + text)
        settings = {"env": {"MALLAB_ALLOCATORS": str(directory)}}
        self.mallab("replay", "-a", "right", self.workload, **settings)
        result = self.mallab("replay", "-a", "wrong", self.workload, status=lab.FAILED, **settings)
        self.assert_one_line(result, "glibc.malloc.arena_max", "asked to be '2'", "'0x0'")
        run = self.answer("replay", "--json", "-a", "lenient", self.workload, **settings)
        self.assertEqual(run["proof"]["settings"], {"FOO": {"asked": "1", "found": None, "from": "nobody"}})

    def test_ab_passes_on_what_an_allocator_says(self):
        """Once, though it says it in each run; the first lines; and not where it is to be quiet."""
        self.needs("jemalloc")
        arguments = ("ab", "-n", "2", "-a", "glibc,jemalloc+stats_print=true", self.workload)
        said = self.mallab(*arguments).stderr.decode().splitlines()
        lines = [line for line in said if "jemalloc statistics" in line]
        self.assertEqual(len(lines), 1, said)
        self.assertIn("jemalloc+stats_print=true says: ___ Begin jemalloc statistics ___; ", lines[0])
        self.assertRegex(lines[0], r"; \.\.\.$")
        self.assertFalse([line for line in said if "glibc says" in line])
        self.assertNotIn(b"says:", self.mallab("ab", "-q", *arguments[1:]).stderr)

    def test_a_misspelt_setting_is_told_before_any_work(self):
        """As misuse: the command is not run, nothing else is said."""
        for verb in ("ab", "tune"):
            with self.subTest(verb=verb):
                result = self.mallab(verb, "-a", "glibc,glibc+arenamax=1", "--", "touch", self.place / "ran",
                                     status=lab.MISUSE)
                self.assert_one_line(result, "arenamax=1", "is it spelt right?")
                self.assertFalse((self.place / "ran").exists())
