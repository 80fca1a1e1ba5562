"""A program that dies by SIGKILL: every call that had completed is in the recording, which converts and replays."""
import signal
import struct

import lab

STATUS = -signal.SIGKILL  # mallab record dies as its command did, so that whoever waits sees the same


class Killed(lab.Lab):
    def record_killed(self, calls, threads):
        counters = self.place / "counters"
        recording = self.record(lab.PROGRAMS / "killed", counters, calls, threads, status=STATUS)
        counts = struct.unpack("=16Q", counters.read_bytes())
        return recording, sum(counts)

    def check_pipeline(self, recording, info):
        self.assertEqual({cause: n for cause, n in info["lost"].items() if n}, {})
        self.replay_everywhere(self.convert(recording))

    def test_one_thread_exactly(self):
        recording, counted = self.record_killed(123_457, 0)
        info = self.info(recording)
        self.assertEqual(counted, 123_457)
        self.assertEqual(info["events_by_call"]["aligned_alloc"], counted)
        self.assertEqual(info["events_by_call"]["free"], counted)
        self.check_pipeline(recording, info)

    def test_threads_in_the_middle_of_their_calls(self):
        threads = 3
        recording, counted = self.record_killed(50_000, threads)
        info = self.info(recording)
        seen = info["events_by_call"]["aligned_alloc"]
        # A thread is killed between the return of its call and the count of it, or before.
        self.assertGreaterEqual(seen, counted)
        self.assertLessEqual(seen, counted + threads)
        self.assertGreaterEqual(info["events_by_call"]["free"], counted - threads)
        self.check_pipeline(recording, info)
