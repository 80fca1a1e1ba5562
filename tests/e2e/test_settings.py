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

    def test_glibc_is_listed(self):
        """What the loader accepted is on its list; of arenas those are counted that there are."""
        settings = self.settings("glibc+tcache_count=3+mmap_threshold=200000+arena_max=2")
        self.assertEqual({name.split(".")[-1]: int(entry["found"], 0) for name, entry in settings.items()},
                         {"tcache_count": 3, "mmap_threshold": 200000, "arena_max": 2})
        self.assertEqual({entry["from"] for entry in settings.values()}, {"the loader"})
        for most in (1, 2, 3):
            run = self.answer("replay", "--json", "-a", f"glibc+arena_max={most}", self.workload)
            self.assertEqual(run["arenas"], {"most": most, "made": most})

    def test_glibc_refuses(self):
        self.refused("glibc+arenamax=2", "no tunable of that name", "is it spelt right?")
        self.refused("glibc+tcache_count=70000", "at most 65535")
        self.refused("glibc+tcache_count=2K", "no whole number")
        self.refused("glibc+FOO=1", "FOO=1", "cannot be proven")
        self.refused("glibc+hugetlb=12288", "hugetlb=12288", "no effect", "no huge pages")  # no machine has pages of 12 KiB

    def test_jemalloc(self):
        self.needs("jemalloc")
        settings = self.settings("jemalloc+narenas=1+dirty_decay_ms=-1+thp=always+tcache=false")
        self.assertEqual({name: entry["found"] for name, entry in settings.items()},
                         {"opt.narenas": "1", "opt.dirty_decay_ms": "-1", "opt.thp": "always", "opt.tcache": "false"})
        self.refused("jemalloc+narens=1", "this jemalloc has no 'opt.narens'", "is it spelt right?")
        self.refused("jemalloc+narenas=many", "opt.narenas", "'many'", "mallctl")
        # Asked for and echoed by opt.*, but not what came of it.
        self.refused("jemalloc+narenas=100000", "opt.narenas", "'100000'", "'4094'")
        self.refused("jemalloc+tcache_max=5000", "opt.tcache_max", "'5000'", "'5120'")
        self.assertEqual(self.settings("jemalloc+narenas=3+oversize_threshold=0")["opt.narenas"]["found"], "3")
        self.assertEqual(self.settings("jemalloc+background_thread=true+max_background_threads=2")
                         ["opt.max_background_threads"]["found"], "2")
        self.refused("jemalloc+GLIBC_TUNABLES=glibc.malloc.arena_max=1", "arena_max", "no effect")

    def test_tcmalloc(self):
        self.needs("tcmalloc")
        settings = self.settings("tcmalloc+release_rate=2.5+max_total_thread_cache_bytes=1048576")
        self.assertEqual(settings["TCMALLOC_RELEASE_RATE"]["found"], "2.5")
        self.assertEqual(settings["TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES"]["found"], "1048576")
        self.refused("tcmalloc+max_total_thread_cache_bytes=10", "'10'", "'524288'")
        self.refused("tcmalloc+releaserate=1", "TCMALLOC_RELEASERATE=1 cannot be proven")

    def test_mimalloc(self):
        self.needs("mimalloc")
        settings = self.settings("mimalloc+decommit_delay=0+eager_commit=no+reserve_os_memory=64M")
        self.assertEqual([entry["found"] for entry in settings.values()], ["0", "0", "65536"])
        self.refused("mimalloc+decommit=0", "no option 'DECOMMIT'")
        self.refused("mimalloc+decommit_delay=soon", "'soon'", "mi_option_get")

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
