"""What `mallab info` says of a process as a whole: of a recording, its footprints and a workload alike; six lines, and all of it."""
import lab

USAGE = lab.BUILD / "tests" / "shim" / "shim_usage"
MIB = 1 << 20
KEYS = ("cpu_ns", "faults_minor", "faults_major", "rss_peak_bytes", "rss_anon_peak_bytes", "ran_ns")


class Info(lab.Lab):
    @classmethod
    def setUpClass(cls):
        cls.lab = cls.keeper()
        cls.recording = cls.lab.record(USAGE, "exec", "30", "200", "exit", "10", "300", status=3)

    def test_each_kind_of_file_tells_the_same(self):
        recording = self.info(self.recording)
        first, second = recording["process_list"]
        self.assertEqual([first["end"], second["end"]], [{"how": "exec", "code": None}, {"how": "exit", "code": 3}])
        self.assertEqual(recording["ended"], {"how": "exit", "code": 3})
        self.assertEqual(recording["command_pid"], second["pid"])
        self.assertEqual(recording["cpu_ns"]["user"], first["cpu_ns"]["user"] + second["cpu_ns"]["user"])
        for process in (first, second):
            footprint = self.info(self.recording / process["file"])
            workload = self.info(self.lab.convert(self.recording / process["file"]))
            for key in KEYS:
                self.assertIsNotNone(footprint[key], key)
                self.assertEqual([process[key], workload[key]], [footprint[key]] * 2, key)
            for told in (footprint, workload):
                self.assertEqual(told["ended"], process["end"])
                self.assertEqual((told["runs_on"]["name"], told["runs_on"]["how"]), ("glibc", "libc"))
            self.assertGreater(len(footprint["usage_over_time"]), 0)
            times = [point["time_ns"] for point in footprint["usage_over_time"]]
            self.assertEqual(times, sorted(times))

    def test_six_lines_are_enough(self):
        first = self.info(self.recording)["process_list"][0]["file"]
        lines = self.mallab("info", self.recording / first).stdout.decode().splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["file", "recorded", "calls", "memory", "process", "complete"])
        self.assertRegex(lines[4], r"^process +runs on glibc [0-9.]+ \(libc\), CPU .*, peak RSS 3\d\.\d MB, ended by exec$")
        self.assertGreater(len(self.mallab("info", "--details", self.recording / first).stdout.decode().splitlines()), 10)

    def test_a_recording_has_its_programs(self):
        text = self.mallab("info", self.recording).stdout.decode()
        self.assertRegex(text, r"\nprocesses +events +CPU +peak RSS  program\n +2 +\d+ +\d+ ms +3\d\.\d MB  shim_usage\n$")
        program = self.info(self.recording)["program_list"][0]
        self.assertEqual((program["processes"], program["rss_peak_bytes"] > 30 * MIB), (2, True))
