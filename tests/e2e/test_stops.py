"""Recording stops before its program does: at a bound, on a full disk, as asked, by a killed collector. It is said at once
and stands in recording.json; full disks are answered from, and a collector that does not work costs no call while there
is shared memory. And a service starts, whatever stands in its recorder's way."""
import json
import os
import pathlib
import re
import signal
import subprocess

import lab
from lab import needs
from test_control import Steps

CHURN = lab.BUILD / "tests" / "shim" / "shim_churn"
STEPS = lab.PROGRAMS / "steps"


def pending(pid):
    """Signals sent to a process and not yet taken, as bits."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    masks = re.findall(r"(?:Shd|Sig)Pnd:\s*(\w+)", status)
    return int(masks[0], 16) | int(masks[1], 16)


class Said(Steps):
    """Steps, whose standard error is read as it comes."""

    def line(self, *fragments):
        """The next line; what it says is in it."""
        line = self.process.stderr.readline()
        for fragment in fragments:
            self.test.assertIn(fragment, line)
        return line


class Stops(lab.Lab):
    def asked_json(self, directory, request="--status"):
        return self.answer("record", "--control", directory, request, "--json")

    def test_a_killed_collector_is_told_at_once(self):
        steps = Said(self)
        steps.do("take 5 1000")
        os.kill(steps.json()["collector"]["pid"], signal.SIGKILL)
        steps.line("collector ended early (signal 9)", "recording has stopped")
        self.assert_one_line(self.mallab("record", "--control", steps.directory, "--status", status=lab.FAILED), "does not go on")
        steps.do("take 5 1000")
        steps.end()

    def test_the_duration(self):
        steps = Said(self, "--duration", "1s")
        steps.do("take 5 1000")
        steps.line("recording stopped after", "--duration")
        steps.do("take 5 1000")
        self.assertNotIn("recording stopped", steps.end())  # told already
        recording = steps.json()
        self.assertEqual(recording["stopped"]["by"], "duration")
        # The recording's clock and the one by which the collector waits are not the same: a fraction of a millisecond.
        self.assertGreaterEqual(recording["stopped"]["after_ns"], 990_000_000)
        answer = self.asked_json(steps.directory)
        self.assertEqual((answer["state"], answer["stopped"]["by"], answer["complete"]), ("ended", "duration", False))
        self.assertIn("as --duration asked", steps.ask("--status"))

    def test_what_starts_later_is_no_surprise(self):
        """What is not recorded because recording has ended is not named one by one."""
        result = self.mallab("record", "-o", "r", "--", "sh", "-c",
                             f'{lab.BUILD}/mallab record --control r --end >/dev/null; {CHURN} 10')
        said = result.stderr.decode()
        self.assertEqual(said.count("as --end asked"), 1, said)
        self.assertNotIn("not recorded", said)

    def test_the_size(self):
        steps = Said(self, "--max-size", "512K", command=("sh", "-c", f"{CHURN} 1000000; exec {STEPS}"))
        steps.line("recording stopped after", "--max-size")
        steps.do("take 1 1000")
        text = steps.ask("--status")
        self.assertRegex(text, "recording stopped after .* --max-size allows.*running, lost [1-9]")
        answer = self.asked_json(steps.directory)
        self.assertEqual((answer["state"], answer["stopped"]["by"]), ("stopped", "size_limit"))
        self.assertEqual(answer["lost_calls"], answer["lost"]["size_limit"])
        self.assertNotIn("goes on", steps.end())

    def test_one_that_was_answered_and_overruled(self):
        """The collector heeds both at once when it comes to it: the first is answered too, though its state never was."""
        for number, verbs in enumerate((("--pause", "--resume"), ("--resume", "--pause"))):
            with self.subTest(verbs=verbs):
                steps = Steps(self, *(["--paused"] if number else []), name=f"recording{number}")
                steps.do("take 5 1000")
                collector = steps.json()["collector"]["pid"]
                lab.halt(collector)
                controllers = []
                for verb in verbs:
                    controllers.append(subprocess.Popen([lab.BUILD / "mallab", "record", "--control", steps.directory,
                                                         verb], stdout=subprocess.PIPE, stderr=subprocess.PIPE))
                    bit = 1 << ((signal.SIGUSR1 if verb == "--pause" else signal.SIGUSR2) - 1)
                    lab.wait_for(lambda bit=bit: pending(collector) & bit, verb)
                os.kill(collector, signal.SIGCONT)
                said = [controller.communicate(timeout=lab.PATIENCE_S) for controller in controllers]
                self.assertEqual([controller.returncode for controller in controllers], [0, 0], said)
                steps.end()

    def test_a_stopped_collector_costs_no_call(self):
        """As long as there is room in --memory: 8 MiB are a million calls."""
        steps = Steps(self, "--memory", "8M")
        steps.do("take 1 1000")

        def ring():
            steps.ask("--status")
            return steps.json()["ring"]

        self.assertEqual(ring()["chunks_held"], ring()["chunks_most"])
        collector = steps.json()["collector"]["pid"]
        lab.halt(collector)
        steps.do("churn 400000 100")
        os.kill(collector, signal.SIGCONT)
        steps.end()
        info = self.info(steps.directory)
        self.assert_whole(info)
        self.assertEqual(info["events_by_call"]["free"], 400_000)
        self.assertEqual(steps.json()["stalls"], 0)


class FullDisk(lab.Lab):
    def setUp(self):
        super().setUp()
        self.folder = self.mounted()

    def fill(self, most=1 << 30):
        """To the last byte, or so far."""
        try:
            with open(self.folder / "fill", "ab", buffering=0) as file:
                while file.tell() < most:
                    file.write(bytes(min(4096, most - file.tell())))
        except OSError:
            pass

    def test_full_while_recording(self):
        """Little room from the start, windows, full, free, full again: asked at any time, it answers; and it ends."""
        self.fill(700 << 10)
        steps = Said(self, "--window", "1h", name=self.folder / "recording")
        steps.play("take 10 1000", "--status")
        self.fill()
        for _ in range(100):
            steps.play("take 1000 100", "churn 20000 100", "drop 1000")
            text = steps.ask("--status")
            if "recording stopped" in text:
                break
        steps.line("recording stopped after", "disk")
        steps.do("churn 1000 100")
        answer = self.answer("record", "--control", steps.directory, "--status", "--json")
        self.assertEqual((answer["state"], answer["stopped"]["by"]), ("stopped", "disk_full"))
        self.assertGreaterEqual(answer["lost_calls"], 2000)
        (self.folder / "fill").unlink()
        self.assertIn("window 2", steps.ask("--rotate"))
        segment = steps.json()["segment_path"]
        steps.do("churn 1000 100")
        self.assertIn("recording after", steps.ask("--status"))
        steps.line("recording goes on after")
        self.fill()
        for _ in range(100):
            steps.play("take 1000 100", "churn 20000 100", "drop 1000")
            if "recording stopped" in steps.ask("--status"):
                break
        self.fill()
        self.assertIn("the recording has ended", steps.ask("--end"))
        recording = steps.json()
        self.assertNotIn("collector", recording)
        self.assertEqual(recording["stopped"]["by"], "end")
        self.assertGreater(recording["lost"]["disk_full"], answer["lost"]["disk_full"])
        self.assertFalse(os.path.exists(segment))
        steps.end()

    def test_a_collector_that_dies_is_not_waited_for(self):
        steps = Steps(self, name=self.folder / "recording")
        steps.do("take 10 1000")
        collector = steps.json()["collector"]["pid"]
        lab.halt(collector)
        asking = subprocess.Popen([lab.BUILD / "mallab", "record", "--control", steps.directory, "--end"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lab.wait_for(lambda: pending(collector), "the question")
        os.kill(collector, signal.SIGKILL)
        _, said = asking.communicate(timeout=60)  # and not the 120 s that a slow disk is given
        self.assertEqual(asking.returncode, lab.FAILED)
        # Whether it was dead already when the question was to be put is chance.
        self.assertRegex(said, b"ended (without an answer|before it had finished)")
        steps.end()


class Starts(lab.Lab):
    def test_again_and_again(self):
        """The same command line: each recording has a directory of its own, and the older ones are left alone."""
        for number in range(1, 5):
            result = self.mallab("record", "-o", "nightly/", "--", CHURN, 1000 * number)
            shown = "nightly" if number == 1 else f"nightly.{number}"
            self.assertIn(f"written to {shown};", result.stderr.decode())
            if number > 1:
                self.assertIn(f"'nightly' holds something already: recording into '{shown}'", result.stderr.decode())
        for number in range(1, 5):
            shown = "nightly" if number == 1 else f"nightly.{number}"
            self.assertEqual(self.info(self.place / shown)["events"], 2000 * number)

    def test_the_thousandth_time(self):
        for number in range(1, 1000):
            folder = self.place / (f"nightly.{number}" if number > 1 else "nightly")
            folder.mkdir()
            (folder / "file").write_text("")
        self.mallab("record", "-q", "-o", "nightly", "--", CHURN, 1000)
        self.assertEqual(self.info(self.place / "nightly.1000")["events"], 2000)

    def test_again_and_again_under_a_preload(self):
        """As quickly as a supervisor can: the recording before may be about to end. No call is missing."""
        events = said = 0
        turns = 60
        environment = {"LD_PRELOAD": str(lab.SHIM), "MALLAB_OUT": str(self.place / "nightly")}
        for _ in range(turns):
            result = lab.run([CHURN, 1000], env=environment)
            self.assertEqual(result.returncode, 0)
            said += result.stderr.count(b"recording into ")
            self.assertEqual(result.stderr.count(b"\n"), result.stderr.count(b"recording into "))
        recordings = sorted(self.place.glob("nightly*"))
        for recording in recordings:
            path = recording / "recording.json"
            lab.wait_for(lambda path=path: "collector" not in json.loads(path.read_text()), path)
            events += json.loads(path.read_text())["events"]
        self.assertEqual(events, turns * 2000)
        self.assertEqual(said, len(recordings) - 1)
        quiet = lab.run([CHURN, 1000], env={**environment, "MALLAB_QUIET": "1"})
        self.assertEqual(quiet.stderr, b"")

    def test_best_effort(self):
        """The command runs unrecorded, in mallab's place, where it could not be recorded; else 125 as ever."""
        (self.place / "file").write_text("")
        command = ["sh", "-c", 'read children </proc/self/task/$$/children; echo "$children$LD_PRELOAD"; exit 7']
        for options, status, output in (((), 125, b""), (("--best-effort",), 7, b"\n")):
            result = self.mallab("record", *options, "-o", "file/below", "--", *command, status=status)
            self.assertEqual(result.stdout, output)
            self.assert_one_line(result, "file/below", "Not a directory")
        result = self.mallab("record", "--best-effort", "-o", "fine", "--", *command, status=7)
        self.assertTrue((self.place / "fine" / "recording.json").exists())
        self.mallab("record", "--best-effort", "-o", "none", "--", "nosuchprogram", status=127)

    @needs("cc")
    def test_best_effort_of_what_cannot_be_recorded(self):
        self.built(b"int main(void) { return 7; }\n", "static", "-static")
        self.mallab("record", "-o", "r", "--", "./static", status=125)
        result = self.mallab("record", "--best-effort", "-o", "r", "--", "./static", status=7)
        self.assert_one_line(result, "statically linked", "--best-effort")


