#!/usr/bin/env python3
"""Threads that free each other's objects: every call is there, the live peak is exact, the order is legal.

handover.c counts its own calls. What the C library allocates on the side (thread descriptors) does not
depend on how much the program does, so recording it twice and subtracting leaves its own calls exactly."""
import json

import lab


class Handover(lab.Lab):
    def record_rounds(self, rounds, keep):
        said = self.place / f"said-{rounds}.json"
        with open(said, "wb") as out:
            recording = self.record(lab.PROGRAMS / "handover", rounds, keep, name=f"rounds-{rounds}", stdout=out)
        return recording, json.loads(said.read_text()), self.info(recording)

    def test_counts_and_live_bytes_are_the_programs_own(self):
        _, nothing, base = self.record_rounds(0, 0)
        recording, own, info = self.record_rounds(60000, 5000)
        self.assert_whole(base)
        self.assert_whole(info)
        self.assertEqual(info["threads"], own["threads"])
        for call in ("malloc", "calloc", "realloc", "free"):
            seen = info["events_by_call"].get(call, 0) - base["events_by_call"].get(call, 0)
            self.assertEqual(seen, own[call] - nothing[call], call)
        self.assertEqual(info["events"], sum(info["events_by_call"].values()))
        for live, key in (("live_bytes", "live_peak_bytes"), ("live_objects", "live_peak_objects")):
            self.assertEqual(info[key] - base[key], own[live] - nothing[live], key)

        workload = self.convert(recording)
        converted = self.info(workload)
        for key in ("threads", "events", "events_by_call", "requested_bytes"):
            self.assertEqual(converted[key], info[key], key)
        self.assertEqual(converted["live_peak_bytes"], info["live_peak_bytes"])
        self.replay_everywhere(workload)

    def test_converting_twice_gives_the_same_bytes(self):
        recording, _, _ = self.record_rounds(20000, 10)
        first, second = self.place / "first.wl", self.place / "second.wl"
        self.mallab("convert", "-o", first, recording)
        self.mallab("convert", "-o", second, recording)
        self.assertEqual(first.read_bytes(), second.read_bytes())


if __name__ == "__main__":
    lab.main()
