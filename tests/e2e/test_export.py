#!/usr/bin/env python3
"""Exports of a real recording with threads: all of it is there in every format, through files and pipes; text leads back to
the same workload and can be run as it is; an interrupted export leaves nothing."""
import collections
import csv
import gzip
import io
import signal
import subprocess
import time

import lab


class Export(lab.Lab):
    def handover(self, rounds):
        recording = self.record(lab.PROGRAMS / "handover", rounds, 100)
        return recording, self.convert(recording)

    def test_csv_through_a_pipe_has_every_op_in_order(self):
        recording, workload = self.handover(20000)
        facts = self.info(workload)
        direct = self.mallab("convert", "--quiet", "--to", "csv", "-o", "-", recording).stdout
        command = f"{lab.BUILD}/mallab convert --quiet --to csv -o - {workload} | gzip -1 >{self.place}/ops.csv.gz"
        self.assertEqual(subprocess.run(["sh", "-c", command], stderr=subprocess.DEVNULL, check=True).returncode, 0)
        text = gzip.decompress((self.place / "ops.csv.gz").read_bytes())
        self.assertEqual(text, direct)
        rows = list(csv.DictReader(io.StringIO(text.decode())))
        self.assertEqual(len(rows), facts["ops"])
        self.assertEqual([int(row["op"]) for row in rows], list(range(facts["ops"])))
        self.assertEqual(collections.Counter(row["call"] for row in rows), facts["ops_by_call"])
        self.assertEqual(len({row["thread_id"] for row in rows}), facts["threads"])
        times = [int(row["time_ns"]) for row in rows]
        self.assertEqual(times, sorted(times))
        threads = [row["thread"] for row in rows]
        waits = [(op, int(row["waits_on_op"])) for op, row in enumerate(rows) if row["waits_on_op"]]
        verdict = self.answer("info", "--json", "--verify", workload)["verify"]
        self.assertEqual(len(waits), verdict["checked"]["waits"])  # how many is up to the scheduler
        for op, on in waits:
            self.assertTrue(on < op and threads[on] != threads[op], (op, on))
        live = peak = 0
        for row in rows:
            old, count = int(row["old_size_bytes"] or 0), int(row["count"] or 1)
            live += (0 if row["call"] == "free" else int(row["size_bytes"]) * count) - old
            peak = max(peak, live)
        self.assertEqual((live, peak), (facts["live_end_bytes"], facts["live_peak_bytes"]))

    def test_text_leads_back_and_is_run_as_it_is(self):
        recording, workload = self.handover(5000)
        self.mallab("convert", "--quiet", "--to", "text", "-o", "ops.txt", recording)
        self.mallab("convert", "--quiet", "-o", "again.wl", "ops.txt")
        self.assertEqual((self.place / "again.wl").read_bytes(), workload.read_bytes())
        result = self.answer("ab", "--json", "-a", "glibc", "-n", "1", "ops.txt")
        self.assertEqual(result["workloads"][0]["ops"], self.info(workload)["ops"])

    def test_an_interrupted_export_leaves_nothing(self):
        _, workload = self.handover(150000)
        before = sorted(path.name for path in self.place.iterdir())
        for name, output, number in (("csv", "ops.csv", signal.SIGINT), ("text", "ops.txt", signal.SIGTERM)):
            self.assertTrue(any(self.interrupted(name, output, workload, number) for _ in range(20)), "always too late")
            self.assertEqual(sorted(path.name for path in self.place.iterdir()), before, name)

    def interrupted(self, name, output, workload, number):
        """Whether the signal came in time: before the output had its name. A finished export is removed."""
        mallab = subprocess.Popen([lab.BUILD / "mallab", "convert", "--quiet", "--to", name, "-o", output, workload],
                                  cwd=self.place, stderr=subprocess.DEVNULL)
        while mallab.poll() is None and not lab.writes_into(mallab.pid, self.place):
            time.sleep(0.0005)
        mallab.send_signal(number)
        if mallab.wait(lab.PATIENCE_S) == -number:
            return True
        self.assertEqual(mallab.returncode, 0)
        (self.place / output).unlink()
        return False


if __name__ == "__main__":
    lab.main()
