"""Live bytes by call stack are right: equal, stack by stack and byte by byte, to what a witness that shares no code says of the very
same process at its end, and to what heaptrack says of another run at its peak. Addresses are compared, no names."""
import collections
import mmap
import os
import pathlib
import platform
import struct
import subprocess
import unittest

import lab
from test_attach import may_trace

WITNESS = lab.PROGRAMS / "libstack_witness.so"
HEAPTRACK = next(pathlib.Path("/usr/lib").glob("**/libheaptrack_preload.so"), None)
DEPTH = 253  # of the witness
SETTINGS = {"PYTHONHASHSEED": "0", "PYTHONMALLOC": "malloc", "PERL_HASH_SEED": "0", "LC_ALL": "C.UTF-8"}
SQL = ("create table t(a, b); with recursive n(x) as (select 1 union all select x + 1 from n where x < 3000) "
       "insert into t select x, hex(randomblob(20)) from n; create index i on t(b); select count(*) from t where b > '8';")
PROGRAMS = {
    "sqlite3": ["sqlite3", ":memory:", SQL],
    "containers": [lab.PROGRAMS / "containers"],
    "perl": ["/usr/bin/perl", "-e", "my %h; $h{$_} = [$_, \"x$_\"] for 1 .. 2000; delete $h{$_} for 1 .. 500; kill 9, $$"],
    "python3": ["/usr/bin/python3", "-S", "-c", "import json, os; x = json.loads(json.dumps([str(i) for i in range(3000)])); os._exit(0)"],
    "lua5.4": ["lua5.4", "-e", "local t = {} for i = 1, 3000 do t[i] = {i, 'x' .. i} end"],
}
# They say when they may be attached to, and when they are to be left.
ATTACHED = {
    "sites": [lab.PROGRAMS / "sites", "wait"],
    "perl": ["/usr/bin/perl", "-e", "$| = 1; my %h; $h{$_} = \"y$_\" for 1 .. 500; print \"ready\\n\"; <STDIN>; $h{$_} = [$_, \"x$_\"] for 1 .. 2000; "
             "delete $h{$_} for 1 .. 400; print \"done\\n\"; <STDIN>"],
    "python3": ["/usr/bin/python3", "-S", "-c", "import json, sys; print('ready', flush=True); sys.stdin.readline(); "
                "x = json.loads(json.dumps([str(i) for i in range(3000)])); print('done', flush=True); sys.stdin.readline()"],
}


def is_there(name):
    return pathlib.Path(PROGRAMS[name][0]).exists() or lab.shutil.which(str(PROGRAMS[name][0])) is not None


def is_library_start(places):
    """What libstdc++ does when it is loaded: heaptrack brings it along."""
    return all("/ld-linux" in place or "/libstdc++" in place for place in places)


