"""Silent nothing is a defect: what of a command's tree was not recorded is named after the run, with the reason; what
was recorded is told; mallab's own programs are left alone; recordings nest."""
import collections
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import unittest

import lab
from test_control import Steps
from witnessed import TALLY, Witnessed

ROOT = os.geteuid() == 0


class Unrecorded(lab.Lab):
    """Each command runs long enough to be seen from outside, but for those "for a moment": whoever starts them tells."""

    def said(self, *command, status=lab.DONE, options=()):
        result = self.mallab("record", "-o", "recording", *options, "--", *command, status=status)
        return result.stderr.decode()

    def assert_named(self, said, name, reason):
        lines = [line for line in said.splitlines() if re.match(f"mallab [a-z]+: not recorded: '{name}'", line)]
        self.assertEqual(len(lines), 1, said)
        self.assertIn(reason, lines[0])

    SLEEPER = b"#include <unistd.h>\nint main(void) { usleep(1500000); return 0; }\n"
    OWN_MALLOC = b"""
        #include <stddef.h>
        #include <unistd.h>
        static char memory[1 << 20];
        static size_t used;
        static void *own_malloc(size_t size) { used += size; return memory + used - size; }
        int main(void) { for (int i = 0; i < 1000; i++) ((char *)own_malloc(100))[0] = 1; return 0; }
    """

    # 32-bit x86, without any library: nanosleep, exit
    OTHER_MACHINE = b"""
        void _start(void)
        {
            int time[2] = {1, 500000000}, result;
            __asm__ volatile("int $0x80" : "=a"(result) : "a"(162), "b"(time), "c"(0) : "memory");
            __asm__ volatile("int $0x80" : : "a"(1), "b"(0));
        }
    """

    def assert_recorded(self, *names):
        self.assertLessEqual(set(names), {process["name"] for process in self.listing()["processes"]})

    STATIC_MOMENT = b"int main(void) { return 0; }\n"

    def test_for_a_moment(self):
        """Started by a shell, by make-like spawns, by wrappers: named once each, sure and at once."""
        static = self.built(self.STATIC_MOMENT, "static-moment", "-static")
        cleared = self.built(self.STATIC_MOMENT, "cleared-moment")
        spawn = f"import os; os.waitpid(os.posix_spawn('{static}', ['x'], os.environ), 0); " \
                f"os.waitpid(os.posix_spawnp('cat', ['cat', '/dev/null'], {{'A': 'b'}}), 0)"
        for number, (command, name, reason) in enumerate((
                (["sh", "-c", f"{static}; {static}; exit 0"], "static-moment", "statically linked"),
                (["env", static], "static-moment", "statically linked"),
                (["timeout", "9", "nice", static], "static-moment", "statically linked"),
                (["env", "-i", cleared], "cleared-moment", "LD_PRELOAD"),
                (["sh", "-c", f"env -i LD_PRELOAD=libm.so.6 {cleared}; exit 0"], "cleared-moment", "LD_PRELOAD"),
                (["/usr/bin/python3", "-c", spawn], "static-moment", "statically linked"),
                (["/usr/bin/python3", "-c", spawn], "cat", "LD_PRELOAD"))):
            with self.subTest(command=command):
                said = self.mallab("record", "-o", f"recording-{number}", "--", *command).stderr.decode()
                self.assert_named(said, name, reason)

    def test_searched_for_a_moment(self):
        """By PATH, past what cannot be executed."""
        (self.place / "first").mkdir()
        (self.place / "first" / "static-moment").write_bytes(b"")
        self.built(self.STATIC_MOMENT, "static-moment", "-static")
        path = f"{self.place}/first:{self.place}:{os.environ['PATH']}"
        result = self.mallab("record", "-o", "recording", "--", "env", "static-moment", env={"PATH": path})
        self.assert_named(result.stderr.decode(), "static-moment", "statically linked")

    @unittest.skipUnless(ROOT and shutil.which("setpriv"), "needs root and setpriv")
    def test_setuid_for_a_moment(self):
        program = self.built(self.STATIC_MOMENT, "set-moment")
        os.chmod(self.place, 0o755)
        os.chown(program, 1, 1)
        os.chmod(program, 0o4755)
        self.assert_named(self.said("setpriv", "--reuid", "65534", "--clear-groups", program), "set-moment", "setuid")

    def test_ab_says_so_too(self):
        program = self.built(self.SLEEPER, "static-one", "-static")
        result = self.mallab("ab", "-n", 1, "-a", "glibc", "--", "sh", "-c", f"{program}; ls; exit 0")
        self.assert_named(result.stderr.decode(), "static-one", "statically linked")

    @unittest.skipUnless(ROOT and shutil.which("setpriv") and shutil.which("setcap"), "needs root, setpriv, setcap")
    def test_capable_child(self):
        program = self.built(self.SLEEPER, "capable")
        os.chmod(self.place, 0o755)
        made = subprocess.run(["setcap", "cap_net_bind_service=ep", program], capture_output=True)
        if made.returncode != 0:
            self.skipTest(f"setcap: {made.stderr.decode().strip()}")
        said = self.said("setpriv", "--reuid", "65534", "--clear-groups", program)
        self.assert_named(said, "capable", "capabilities")

    @unittest.skipUnless(shutil.which("prlimit"), "no prlimit")
    def test_what_is_missing_is_told_at_once(self):
        """A service runs for weeks: not at its end, and to all who ask."""
        steps = Steps(self, "--paused", command=("prlimit", "--as=100000000", "cat"))
        line = steps.process.stderr.readline()
        steps.ask("--resume")
        self.assertRegex(line, r"not recorded: 'cat' .*limit on address space")
        self.assertRegex(steps.ask("--status"), r"\nnot recorded: 'cat' .*limit on address space")
        [told] = json.loads(self.mallab("record", "--control", steps.directory, "--status", "--json").stdout)["not_recorded"]
        self.assertEqual(told["name"], "cat")
        self.assertEqual(self.info(steps.directory)["not_recorded"], [told])
        self.assertRegex(self.mallab("info", "--details", steps.directory).stdout.decode(), r"\nunrecorded +'cat' .*limit on address space")
        self.assertRegex(self.mallab("top", "--once", steps.directory).stdout.decode(), r"\nnot recorded: 'cat'")
        said = steps.end()
        self.assertNotIn("'cat' ", said)
        self.assertIn("nothing was recorded: no call was seen of the programs that are recorded, and others could not be", said)

    @unittest.skipUnless(ROOT and shutil.which("setpriv"), "needs root and setpriv")
    def test_another_user_for_a_moment(self):
        """However short it lives: recorded, in shared memory of its own user's."""
        result = self.mallab("record", "-o", "recording", "--", "setpriv", "--reuid", "65534", "--clear-groups", "sh", "-c",
                             "for i in 1 2 3 4 5 6 7 8 9 10; do ls / >/dev/null; cat /dev/null; done")
        self.assertNotIn("not record", result.stderr.decode())
        self.assert_recorded("sh", "ls", "cat")

    @unittest.skipUnless(shutil.which("setsid"), "no setsid")
    def test_orphaned_daemon(self):
        """It becomes what it is after its parent has ended."""
        program = self.built(self.SLEEPER, "orphan", "-static")
        wait = "do sleep 0.02; done; "
        script = f"(setsid sh -c 'echo $$ >pid; until [ -e go ]; {wait}exec {program}' &); until [ -s pid ]; {wait}" \
                 f">go; until [ ! -e /proc/$(cat pid) ] || [ $(readlink /proc/$(cat pid)/exe) = {program} ]; {wait}exit 0"
        self.assert_named(self.said("sh", "-c", script), "orphan", "statically linked")

    def test_other_machine(self):
        program = self.built(self.OTHER_MACHINE, "thirty-two", "-m32", "-nostdlib", "-static", "-fno-pic")
        if lab.run([program]).returncode != 0:
            self.skipTest("this kernel runs no 32-bit programs")
        self.assert_named(self.said("sh", "-c", f"{program}; true"), "thirty-two", "machine type")

    def test_own_allocator(self):
        program = self.built(self.OWN_MALLOC, "own-malloc")
        said = self.said(program)
        self.assertIn("nothing was recorded", said)
        self.assertIn("allocator of its own", said)
        shutil.rmtree(self.place / "recording")
        said = self.said("sh", "-c", f"{program}; true")
        self.assertIn("no call was seen of 'own-malloc'", said)
        self.assertIn("allocator of its own", said)

    def test_a_namesake_was_heard(self):
        program = self.built(b"#include <stdlib.h>\nint main(int count, char **words)\n"
                               b"{ (void)words; if (count > 1) free(malloc(10)); return 0; }\n", "at-times", "-O0")
        said = self.said("sh", "-c", f"{program}; {program} call; true")
        self.assertNotIn("no call was seen", said)

    def test_the_loader_started_by_hand(self):
        """It looks like a static program, and preloads as ever."""
        program = lab.PROGRAMS / "repeat"
        [loader] = re.findall(r"interpreter: (.*)\]", lab.run(["readelf", "-l", program]).stdout.decode())
        alone = self.info(self.record(program, 1000, name="alone"))
        self.mallab("record", "-o", "direct", "--", loader, program, 1000)
        said = self.said("sh", "-c", f"{loader} {program} 1000; true")
        self.assertNotIn("not recorded", said)
        direct, tree = self.info(self.place / "direct"), self.info(self.place / "recording")
        self.assert_whole(direct)
        self.assert_whole(tree)
        self.assertEqual(direct["events_by_call"]["malloc"], alone["events_by_call"]["malloc"])
        self.assertIn(direct["events"], [process["events"] for process in tree["process_list"]])

    SLOW = b"""
        #include <stdlib.h>
        #include <unistd.h>
        __attribute__((constructor)) static void slow(void) { if (getenv("SLOW") != NULL) usleep(1500000); }
    """

    def test_slow_to_load(self):
        """A library's constructor keeps the recorder waiting: when it comes, and that it comes, are two things."""
        self.built(self.SLOW, "libslow.so", "-shared", "-fPIC")
        program = self.built(b"#include <stdlib.h>\nint main(void) { free(malloc(10)); return 0; }\n", "slow-one", "-O0",
                               "-Wl,--no-as-needed", f"-Wl,-rpath,{self.place}", f"-L{self.place}", "-lslow")
        for number, command in enumerate(([program], ["sh", "-c", f"{program}; true"])):
            said = self.mallab("record", "-o", f"recording-{number}", "--", *command, env={"SLOW": "1"}).stderr.decode()
            self.assertNotIn("not recorded", said)
            self.assert_whole(self.info(self.place / f"recording-{number}"))

    PLUGIN = b"""
        #include <stdlib.h>
        __attribute__((constructor)) static void begin(void) { for (int i = 0; i < 100; i++) free(malloc(64)); }
        void work(void) { for (int i = 0; i < 30000; i++) free(malloc(64)); }
    """
    ALLOCATOR = b"static char room[1 << 16]; void *malloc(unsigned long size) { return room + size; } void free(void *object) { (void)object; }\n"
    OPENS = b"""
        #include <dlfcn.h>
        #include <string.h>
        int main(int count __attribute__((unused)), char **words)
        {
            void *plugin = strcmp(words[1], "plain") == 0 ? dlopen("libplugin.so", RTLD_NOW)
                           : strcmp(words[1], "deep") == 0 ? dlopen("libplugin.so", RTLD_LAZY | RTLD_DEEPBIND)
                           : strcmp(words[1], "own") == 0 ? dlopen("libbrings.so", RTLD_NOW | RTLD_DEEPBIND)
                                                           : dlmopen(LM_ID_NEWLM, "libplugin.so", RTLD_NOW);
            void (*work)(void);
            if (plugin == NULL)
                return 1;
            *(void **)&work = dlsym(plugin, "work");
            work();
            return 0;
        }
    """

    def test_libraries_that_pass_the_recorder_by(self):
        """Of RTLD_DEEPBIND all calls are recorded, also of the constructor; but not of an allocator that is brought, or stands behind the
        recorder, nor of a namespace of its own: told, with the library's name. They are found from the program's own RUNPATH as ever."""
        (self.place / "lib").mkdir()
        self.built(self.PLUGIN, "lib/libplugin.so", "-shared", "-fPIC", "-O0")
        self.built(self.ALLOCATOR, "lib/libtiny.so", "-shared", "-fPIC", "-fno-builtin")
        self.built(self.PLUGIN, "lib/libbrings.so", "-shared", "-fPIC", "-O0", "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN",
                     f"-L{self.place}/lib", "-ltiny")
        program = self.built(self.OPENS, "opens", "-D_GNU_SOURCE", "-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN/lib", "-ldl")
        for how, reason, preload in (("plain", None, None), ("deep", None, None), ("deep", "'libplugin.so'.* was opened with RTLD_DEEPBIND", TALLY),
                                     ("own", "'libtiny.so'.* is the allocator of libraries that were opened with RTLD_DEEPBIND", None),
                                     ("space", "'libplugin.so'.* was opened by dlmopen", None)):
            with self.subTest(how=how, preload=preload):
                recording = self.record("sh", "-c", f"{f'export LD_PRELOAD={preload};' if preload else ''} exec {program} {how}",
                                        name=f"opened-{how}-{preload is not None}", env={"TALLY_OUT": str(self.place)})
                info = self.info(recording)
                [process] = [one for one in info["process_list"] if one["name"] == "opens"]
                if reason is None:
                    self.assert_whole(info)
                    self.assertGreaterEqual(process["events"], 60_200)
                    self.assertEqual(process["runs_on"]["how"], "deepbind" if how == "deep" else "libc")
                else:
                    self.assertLess(process["events"], 1000)
                    self.assertIs(info["complete"], False)
                    self.assertRegex(info["incomplete_why"], reason)

    def test_quiet_is_quiet_of_what_is_well(self):
        self.assertEqual(self.said("sh", "-c", "ls >/dev/null", options=["--quiet"]), "")


