#!/usr/bin/env python3
"""Names of addresses: the same as addr2line's with inlines, by symbols and by .eh_frame alone; only of files with the right
build id; nothing fetched unasked; hostile ELF, DWARF, perf maps and answers cost names and nothing else."""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

DRIVER, PROGRAM, FETCHED = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
NAMED, STRIPPED, UNPROVEN, REPLACED, ABSENT, DAMAGED, LIMITED, UNREAD, UNMAPPED = range(1, 10)
SANITIZED = any(name in pathlib.Path(PROGRAM).read_bytes() for name in (b"__asan_init", b"__tsan_init"))
STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
SOURCE = """
#include <cstdlib>
#include <string>
#include <vector>
static void *grow(size_t n) { return malloc(n); }
static inline __attribute__((always_inline)) void *twice(size_t n) { return grow(2 * n); }
struct tree {
    std::vector<std::string> names;
    __attribute__((noinline)) void add(const char *text) { names.push_back(text); }
};
__attribute__((noinline)) void *parse(int n)
{
    auto local = [&](int k) __attribute__((noinline)) { return twice(k); };
    void *a = twice(n), *b = local(n);
    return a < b ? a : b;
}
extern "C" __attribute__((noinline)) void *plain(int n) { void *a = malloc(n); if (!a) abort(); return a; }
int main(int argc, char **argv)
{
    tree all;
    all.add(argv[0]);
    return parse(argc) == plain(argc);
}
"""


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **options).stdout


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.full = cls.folder / "full"
        for variable in "ASAN_OPTIONS", "UBSAN_OPTIONS":
            os.environ[variable] = f"{os.environ.get(variable, '')}:log_path={cls.folder}/sanitizer"
        (cls.folder / "full.cc").write_text(SOURCE)
        run("g++", "-O2", "-g", "-Wl,--build-id=sha1", cls.folder / "full.cc", "-o", cls.full)
        cls.build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", cls.full))[1]
        cls.calls = [line.split(":")[0].strip() for line in run("objdump", "-d", "--no-show-raw-insn", cls.full).split("\n")
                     if "\tcall" in line]
        cls.parse = cls.inside("_Z5parsei")
        cls.plain = cls.inside("plain")

    @classmethod
    def tearDownClass(cls):
        """What sanitizers say of our own code; the child's stderr is nowhere."""
        said = "".join(file.read_text() for file in cls.folder.glob("sanitizer.*"))
        shutil.rmtree(cls.folder)
        assert not re.search("overflow|use-after|runtime error|LeakSanitizer|double-free", said), said

    @classmethod
    def inside(cls, symbol):
        """An address in its middle."""
        found = re.search(rf"^(\w+) (\w+) . {symbol}$", run("nm", "-S", cls.full), re.M)
        return f"{int(found[1], 16) + int(found[2], 16) // 2:x}"

    def place(self, name, *strip):
        """A copy, alone in a folder."""
        folder = self.folder / self.id_of_test() / name
        folder.mkdir(parents=True)
        run("objcopy", *strip, self.full, folder / "program")
        return folder / "program"

    def id_of_test(self):
        return self.id().rpartition(".")[2]

    def ask(self, file, *addresses, options=(), build_id=None, program=PROGRAM, **more):
        id_option = [f"id={self.build_id if build_id is None else build_id}"] if build_id != "" else []
        answer = run(DRIVER, program, *options, *id_option, file, *addresses, **more).strip().split("\n")
        return json.loads(answer[0]), [json.loads(line) for line in answer[1:]]

    def witness(self, file, addresses):
        """addr2line's: for each address the functions with their places, the physical one first."""
        answers, lines = [], run("addr2line", "-a", "-i", "-f", "-C", "-e", file, *addresses).strip().split("\n")
        for line in lines:
            if line.startswith("0x"):
                answers.append([])
            else:
                answers[-1].append(re.sub(r" \(discriminator \d+\)", "", line))
        return [list(zip(answer[0::2], answer[1::2]))[::-1] for answer in answers]

    def test_inlined_functions_and_lines_are_addr2lines(self):
        module, answers = self.ask(self.full, *self.calls, options=["lines"])
        self.assertEqual((module["state"], module["lines"]), (NAMED, True))
        compared = inlined = 0
        for frames, expected in zip(answers, self.witness(self.full, self.calls)):
            if "?" in expected[0][1] or frames[0]["file"] == "":
                continue
            self.assertEqual([f"{frame['file']}:{frame['line']}" for frame in frames], [place for _, place in expected])
            self.assertEqual([frame["inlined"] for frame in frames], [False] + [True] * (len(frames) - 1))
            # addr2line gives C functions without arguments, and for some inlined ones the name of their caller.
            for frame, (name, _) in zip(frames[:1], expected):
                name = name.replace(STRING, "std::string")
                self.assertEqual(frame["function"], name.split(" [")[0].removesuffix(".cold").replace("std::string::", STRING + "::"))
            compared += 1
            inlined += len(frames) - 1
        self.assertGreater(compared, 20)
        self.assertGreater(inlined, 40)

    def test_symbols_alone_name_the_physical_function(self):
        module, answers = self.ask(self.full, self.parse, self.plain)
        self.assertEqual([answer[0]["function"] for answer in answers], ["parse(int)", "plain"])
        self.assertEqual([len(answer) for answer in answers], [1, 1])
        self.assertFalse(module["lines"])

    def test_lines_may_be_asked_for_later(self):
        self.assertEqual(self.ask(self.full, *self.calls, options=["lines"]),
                         self.ask(self.full, *self.calls, options=["lines", "twice"]))

    def test_stripped_code_has_the_begin_of_its_function(self):
        stripped = self.place("stripped", "--strip-all")
        begin = int(re.search(r"^(\w+) . _Z5parsei$", run("nm", self.full), re.M)[1], 16)
        module, answers = self.ask(stripped, self.parse, f"{begin:x}", "2")
        self.assertEqual((module["state"], "exports" in module["words"]), (STRIPPED, True))
        for frames in answers[:2]:
            self.assertEqual(frames, [{"function": f"program+0x{begin:x}", "file": "", "line": 0, "named": False,
                                       "inlined": False, "start": begin}])
        self.assertEqual(answers[2][0]["function"], "program+0x2")

    def test_a_file_of_another_machine_tells_where_its_functions_begin(self):
        """As an arm64 recording has them: its return address is another register."""
        stripped = self.place("stripped", "--strip-all")
        begin = int(re.search(r"^(\w+) . _Z5parsei$", run("nm", self.full), re.M)[1], 16)
        header = re.compile(rb"(zR\0|zPLR\0)(\x01\x78|\x04\x78)(\x10|\x1e)")  # a CIE's letters, units, register
        data, count = header.subn(lambda found: found[1] + found[2] + bytes([found[3][0] ^ 0x10 ^ 0x1e]), stripped.read_bytes())
        self.assertGreater(count, 0)
        stripped.write_bytes(data)
        self.assertEqual(self.ask(stripped, self.parse)[1][0][0]["start"], begin)

    def test_an_exported_neighbour_gives_no_name(self):
        """Never the nearest symbol below: of a library only what is exported has a name, what follows it has none."""
        source = "int shown(int a) { return a * 3; } static __attribute__((noinline)) int hidden(int a) { return a / 7; }\n" \
                 "int (*volatile keep)(int) = hidden;"
        library = self.folder / "libneighbour.so"
        run("gcc", "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", library, input=source)
        place = {name: int(address, 16) for address, name in re.findall(r"^(\w+) [tT] (shown|hidden)$", run("nm", library), re.M)}
        run("strip", library)
        _, answers = self.ask(library, f"{place['shown'] + 1:x}", f"{place['hidden'] + 1:x}", build_id="")
        self.assertEqual([frames[0]["function"] for frames in answers], ["shown", f"libneighbour.so+0x{place['hidden']:x}"])

    def test_another_files_names_are_not_used(self):
        module, answers = self.ask(self.full, self.parse, build_id="00" * 20)
        self.assertEqual((module["state"], answers[0][0]["function"]), (REPLACED, f"full+0x{self.parse}"))
        self.assertIn("replaced", module["words"])

    def test_a_file_that_is_not_here(self):
        module, answers = self.ask(self.folder / "gone", self.parse)
        self.assertEqual((module["state"], answers[0][0]["function"]), (ABSENT, f"gone+0x{self.parse}"))

    def test_without_a_build_id_it_is_said(self):
        module, answers = self.ask(self.full, self.parse, build_id="")
        self.assertEqual((module["state"], answers[0][0]["function"]), (UNPROVEN, "parse(int)"))

    def test_debug_files(self):
        """By build id and by name in a directory that was told, and by .gnu_debuglink; one of another build is passed over."""
        stripped, debug = self.place("stripped", "--strip-all"), self.place("debug", "--only-keep-debug")
        folders = [self.folder / self.id_of_test() / name for name in ("by-id", "by-name", "other")]
        places = [folders[0] / ".build-id" / self.build_id[:2] / (self.build_id[2:] + ".debug"), folders[1] / "program.debug"]
        for place in places:
            place.parent.mkdir(parents=True)
            shutil.copy(debug, place)
        folders[2].mkdir()
        shutil.copy("/bin/true", folders[2] / "program")
        expected = self.ask(self.full, self.parse, options=["lines"])[1]
        for folder in folders[:2]:
            options = ["lines", f"symbols={folders[2]}", f"symbols={folder}"]
            for file in stripped, self.folder / "gone" / "program":
                module, answers = self.ask(file, self.parse, options=options)
                self.assertEqual((module["state"], module["lines"], answers), (NAMED, True, expected))
        run("objcopy", f"--add-gnu-debuglink={debug}", stripped)
        (stripped.parent / ".debug").mkdir()
        shutil.copy(debug, stripped.parent / ".debug" / "program")
        module, answers = self.ask(stripped, self.parse, options=["lines"])
        self.assertEqual((module["lines"], answers), (True, expected))
        self.assertFalse(self.ask(stripped, self.parse, options=["lines"], build_id="")[0]["lines"])

    def test_shared_debug_information(self):
        """What dwz moved to a file of several programs, in the directory that was told."""
        copies = [self.place("one"), self.place("two")]
        shared = self.folder / self.id_of_test() / "shared"
        run("dwz", "-m", shared, *copies)
        shared_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", shared))[1]
        place = self.folder / self.id_of_test() / "symbols" / ".build-id" / shared_id[:2] / (shared_id[2:] + ".debug")
        place.parent.mkdir(parents=True)
        shared.rename(place)
        before = self.ask(self.full, self.parse, *self.calls[10:], options=["lines"])[1]
        after = self.ask(copies[0], self.parse, *self.calls[10:], options=["lines", f"symbols={place.parents[2]}"])[1]
        self.assertEqual(json.dumps(after).replace("program+", "full+"), json.dumps(before))

    def test_nothing_is_fetched_unasked(self):
        stripped, debug = self.place("stripped", "--strip-all"), self.place("debug", "--only-keep-debug")
        asked = self.folder / self.id_of_test() / "asked"
        for folder, mode in (self.folder, 0o755), (asked.parent, 0o777):
            folder.chmod(mode) # for whom root becomes
        self.addCleanup(self.folder.chmod, 0o700)
        shutil.copy(pathlib.Path(FETCHED) / "libdebuginfod.so.1", asked.parent)  # a build may lie where others may not look
        environment = dict(os.environ, DEBUGINFOD_URLS="http://127.0.0.1:1", NAMES_ASKED=str(asked), NAMES_FETCHED=str(debug),
                           LD_LIBRARY_PATH=str(asked.parent))
        module, answers = self.ask(stripped, self.parse, options=["lines"], env=environment)
        self.assertEqual((module["state"], asked.exists()), (STRIPPED, False))
        module, answers = self.ask(stripped, self.parse, options=["lines", "fetch"], env=environment)
        self.assertEqual((module["state"], module["lines"], asked.exists()), (NAMED, True, True))
        self.assertEqual(answers[0][0]["function"], "parse(int)")
        # Who asks is not root, and who parses may call no network.
        user = os.geteuid() or (0 if SANITIZED else 65534)
        self.assertEqual(asked.read_text().split(), ["user", str(user), "Uid:"] + 4 * [str(user)] +
                         ["Seccomp:", "0" if SANITIZED else "2"])

    def test_a_file_of_debian(self):
        library = re.search(r"=> (/\S+/libc\.so\.6)", run("ldd", "/bin/true"))[1]
        build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", library))[1]
        malloc = int(re.search(r"(\w+) +\d+ FUNC +GLOBAL +DEFAULT +\d+ malloc@@", run("readelf", "-W", "--dyn-syms", library))[1], 16)
        _, answers = self.ask(library, f"{malloc + 9:x}", build_id=build_id)
        self.assertEqual(answers[0][0]["function"], "malloc")

    def test_a_stripped_library_against_readelf(self):
        """Random addresses of libstdc++: a name where a symbol covers it, else the begin of the entry of .eh_frame."""
        library = os.path.realpath(run("g++", "-print-file-name=libstdc++.so.6").strip())
        build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", library))[1]
        symbols = [(int(at, 16), int(size, 0)) for at, size in re.findall(
            r": (\w+) +(\w+) (?:FUNC|IFUNC|NOTYPE) +\w+ +\w+ +\d+ ", run("readelf", "-W", "--dyn-syms", library))]
        entries = [(int(begin, 16), int(end, 16)) for begin, end in re.findall(
            r"FDE .*pc=(\w+)\.\.(\w+)", run("readelf", "--debug-dump=frames", library))]
        random.seed(2)
        addresses = [random.randrange(*random.choice(entries)) for _ in range(1000)]
        addresses += [end for _, end in random.sample(entries, 200)]
        _, answers = self.ask(library, *(f"{address:x}" for address in addresses), build_id=build_id)
        named = 0
        for address, (frame,) in zip(addresses, answers):
            start = next((begin for begin, end in entries if begin <= address < end), 0)
            covers = any(at <= address < at + size or (at == start and at > 0) for at, size in symbols)
            self.assertEqual(frame["named"], covers, hex(address))
            if not covers:
                self.assertEqual((frame["start"], frame["function"]), (start, f"{os.path.basename(library)}+0x{start or address:x}"))
            named += covers
        self.assertTrue(100 < named < 1100)

    def test_code_without_a_file(self):
        module, answers = self.ask("[vdso]", "10", build_id="")
        self.assertEqual((module["state"], module["name"], answers[0][0]["function"]), (UNMAPPED, "[vdso]", "[vdso]"))
        module, answers = self.ask("/no/such/perf.map", "10", options=["jit"], build_id="")
        self.assertEqual((module["state"], answers[0][0]["function"]), (UNMAPPED, "[jit]"))

    def test_a_perf_map(self):
        """What moved in later counts; what others may write to is not believed; lines that are none are passed over."""
        path = self.folder / "perf.map"
        path.write_text("1000 40 LazyCompile:old a.js:1\nnonsense\n1010 10 new\n-1 zz\n2000 10\n3000 20 \x1b[31mred\n4000 ff")
        path.chmod(0o600)
        addresses = ["1001", "1015", "1020", "2001", "3001", "4001"]
        expected = ["LazyCompile:old a.js:1", "new", "LazyCompile:old a.js:1", "[jit]", "\\x1b[31mred", "[jit]"]
        module, answers = self.ask(path, *addresses, options=["jit"], build_id="")
        self.assertEqual((module["state"], [frames[0]["function"] for frames in answers]), (NAMED, expected))
        path.chmod(0o666)
        module, answers = self.ask(path, "1001", options=["jit"], build_id="")
        self.assertEqual((module["state"], answers[0][0]["function"]), (DAMAGED, "[jit]"))

    def test_rust(self):
        names = {"_RNvNtCs1234_7mycrate3foo3bar": "mycrate::foo::bar",
                 "_RNCNvCs1234_7mycrate4main0": "mycrate::main::{closure#0}",
                 "_RINvNtC3std3mem8align_ofdE": "std::mem::align_of::<f64>",
                 "_RNvXCs1_7mycrateNtB2_3FooNtNtCs2_4core3fmt5Write9write_str": "<mycrate::Foo as core::fmt::Write>::write_str",
                 "_ZN4core3fmt5Write17h0123456789abcdefE": "core::fmt::Write",
                 "_ZN4core3ptr30drop_in_place$LT$my..Thing$GT$17h0123456789abcdefE": "core::ptr::drop_in_place<my::Thing>",
                 "_RXnonsense": "_RXnonsense", "_RNvNvNv": "_RNvNvNv", "_RB_": "_RB_",
                 "_RC0": "_RC0"}
        lines = "".join(f".globl \"{name}\"\n.type \"{name}\",@function\n\"{name}\": nop\n.size \"{name}\",1\n" for name in names)
        library = self.folder / "librust.so"
        run("gcc", "-shared", "-nostdlib", "-x", "assembler", "-", "-o", library, input=lines)
        place = {name: address for address, name in re.findall(r"^(\w+) T (\S+)$", run("nm", library), re.M)}
        _, answers = self.ask(library, *(place[name] for name in names), build_id="")
        self.assertEqual([frames[0]["function"] for frames in answers], list(names.values()))

    def test_damaged_files(self):
        """Whatever is broken in ELF and DWARF, the driver answers each address; the functions' names that it has are its own."""
        seed = int(os.environ.get("NAMES_SEED", "1"))
        random.seed(seed)
        good, path = self.full.read_bytes(), self.folder / "damaged"
        sections = re.findall(r"\.(debug_\w+|eh_frame\w*|symtab|strtab) +\w+ +\w+ (\w+) (\w+)", run("readelf", "-W", "-S", self.full))
        for round_ in range(40):
            bytes_ = bytearray(good)
            if round_ % 4 == 0:
                del bytes_[random.randrange(len(bytes_)):]
            elif round_ % 4 == 1:
                for _ in range(8):
                    bytes_[random.randrange(64 + 13 * 56)] = random.randrange(256)
            else:
                _, begin, size = random.choice(sections)
                for _ in range(30):
                    bytes_[int(begin, 16) + random.randrange(int(size, 16))] = random.choice((0, 1, 127, 255, random.randrange(256)))
            path.write_bytes(bytes_)
            module, answers = self.ask(path, *self.calls, options=["lines", "limit=20000000000"], build_id="" if round_ % 2 else None)
            self.assertEqual(len(answers), len(self.calls), f"seed {seed}, round {round_}")
            self.assertTrue(all(frames[0]["function"] for frames in answers))

    def test_files_that_are_none(self):
        for path in "/dev/zero", "/proc/self/mem", "/etc/passwd", "/", "/dev/stdin":
            module, answers = self.ask(path, "10", build_id="")
            self.assertIn(module["state"], (ABSENT, DAMAGED))
            self.assertFalse(answers[0][0]["named"])

    def children(self, pid):
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def until(self, found):
        """Wait for what comes: for the test's own timeout at most."""
        while not (value := found()):
            time.sleep(0.005)
        return value

    @unittest.skipIf(SANITIZED, "sanitizers call what they like")
    def test_who_parses_has_given_up_what_it_can(self):
        """Who reads its answers is stopped, so that it stays, if only as a zombie, which tells the same: the user and his rights, if we are root; its system calls by a list."""
        addresses = [f"{at:x}" for at in range(0x1000, 0x3000)]
        held_first = self.folder / "held_first"
        held_first.write_text(f"#!/bin/sh\nkill -STOP $PPID\nexec {pathlib.Path(PROGRAM).absolute()} \"$@\"\n")
        held_first.chmod(0o700)
        for owner, user, rights in (0, 65534, 1 << 2), (12345, 12345, 0):  # CAP_DAC_READ_SEARCH
            driver = subprocess.Popen([DRIVER, held_first, f"owner={owner}", self.full, *addresses], stdout=subprocess.PIPE)
            [parser] = self.until(lambda: self.children(driver.pid))
            status = lambda: dict(re.findall(r"^(\w+):[ \t]*(.*)$", pathlib.Path(f"/proc/{parser}/status").read_text(), re.M))
            self.until(lambda: status()["State"][0] in "SZ" and status()["Seccomp"] == "2")
            told = status()
            if os.geteuid() == 0:
                self.assertEqual((told["Uid"].split(), told["Gid"].split(), told["Groups"]), ([str(user)] * 4, ["65534"] * 4, ""))
            self.assertEqual(told["NoNewPrivs"], "1")
            for held in "CapEff", "CapPrm":
                self.assertEqual(int(told[held], 16) & ~rights, 0)
            driver.send_signal(signal.SIGCONT)
            lines = driver.communicate()[0].split(b"\n")
            self.assertEqual((driver.returncode, len(lines)), (0, len(addresses) + 2))
            # The file lies in a directory of mode 0700.
            self.assertEqual(json.loads(lines[0])["state"], ABSENT if owner and os.geteuid() == 0 else UNPROVEN)

    def test_nothing_happens_to_what_is_no_file(self):
        """A pipe, and a link to it: who waits for a reader goes on waiting."""
        pipe, link = self.folder / "pipe", self.folder / "link"
        os.mkfifo(pipe)
        link.symlink_to(pipe)
        writer = subprocess.Popen(["sh", "-c", f"exec 3>{pipe}; echo opened"], stdout=subprocess.PIPE, text=True)
        self.until(lambda: pathlib.Path(f"/proc/{writer.pid}/wchan").read_text() in ("fifo_open", "wait_for_partner", "0") and
                   pathlib.Path(f"/proc/{writer.pid}/stat").read_text().rsplit(")")[1].split()[0] == "S")
        for path, options in (pipe, []), (link, []), (pipe, ["jit"]):
            module, answers = self.ask(path, "1010", options=options, build_id="")
            self.assertIn(module["state"], (ABSENT, DAMAGED))
            self.assertFalse(answers[0][0]["named"])
        writer.kill()
        self.assertEqual(writer.communicate()[0], "")

    def test_hostile_answers(self):
        """What the child says is checked like a file: a child gone bad costs names only. One that hangs, too."""
        child = self.folder / "child"
        for script in ("head -c 100000 /dev/urandom", "exit 1", "kill -9 $$", "head -c 3000000000 /dev/zero",
                       "while :; do printf '%4000s' x; done", "exec sleep 1000"):
            child.write_text(f"#!/bin/sh\n{script}\n")
            child.chmod(0o700)
            module, answers = self.ask(self.full, self.parse, program=child, options=["limit=1000000000"])
            self.assertIn(module["state"], (LIMITED, DAMAGED), script)
            self.assertEqual(answers[0][0]["function"], f"full+0x{self.parse}")
        module, answers = self.ask(self.full, self.parse, program="/no/such/program")
        self.assertEqual(module["state"], LIMITED)


if __name__ == "__main__":
    if "MALLAB_EMULATED" in os.environ:
        print("the compiler makes programs of this machine's processor")
        sys.exit(77)
    unittest.main(verbosity=1)
