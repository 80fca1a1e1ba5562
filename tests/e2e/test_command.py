"""The recorded command behaves as if it were not: exit status and standard streams (what it sees of itself: tests/shim/test_sight.py).
`mallab record` adds nothing of its own to either stream with --quiet."""
import signal

import lab


class Command(lab.Lab):
    def test_streams_and_status_are_untouched(self):
        script = r"printf 'out\000\377\n'; printf 'err\001' >&2; cat; exit 7"
        seen = self.mallab("record", "--quiet", "-o", "recording", "--", "sh", "-c", script, stdin=None, input=b"in\0put\xff", status=7)
        self.assertEqual((seen.stdout, seen.stderr), (b"out\0\xff\nin\0put\xff", b"err\x01"))
        self.assert_whole(self.info(self.place / "recording"))

    def test_a_program_without_a_call_is_said_to_have_none(self):
        result = self.mallab("record", "--quiet", "-o", "recording", "--", "true")
        self.assert_one_line(result, "nothing was recorded")

    def test_every_status_passes(self):
        for status in (0, 1, 2, 3, 42, 125, 126, 127, 255):
            with self.subTest(status=status):
                name = f"status-{status}"
                self.record("sh", "-c", f"exit {status}", name=name, status=status)

    def test_death_by_signal_is_death_by_that_signal(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV):
            with self.subTest(signal=number):
                name = f"signal-{number}"
                recording = self.record("sh", "-c", f"kill -{int(number)} $$", name=name, status=-number)
                self.assertEqual(sum(self.info(recording)["lost"].values()), 0)
