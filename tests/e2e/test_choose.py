"""Which process of a recording is meant: info and convert agree on --process, programs that one process was (exec) are chosen by their
footprints, and what is not there is told with what helps. What info says of a process as a whole: of a recording, its footprints and a
workload alike; six lines, and all of it."""
import shutil
import subprocess

import lab

PYTHON = "data = [str(i) * 3 for i in range(20000)]; print(len(data))"


class Choosing(lab.Lab):
    """env becomes python3: one process id, two footprints."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        keeper = cls.keeper()
        script = f"/usr/bin/env A=1 /usr/bin/python3 -c '{PYTHON}'; exit 0"
        cls.recording = keeper.record("/bin/sh", "-c", script, stdout=subprocess.DEVNULL)
        cls.listed = keeper.info(cls.recording)["process_list"]
        (env,) = [one for one in cls.listed if one["name"] == "env"]
        cls.images = {one["name"]: one for one in cls.listed if one["pid"] == env["pid"]}
        cls.pid = env["pid"]

    def said(self, *arguments, status=lab.DONE):
        return self.mallab(*arguments, status=status).stderr.decode()

    def copy(self, *without):
        """The recording again, without some of its footprints."""
        copy = self.place / "copy"
        shutil.copytree(self.recording, copy)
        for name in without:
            (copy / name).unlink()
        return copy

    def check_agreement(self, option, name):
        told = self.answer("info", "--json", "--process", option, self.recording)
        made = self.answer("convert", "--json", "--force", "-o", "one.wl", "--process", option, self.recording)
        for key in ("events", "ops", "threads", "requested_bytes", "live_peak_bytes", "inherited_objects", "pid"):
            self.assertEqual(told[key], made[key], key)
        self.assertGreater(told["events"], 0)
        self.assertEqual(told["program"], name)
        self.assertEqual(told["processes"], 1)
        chosen = [one["file"] for one in told["process_list"] if one["chosen"]]
        self.assertEqual(chosen, [self.images[name]["file"]])
        self.assertEqual(told["selection"]["text"], f"process {self.pid}, {self.images[name]['file']}")
        return (self.place / "one.wl").read_bytes()

    def test_programs_of_one_process(self):
        self.assertGreaterEqual(len(self.images), 2)
        largest = max(self.images, key=lambda name: self.images[name]["events"])
        by_id = self.check_agreement(self.pid, largest)
        for name, image in self.images.items():
            if image["events"] == 0:
                continue
            file = image["file"]
            by_file = self.check_agreement(file, name)
            self.assertEqual(self.check_agreement(file.removesuffix(".fp"), name), by_file)
            self.assertEqual(by_file == by_id, name == largest)
        said = self.said("convert", "-f", "-o", "one.wl", "--process", self.pid, self.recording)
        self.assertIn(f"converted: process {self.pid}, '{largest}'", said)
        text = self.mallab("info", "--details", "--process", self.images["env"]["file"], self.recording).stdout.decode()
        self.assertRegex(text, rf"\nselected +process {self.pid}, env\.")

    def test_windows(self):
        """Programs of one process, each in windows, are converted each; any of its windows names it."""
        script = ("import os, time; time.sleep(1.2); "
                  f"os.execv('/usr/bin/env', ['env', '/usr/bin/python3', '-c', {PYTHON!r}])")
        self.mallab("record", "-q", "-o", "cut", "--window", "1s", "--", "/usr/bin/python3", "-c", script,
                    stdout=subprocess.DEVNULL)
        listed = [one for one in self.info("cut")["process_list"] if one["events"] > 0]
        self.assertGreater(len(listed), len({one["pid"] for one in listed}))
        for one in listed:
            told = self.answer("info", "--json", "--process", one["file"], "cut")
            self.assertEqual(told["events"], one["events"])
            self.assertGreater(len(told["window_list"]), 0)
            made = self.answer("convert", "--json", "-f", "-o", "one.wl", "--process", one["file"], "cut")
            self.assertEqual(made["events"], one["events"])

    def test_not_there(self):
        for verb in (["info"], ["convert", "-o", "none.wl"]):
            for option, fragment in (("1", "holds no process 1, only"),
                                     ("nobody.1", "holds no footprint and no program 'nobody.1'"),
                                     ("nobody", "holds no footprint and no program 'nobody'")):
                self.assertIn(fragment, self.said(*verb, "--process", option, self.recording, status=lab.MISUSE))
            for wrong in ("", "../x.1", ".1", "1.2"):
                said = self.said(*verb, "--process", wrong, self.recording, status=lab.MISUSE)
                self.assertIn("is no process id", said)
        file = self.recording / self.images["env"]["file"]
        self.assertIn("is not 'env.1'", self.said("info", "--process", "env.1", file, status=lab.MISUSE))
        self.mallab("info", "--details", "--process", file.stem, file)

    def test_by_the_name_of_a_program(self):
        by_name = self.answer("info", "--json", "--process", "env", self.recording)
        self.assertEqual(by_name["events"], self.images["env"]["events"])
        self.mallab("convert", "-q", "-o", "env.wl", "--process", "env", self.recording)
        self.mallab("info", "--details", "--process", "env", self.recording / self.images["env"]["file"])
        twice = self.record("sh", "-c", "sort /dev/null; sort /dev/null; true", name="twice")
        told = self.answer("info", "--json", "--process", "sort", twice)
        self.assertEqual({one["name"] for one in told["process_list"] if one["chosen"]}, {"sort"})
        self.assertEqual((told["processes"], told["selection"]["text"]), (2, "2 processes 'sort'"))

    def test_sums_are_named(self):
        text = self.mallab("info", "--details", self.recording).stdout.decode()
        self.assertRegex(text, r"\nmemory .*\(sums of each process' peak, without what it inherited\)\n")
        text = self.mallab("info", "--details", "--process", self.pid, self.recording).stdout.decode()
        self.assertNotIn("sums of", text)

    # ---- footprints that are missing

    def test_one_is_missing(self):
        gone = self.images["env"]["file"]
        copy = self.copy(gone)
        said = self.said("info", copy, status=lab.BAD_INPUT)
        self.assertIn(gone, said)
        self.assertIn("--salvage", said)
        told = self.answer("info", "--json", "--salvage", copy)
        self.assertFalse(told["complete"])
        self.assertIn(gone, told["incomplete_why"])
        self.assertEqual([one["file"] for one in told["process_list"] if one["missing"]], [gone])
        self.assertEqual(told["processes"], len(self.listed) - 1)
        self.assertRegex(self.mallab("info", "--details", "--salvage", copy).stdout.decode(), rf"{gone} +missing")
        self.assertIn("is missing", self.said("convert", "-o", "none.wl", "--process", gone, "--salvage", copy,
                                              status=lab.BAD_INPUT))

    def test_the_largest_is_missing(self):
        gone = self.images["python3"]["file"]
        copy = self.copy(gone)
        self.assertIn("--salvage takes another", self.said("convert", "-o", "none.wl", copy, status=lab.BAD_INPUT))
        made = self.answer("convert", "--json", "--salvage", "-o", "other.wl", copy)
        self.assertNotEqual(made["program"], "python3")
        self.assertTrue(made["complete"])


WORK = "import json; data = json.dumps([{str(i): [i, str(i)]} for i in range(%d)]); json.loads(data)"


class Each(lab.Lab):
    """A group is converted: each of its processes becomes what converting it alone makes of it; one that is damaged or missing leaves the
    others alone; nothing is written over, and no directory stays behind for nothing."""

    def setUp(self):
        super().setUp()
        script = "".join(f'/usr/bin/python3 -c "{WORK % size}" & ' for size in (2000, 3000, 4000)) + "wait"
        self.recording = self.place / "tree"
        self.mallab("record", "-q", "-o", self.recording, "--", "/bin/sh", "-c", script)

    def footprints(self, name="python3"):
        return sorted(self.recording.glob(f"{name}.*.fp"))

    def convert(self, *options, status=lab.DONE):
        return self.mallab("convert", *options, "--process", "python3", self.recording, status=status).stderr.decode()

    def test_as_each_alone(self):
        self.assertEqual(len(self.footprints()), 3)
        alone = {}
        for path in self.footprints():
            self.mallab("convert", "-q", "-f", "-o", "alone.wl", "--process", path.name, self.recording)
            alone[path.stem] = (self.place / "alone.wl").read_bytes()
        self.convert("-q", "-o", "out")
        made = {path.stem: path.read_bytes() for path in (self.place / "out").iterdir()}
        self.assertEqual(made, alone)

    def test_one_is_damaged(self):
        damaged = self.footprints()[1]
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 1
        damaged.write_bytes(content)
        result = self.mallab("convert", "--json", "--process", "python3", "-o", "out", self.recording,
                             status=lab.BAD_INPUT)
        self.assertIn(f"python3.{damaged.stem.split('.')[1]}: ", result.stderr.decode())
        self.assertIn("checksum", result.stderr.decode())
        made = sorted(path.stem for path in (self.place / "out").iterdir())
        self.assertEqual(made, [path.stem for path in self.footprints() if path != damaged])

    def test_one_is_missing(self):
        gone = self.footprints()[1]
        gone.unlink()
        self.assertIn("is missing", self.convert("-q", "-o", "out", status=lab.BAD_INPUT))
        self.assertIn(f"footprint '{gone.name}' is missing", self.convert("-q", "-f", "--salvage", "-o", "out"))
        self.assertEqual(len(list((self.place / "out").iterdir())), 2)

    def test_nothing_is_written_over(self):
        self.convert("-q", "-o", "out")
        self.assertIn("exists already: choose another name, or add --force; nothing was converted", self.convert("-q", "-o", "out", status=lab.FAILED))
        kept = self.place / "out" / f"{self.footprints()[2].stem}.wl"
        for path in (self.place / "out").iterdir():
            if path != kept:
                path.unlink()
        kept.write_text("mine")
        self.assertIn("exists already", self.convert("-q", "-o", "out", status=lab.FAILED))
        self.assertEqual([path.name for path in (self.place / "out").iterdir()], [kept.name])
        self.assertEqual(kept.read_text(), "mine")

    def test_no_empty_directory_is_left(self):
        (self.place / "mine").mkdir()
        for name, stays in ("out", False), ("mine", True):
            self.convert("-q", "--from-time", "5m", "-o", name, status=lab.MISUSE)
            self.assertEqual((self.place / name).exists(), stays)


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