class Interrupted(lab.Lab):
    def test_ab_while_it_converts(self):
        recording = self.record(CHURN, 5_000_000)
        process = subprocess.Popen([lab.BUILD / "mallab", "ab", "-q", recording], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)

        def converter():
            """A child that reads the recording."""
            for child in lab.children(process.pid):
                try:
                    if any(str(recording) in os.readlink(path) for path in pathlib.Path(f"/proc/{child}/fd").iterdir()):
                        return True
                except OSError:
                    pass
            return process.poll() is not None

        lab.wait_for(converter, "the conversion")
        os.killpg(process.pid, signal.SIGINT)
        output, said = process.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual((process.returncode, output), (-signal.SIGINT, b""))
        self.assertRegex(said.decode(), "^mallab ab: interrupted (while .* was converted: nothing of that is kept|before .*)\n$")


class NotFollowed(lab.Lab):
    @needs("cc")
    def test_others_are_no_surprise(self):
        """With --no-follow what COMMAND starts was not to be recorded, and nobody is told that it was not."""
        self.built(b"#include <unistd.h>\nint main(void) { usleep(700000); return 0; }\n", "static", "-static")
        script = "import os, subprocess\nsubprocess.run(['./static'])\nsubprocess.run(['env', '-i', './static'])\n"
        for options, told in ((("--no-follow",), False), ((), True)):
            with self.subTest(options=options):
                result = self.mallab("record", *options, "-o", f"r{told}", "--", "/usr/bin/python3", "-c", script)
                self.assertEqual(b"not recorded" in result.stderr, told, result.stderr)