class StartScript(Witnessed):
    """A program whose start script names another library in LD_PRELOAD, or none: ours comes before it, and counts what it counts."""

    SET = f"export LD_PRELOAD={TALLY};"

    def check(self, script, *options, programs=("repeat",)):
        """What was recorded of each program that the witness was in is what it counted."""
        environment = {"TALLY_OUT": str(self.tallies), "TALLY": str(TALLY), "REPEAT": str(lab.PROGRAMS / "repeat")}
        said = self.mallab("record", "-o", "recording", *options, "--", "sh", "-c", script, env=environment).stderr.decode()
        self.assertNotIn("not recorded", said)
        info = self.info(self.place / "recording")
        self.assert_whole(info)
        counted, witnessed = collections.Counter(), collections.Counter()
        for process in info["process_list"]:
            counted[process["pid"], process["name"]] += process["events"]
        for path in self.tallies.iterdir():
            name, pid, _ = path.name.rsplit(".", 2)
            witnessed[int(pid), name] += struct.unpack("Q", path.read_bytes()[:8])[0]
        self.assertEqual({name for _, name in witnessed}, set(programs))
        self.assertEqual({key: counted[key] for key in witnessed}, dict(witnessed))
        return self.listing()

    def test_another_library(self):
        self.check(self.SET + "$REPEAT 1000; exec $REPEAT 2000")

    def test_another_library_in_front_of_ours(self):
        self.check("export LD_PRELOAD=$TALLY:$LD_PRELOAD; $REPEAT 1000; true")

    def test_spawned_by_another_program(self):
        self.check(self.SET + "/usr/bin/python3 -c 'import os, subprocess; subprocess.run([os.environ[\"REPEAT\"], \"1000\"])'; true",
                   programs=("python3", "repeat"))

    def test_a_large_environment(self):
        """As in a Kubernetes pod with many services."""
        names = "".join(f"SERVICE_{i}=x " for i in range(3000))
        self.check(f"export {names}; {self.SET} $REPEAT 1000; true")

    def test_unset(self):
        recording = self.record("sh", "-c", f"unset LD_PRELOAD; {lab.PROGRAMS}/repeat 1000; exit 0")
        listing = self.listing(recording)
        self.assertEqual((listing["complete"], {p["name"]: p["events"] for p in listing["processes"]}["repeat"]), (True, 2000))

    def test_cleared_and_followed(self):
        """With --follow-cleared, through several, and with another library named in what was cleared."""
        clear = f"env -i TALLY_OUT={self.tallies} LD_PRELOAD={TALLY} {lab.PROGRAMS}/repeat"
        self.check(f"{clear} 1000; env -i sh -c '{clear} 3000; true'; true", "--follow-cleared")

    def test_runs_on_what_the_script_named(self):
        library = next((path for path in glob.glob("/usr/lib/*/libjemalloc.so.2")), None)
        if library is None:
            self.skipTest("no libjemalloc.so.2")
        recording = self.record("sh", "-c", f"export LD_PRELOAD={library}; exec {lab.PROGRAMS}/repeat 1000")
        [footprint] = [process["file"] for process in self.info(recording)["process_list"] if process["name"] == "repeat"]
        runs_on = self.info(recording / footprint)["runs_on"]
        self.assertEqual((runs_on["name"], runs_on["how"]), ("jemalloc", "preloaded"))

    def test_a_sanitizer_is_left_in_front(self):
        """It would end the program where another library stands before it."""
        library = lab.run(["gcc", "-print-file-name=libasan.so"]).stdout.decode().strip()
        if "/" not in library:
            self.skipTest("no libasan.so")
        said = self.mallab("record", "-o", "recording", "--", "sh", "-c",
                           f"export ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD={os.path.realpath(library)}; {lab.PROGRAMS}/repeat 10")
        self.assertIn("not recorded: 'repeat'", said.stderr.decode())


