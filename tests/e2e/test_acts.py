"""What is recorded, converted and exported is what the program did: op by op, thread by thread, object by object.

acts.c logs its own calls in memory of its own. For many seeds: the workload is proven
legal (check_ops.c), each thread's calls are the log's in the log's order with its sizes, counts and alignments, and each
realloc and free is on the object that the program had in hand. Objects are told by who made them: the k-th allocation of
thread t in the log is the k-th of thread t in the workload. Threads are ordered by epochs: two
releases of one address by different threads within about a microsecond may change places where the address came again between
them (docs/order.md), so a few in ten thousand may differ in the object, and in nothing else.

MALLAB_TEST_LONG=1 takes more and longer runs; MALLAB_TEST_SEED=N repeats one seed."""
import collections
import os
import struct

import lab

LONG = bool(os.environ.get("MALLAB_TEST_LONG"))
SEEDS = [int(os.environ["MALLAB_TEST_SEED"])] if "MALLAB_TEST_SEED" in os.environ else range(1, 41 if LONG else 5)
OPS = 12000 if LONG else 4000
NAMES = {1: "malloc", 2: "calloc", 3: "realloc", 5: "free", 8: "posix_memalign", 9: "aligned_alloc", 10: "memalign"}
SWAPPED_SHARE = 0.0005  # of releases and resizes, by epochs: DESIGN's bound for pairs with the wrong allocation

Call = collections.namedtuple("Call", "name size extra made")  # made: what object, by its allocation


def is_own(size):
    return size % 64 == 37


class Log:
    """A process' own account: calls by thread, each with its object."""

    def __init__(self, path):
        data = path.read_bytes()
        threads, born = struct.unpack_from("<II", data)
        at = 8
        maker = {}
        self.born = []
        for _ in range(born):
            serial, size = struct.unpack_from("<QQ", data, at)
            at += 16
            maker[serial] = ("born", size)
            self.born.append(size)
        entries = {}
        for _ in range(threads):
            thread, count = struct.unpack_from("<II", data, at)
            at += 8
            entries[thread] = list(struct.iter_unpack("<IIQQ", data[at:at + 24 * count]))
            at += 24 * count
        assert at == len(data)
        for thread, calls in entries.items():
            made = 0
            for call, serial, _, extra in calls:
                if call != 5 and (call != 3 or extra == 1):
                    maker[serial] = (thread, made)
                    made += 1
        self.threads = {thread: [self.word(entry, maker) for entry in calls] for thread, calls in entries.items()}

    @staticmethod
    def word(entry, maker):
        call, serial, size, extra = entry
        name = NAMES[call]
        if call == 3:
            return Call(name, size, "fresh" if extra == 1 else "", maker[serial])
        return Call(name, size if call != 5 else 0, extra if call in (2, 8, 9, 10) else "", maker[serial])


class Seen:
    """The same of a workload's text: only calls on the program's own objects."""

    def __init__(self, lines, inherited):
        self.threads = collections.defaultdict(list)
        self.born = []
        made = collections.Counter()
        holder = {}  # object id: who made it; None for the C library's
        threads, ops = [], 0
        for line in lines:
            words = line.partition("#")[0].split()
            if words and words[0] == "thread":
                threads.append(int(words[2]))
            if not words or not words[0].isdigit():
                continue
            thread, name, identity = threads[int(words[0])], words[1].replace("_", " ", words[1].startswith("operator")), words[2]
            size = int(words[3]) if len(words) > 3 else 0
            named = dict(zip(words[4::2], words[5::2]))
            allocates = name != "free" and (name not in ("realloc", "reallocarray") or words[-1] == "fresh")
            ops += 1
            if ops <= inherited:
                own = is_own(size)
                size *= int(named.get("x", 1))
                holder[identity] = ("born", size) if own else None
                self.born += [size] if own else []
                continue
            if allocates:
                holder[identity] = (thread, made[thread]) if is_own(size) else None
                made[thread] += is_own(size)
            if identity == "0" or holder[identity] is None:
                continue
            extra = "fresh" if name == "realloc" and allocates else named.get("x") or named.get("align", "")
            self.threads[thread].append(
                Call(name, size, int(extra) if extra.isdigit() else extra, holder[identity]))


class Acts(lab.Lab):
    def compare(self, log, seen, swapped_allowed):
        """All the same but at most so many objects; returns how many differ, and of how many."""
        self.assertEqual(sorted(log.born), sorted(seen.born))
        self.assertEqual({t for t, calls in log.threads.items() if calls}, set(seen.threads))
        swapped = named = 0
        for thread, expected in log.threads.items():
            calls = seen.threads[thread]
            for number, (own, found) in enumerate(zip(expected, calls)):
                self.assertEqual(own[:3], found[:3], f"thread {thread}, call {number}")
                named += own.name in ("free", "realloc")
                swapped += own.made != found.made
            self.assertEqual(len(expected), len(calls), f"thread {thread}")
        self.assertLessEqual(swapped, swapped_allowed * named, f"{swapped} of {named} on another object")
        return swapped, named

    def one_process(self, recording, pid, log):
        workload = self.place / f"{pid}.wl"
        report = self.answer("convert", "--json", "--process", pid, "-o", workload, recording)
        self.assertEqual(report["irregularities"]["order_repaired"], 0)
        lines = self.mallab("convert", "--quiet", "--to", "text", "-o", "-", workload).stdout.decode().splitlines()
        result = self.compare(log, Seen(lines, report["inherited_objects"]), SWAPPED_SHARE)
        text, again = self.place / "text", self.place / "again.wl"
        self.mallab("convert", "--quiet", "--force", "--to", "text", "-o", text, workload)
        self.mallab("convert", "--quiet", "--force", "-o", again, text)
        self.assertEqual(again.read_bytes(), workload.read_bytes())
        workload.unlink()
        return result

    def one_seed(self, seed):
        logs = self.place / f"logs-{seed}"
        logs.mkdir()
        threads = 1 + seed % 5
        recording = self.record(lab.PROGRAMS / "acts", seed, threads, OPS, logs, name=f"r-{seed}")
        verdict = self.answer("info", "--json", "--verify", recording)
        self.assertIs(verdict["verify"]["legal"], True, verdict)
        paths = sorted(logs.iterdir())
        self.assertEqual(len(paths), 4)  # main forks three times
        self.assertEqual(verdict["verify"]["checked"]["processes"], 4)
        return [self.one_process(recording, path.name, Log(path)) for path in paths]

    def test_a_recording_is_the_programs_own_account_but_for_a_few_swapped_objects(self):
        swapped = named = 0
        for seed in SEEDS:
            with self.subTest(seed=seed, repeat=f"MALLAB_TEST_SEED={seed} tests/e2e/run.py test_acts"):
                for one, of in self.one_seed(seed):
                    swapped += one
                    named += of
        self.assertGreater(named, 1000)  # else nothing was compared
        print(f"{swapped} of {named} releases and resizes on another object than in the log")
