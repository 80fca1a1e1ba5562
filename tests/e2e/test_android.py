"""A real recording of another tool: an Android process with 393 threads, through every allocator with one digest.

The data is not part of the product: its directory is $MALLAB_SHARED_DATA, or ../shared/data beside the source tree."""
import os
import pathlib
import unittest
import zipfile

import lab

DATA = pathlib.Path(os.environ.get("MALLAB_SHARED_DATA", lab.SOURCE.parent / "shared" / "data"))
ARCHIVE = DATA / "android-systemui.zip"


def facts_of(archive):
    """Calls by name and threads, counted from the text itself."""
    calls, threads = {}, set()
    with zipfile.ZipFile(archive) as opened:
        (name,) = [n for n in opened.namelist() if n.endswith(".txt")]
        with opened.open(name) as lines:
            for line in lines:
                words = line.split()
                thread, call = words[0].rstrip(b":"), words[1].decode()
                threads.add(thread)
                if call != "thread_done":
                    calls[call] = calls.get(call, 0) + 1
    return calls, threads


@unittest.skipUnless(ARCHIVE.exists(), f"no {ARCHIVE}")
class Android(lab.Lab):
    def test_all_candidates_one_digest(self):
        calls, threads = facts_of(ARCHIVE)
        self.assertEqual(len(threads), 393)
        workload = self.place / "android.wl"
        self.mallab("convert", "--from", "android", "-o", workload, ARCHIVE)
        info = self.info(workload)
        self.assertEqual(info["threads"], len(threads))
        for call in ("malloc", "calloc", "realloc", "memalign", "free"):
            self.assertEqual(info["events_by_call"].get(call, 0), calls.get(call, 0), call)
        self.replay_everywhere(workload)
        again = self.place / "again.wl"
        self.mallab("convert", "--from", "android", "-o", again, ARCHIVE)
        self.assertEqual(again.read_bytes(), workload.read_bytes())