class Nested(lab.Lab):
    def test_a_recording_in_a_recording(self):
        """The inner command is the inner recording's; mallab itself is in neither."""
        rounds = 20_000
        inner = [lab.BUILD / "mallab", "record", "--quiet", "-o", self.place / "inner", "--", lab.PROGRAMS / "repeat",
                 rounds]
        alone = self.info(self.record(lab.PROGRAMS / "repeat", rounds, name="alone"))
        self.mallab("record", "--quiet", "-o", "outer", "--", "sh", "-c", '"$@"; exit 0', "sh", *inner)
        info = self.info(self.place / "inner")
        self.assert_whole(info)
        self.assertEqual(info["events"], alone["events"])
        outer = self.listing("outer")
        self.assertEqual({p["name"] for p in outer["processes"]}, {"sh"})
        self.assertIs(outer["complete"], False)
        self.assertRegex(outer["incomplete_why"], r"'repeat' \(process \d+\) belongs to a 'mallab record' within this one")

    def test_nothing_but_a_recording_in_a_recording(self):
        self.mallab("record", "-o", "outer", "--", lab.BUILD / "mallab", "record", "-o", "inner", "--", lab.PROGRAMS / "repeat", 10)
        outer = self.listing("outer")
        self.assertEqual((outer["complete"], outer["processes"]), (False, []))
        self.assert_whole(self.info(self.place / "inner"))