class Live(lab.Lab):
    def recorded(self, name, **environment):
        """(end, peak) of a run: {frames as (address, place): (bytes, objects)}; all of it, as no stack may be cut."""
        lab.run([lab.BUILD / "mallab", "record", "--quiet", "--sites", "-o", "rec", "--", *PROGRAMS[name]], cwd=self.place,
                env={**SETTINGS, **environment})
        return self.stacks()

    def stacks(self):
        end, peak = {}, {}
        for line in lab.run([lab.PROGRAMS / "print_sites", self.place / "rec"], check=True).stdout.decode().splitlines():
            *numbers, cut = line.split("\t")[:5]
            frames = tuple(tuple(frame.split(",")) for frame in line.split("\t")[5:])
            end_bytes, end_objects, peak_bytes, peak_objects = map(int, numbers)
            self.assertEqual(cut, "-", line)
            end[frames] = (end_bytes, end_objects)
            peak[frames] = (peak_bytes, peak_objects)
        return end, peak

    def assert_same(self, ours, theirs):
        """Stacks where nothing is live do not count."""
        ours, theirs = ({stack: held for stack, held in side.items() if held[1] > 0} for side in (ours, theirs))
        other = [(stack, ours.get(stack), theirs.get(stack)) for stack in {**ours, **theirs} if ours.get(stack) != theirs.get(stack)]
        self.assertEqual(other[:3], [], f"{len(other)} of {len(theirs)} stacks differ: ours, theirs")
        self.assertGreater(len(ours), 0)

    def witnessed(self, path):
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # mostly holes
        count, full = struct.unpack_from("=2Q", data)
        self.assertEqual(full, 0)
        held = {}
        for at in range(2048, 2048 + count * 8 * (3 + DEPTH), 8 * (3 + DEPTH)):
            size, objects, depth = struct.unpack_from("=3Q", data, at)
            held[struct.unpack_from(f"={depth}Q", data, at + 24)] = (size, objects)
        return held

    def test_the_witness_in_the_same_process(self):
        seen = 0
        for name in ("sqlite3", "containers", "perl", "python3"):
            if not is_there(name):
                continue
            with self.subTest(program=name):
                lab.shutil.rmtree(self.place / "rec", ignore_errors=True)
                ours, _ = self.recorded(name, LD_PRELOAD=str(WITNESS), STACK_WITNESS=str(self.place))
                self.assert_same({tuple(int(address, 16) for address, _ in frames): held for frames, held in ours.items()},
                                 self.witnessed(self.place / name))
            seen += 1
        self.assertGreaterEqual(seen, 3)

    @unittest.skipUnless(platform.machine() == "x86_64" and may_trace(), "no process may be attached to here")
    def test_the_witness_in_a_process_that_is_attached_to(self):
        """What was there before has no frames with the witness, and is in no site of ours."""
        for name, command in ATTACHED.items():
            with self.subTest(program=name):
                lab.shutil.rmtree(self.place / "rec", ignore_errors=True)
                program = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           env=lab.environment(**SETTINGS, LD_PRELOAD=WITNESS, STACK_WITNESS=self.place))
                self.addCleanup(lambda program=program: (program.kill(), program.communicate()))
                self.assertEqual(program.stdout.readline(), b"ready\n")
                self.record_one_turn(program, "--sites", "-o", self.place / "rec")
                ours, _ = self.stacks()
                self.assert_same({tuple(int(address, 16) for address, _ in frames): held for frames, held in ours.items()},
                                 {frames: held for frames, held in self.witnessed(self.place / name).items() if frames})

    def heaptrack(self, name):
        """At the peak of a run under heaptrack: {places: (bytes, objects)}."""
        path = self.place / f"{name}.raw"
        lab.run(PROGRAMS[name], env={**SETTINGS, "LD_PRELOAD": str(HEAPTRACK), "DUMP_HEAPTRACK_OUTPUT": str(path)}, check=True)
        program, traces, modules, calls = None, [None], [], []

        def place(address):  # of the call; ours is what it returns to
            for path, base, segments in modules:
                if any(base + start <= address < base + start + size for start, size in segments):
                    return os.path.realpath(path), address - base + 1
            return "?", 0

        for line in path.read_text().splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "x":
                program = rest.split(" ", 1)[1]
            elif kind == "m" and rest.endswith(" -"):
                modules = []
            elif kind == "m":
                length, _, rest = rest.partition(" ")
                path, numbers = rest[:int(length, 16)], [int(word, 16) for word in rest[int(length, 16):].split()]
                modules.append((program if path == "x" else path, numbers[0], list(zip(numbers[1::2], numbers[2::2]))))
            elif kind == "t":
                address, parent = (int(word, 16) for word in rest.split())
                traces.append((place(address), parent))
            elif kind in ("+", "-"):
                calls.append((kind, *(int(word, 16) for word in rest.split())))

        def stack(trace):
            frames = []
            while trace != 0:
                (path, offset), trace = traces[trace]
                frames.append(f"{path}+{offset:x}")
            return tuple(frames)

        def live_until(end):
            live, total, most, most_at = {}, 0, 0, 0
            for number, call in enumerate(calls[:end]):
                total -= live.pop(call[-1], (0, 0))[0]
                if call[0] == "+":
                    live[call[3]] = call[1], call[2]
                    total += call[1]
                if total > most:
                    most, most_at = total, number + 1
            return live, most_at

        held = collections.Counter(), collections.Counter()
        for size, trace in live_until(live_until(len(calls))[1])[0].values():
            held[0][stack(trace)] += size
            held[1][stack(trace)] += 1
        return {frames: (held[0][frames], held[1][frames]) for frames in held[1] if not is_library_start(frames)}

    @unittest.skipIf(HEAPTRACK is None, "not installed: heaptrack")
    def test_heaptrack_at_the_peak_of_another_run(self):
        seen = 0
        for name in ("sqlite3", "containers", "lua5.4"):
            if not is_there(name):
                continue
            with self.subTest(program=name):
                lab.shutil.rmtree(self.place / "rec", ignore_errors=True)
                _, ours = self.recorded(name)
                places = {}
                for frames, held in ours.items():
                    paths = tuple(f"{os.path.realpath(place.rpartition('+')[0])}+{place.rpartition('+')[2]}" for _, place in frames)
                    if not is_library_start(paths):
                        places[paths] = tuple(map(sum, zip(places.get(paths, (0, 0)), held)))
                self.assert_same(places, self.heaptrack(name))
            seen += 1
        self.assertGreaterEqual(seen, 3)
