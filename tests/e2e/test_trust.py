"""Between two users: what nobody made has root do nothing but refuse it. No file of anybody's is removed, no process is
signalled, nothing of another user's is mapped; and --trust-owner reads a recording and does nothing else."""

import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import lab

NOBODY = 65534
AS_NOBODY = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
OWNER = (pwd.getpwuid(NOBODY).pw_name if NOBODY in {user.pw_uid for user in pwd.getpwall()} else str(NOBODY)).encode()
SHM = pathlib.Path("/dev/shm")
CHURN = lab.BUILD / "tests" / "shim" / "shim_churn"
REMEDY = b"--trust-owner " + OWNER


class Users(lab.Lab):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("a second user takes root")
        # In /tmp: the place of a test may be below a directory that nobody cannot enter, as the build may.
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="mallab-trust-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.place.chmod(0o755)
        self.theirs = self.place / "theirs"
        self.theirs.mkdir(mode=0o755)
        os.chown(self.theirs, NOBODY, NOBODY)
        self.bin = self.place / "bin"
        self.bin.mkdir()
        for program in (lab.BUILD / "mallab", lab.BUILD / "mallab-collect", lab.SHIM, lab.PROGRAMS / "steps", CHURN):
            shutil.copy(program, self.bin)

    def victim(self):
        """A process of root's that no signal may reach."""
        process = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def segment(self, of_user, content=b"x" * 4096, owner=NOBODY):
        """A file in /dev/shm with the name of a segment, gone at the end. Its owner's at once: collectors look at their own."""
        path = SHM / f"mallab-{of_user}-{os.urandom(8).hex()}"
        self.addCleanup(path.unlink, missing_ok=True)
        made = pathlib.Path(tempfile.mkdtemp(dir=SHM)) / path.name
        self.addCleanup(made.parent.rmdir)
        made.write_bytes(content)
        made.chmod(0o600)
        os.chown(made, owner, owner)
        made.rename(path)
        return path

    def going_on(self, directory, **user):
        """A recording that goes on until the test ends, and its collector."""
        self.recorder = subprocess.Popen([self.bin / "mallab", "record", "-q", "-o", directory, "--", self.bin / "steps"],
                                         cwd=directory.parent, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, **user)
        self.addCleanup(self.recorder.wait)
        self.addCleanup(self.recorder.stdin.close)
        lab.wait_for(lambda: list(directory.glob("steps.*.fp")), "the recording to begin")
        return self.listing(directory)

    def forge(self, directory, recording, owner=NOBODY):
        directory.mkdir(mode=0o700, exist_ok=True)
        path = directory / "recording.json"
        recording["collector"]["directory_inode"] = directory.stat().st_ino
        path.write_text(json.dumps(recording))
        path.chmod(0o600)
        for made in (directory, path):
            os.chown(made, owner, owner)
        return directory

    def assert_refused(self, *arguments, words=b"belongs to user " + OWNER, status=lab.BAD_INPUT):
        self.assertIn(words, self.mallab(*arguments, status=status).stderr)

    def assert_only_read(self, directory, *kept):
        """Whatever root does with a directory of nobody's, and whatever it names: everything stays as it was."""
        def state():
            return [(path, path.lstat().st_ino, path.lstat().st_size) for path in [*sorted(directory.iterdir()), *kept]]
        before = state()
        for trust in ([], ["--trust-owner", str(NOBODY)]):
            for verb in (["info"], ["convert", "--force", "-o", self.place / "out.wl"], ["top", "--once"]):
                ended = lab.run([lab.BUILD / "mallab", *verb, *trust, directory], cwd=self.place)
                if not trust:
                    self.assertEqual(ended.returncode, lab.BAD_INPUT, ended.stderr)
                    self.assertIn(b"belongs to user " + OWNER, ended.stderr)
                    self.assertIn(REMEDY, ended.stderr)
                self.assertGreaterEqual(ended.returncode, 0)
        self.assertEqual(state(), before)


class Recordings(Users):
    def test_only_read_when_asked(self):
        """convert, ab and info of another user's recording: refused, and read with --trust-owner."""
        made = self.theirs / "made"
        lab.run([self.bin / "mallab", "record", "-q", "-o", made, "--", self.bin / "shim_churn", "100"], cwd=self.theirs,
                **AS_NOBODY).check_returncode()
        footprint, = made.glob("*.fp")
        for named in (made, footprint, made / "recording.json"):
            self.assert_refused("info", named)
            self.assert_refused("convert", "-o", self.place / "a.wl", named, words=REMEDY)
        self.assert_refused("ab", "-q", "-a", "glibc", made)
        for user in (NOBODY, OWNER.decode()):
            info = self.answer("info", "--json", "--trust-owner", user, made)
            self.assertEqual((info["complete"], info["events"]), (True, self.answer("info", "--json", "--trust-owner", user,
                                                                                   footprint)["events"]))
        self.assert_refused("info", "--trust-owner", "12345", made)
        self.mallab("convert", "--trust-owner", NOBODY, "-o", self.place / "a.wl", made)
        self.assert_only_read(made)

    def test_nothing_is_loaded_that_a_stranger_brought(self):
        """What a recording names, here the allocator that its program ran on, is in no process of root's; and that program has no library of
        ours but the one beside mallab, in whose directory root alone writes. The stranger's leaves a file wherever it is loaded."""
        brought, loads = self.theirs / "libjemalloc.so.2", self.place / "loads"
        shutil.copy(lab.PROGRAMS / "libtally.so", brought)
        os.chown(brought, NOBODY, NOBODY)
        loads.mkdir()
        loads.chmod(0o777)
        made, environment = self.theirs / "made", {"TALLY_OUT": str(loads)}
        maps = lab.run([self.bin / "mallab", "record", "-q", "-o", made, "--", "cat", "/proc/self/maps"], cwd=self.theirs,
                       env={"LD_PRELOAD": str(brought), **environment}, **AS_NOBODY)
        self.assertEqual(maps.returncode, 0, maps.stderr)
        code = {line.split(maxsplit=5)[5] for line in maps.stdout.decode().splitlines() if "x" in line.split()[1] and "/" in line}
        self.assertEqual({path for path in code if "mallab" in path}, {str(self.bin / lab.SHIM.name), str(brought)})
        self.assertTrue([path for path in loads.iterdir() if path.name.startswith("cat")])
        for path in loads.iterdir():
            path.unlink()
        info = self.mallab("info", "--json", "--trust-owner", NOBODY, made, env=environment).stdout.decode()
        self.assertIn(str(brought), info)
        for arguments in (("ab", "-q", "-n", "1", "-a", "glibc,jemalloc", "--trust-owner", NOBODY, "-o", self.place / "result.json", made),
                          ("report", self.place / "result.json")):
            self.mallab(*arguments, env=environment)
        self.assertEqual(list(loads.iterdir()), [])

    def test_nothing_is_taken_over(self):
        """A killed collector's segment, by its own name and by one of root's (S1): whose it is, the file's owner tells, and no word in it."""
        made = self.theirs / "made"
        recording = self.going_on(made, **AS_NOBODY)
        self.recorder.kill()  # or it would recover what its collector left
        self.recorder.wait()
        os.kill(recording["collector"]["pid"], signal.SIGKILL)
        content = pathlib.Path(recording["segment_path"]).read_bytes()
        for user in (NOBODY, 0):
            path = self.segment(user, content)
            with self.subTest(user=user):
                self.forge(made, {**recording, "segment_path": str(path)})
                self.assert_only_read(made, path)
                # A new recording of root's looks for what killed collectors of its own left.
                self.record(self.bin / "shim_churn", "10", name=f"own.{user}")
                self.assertEqual(path.read_bytes(), content)

    def test_recording_into_what_is_another_users(self):
        """Also into an empty directory; its owner is named (S8)."""
        for name in ("empty", "filled"):
            directory = self.theirs / name
            directory.mkdir(mode=0o777)
            os.chown(directory, NOBODY, NOBODY)
        (directory / "file").write_text("")
        for name in ("empty", "filled"):
            ended = self.mallab("record", "-o", self.theirs / name, "--", "true", status=125)
            self.assertIn(b"belongs to user " + OWNER, ended.stderr)
            self.assertIn(b"name one of your own", ended.stderr)
        self.assertEqual(sorted(path.name for path in self.theirs.rglob("*")), ["empty", "file", "filled"])


class Programs(Users):
    def preload(self, out, **more):
        return lab.run([self.bin / "shim_churn", "10"], cwd=self.place,
                       env={"LD_PRELOAD": str(self.bin / "libmallab.so"), "MALLAB_OUT": str(out), **more})

    def test_a_directory_that_was_there_first(self):
        """Root's program, told to record into a directory that nobody has made below a sticky one (S2)."""
        public = self.place / "public"
        public.mkdir()
        public.chmod(0o1777)
        recording = self.going_on(public / "nightly", **AS_NOBODY)
        before = sorted((public / "nightly").iterdir())
        ended = self.preload(public / "nightly")
        self.assertEqual(ended.returncode, 0)
        self.assertIn(b"not recording: output directory", ended.stderr)
        self.assertIn(b"belongs to user " + OWNER + b"; name one of your own", ended.stderr)
        self.assertEqual(ended.stderr.count(b"\n"), 1)
        self.assertEqual(sorted((public / "nightly").iterdir()), before)
        self.assertEqual(sorted(public.iterdir()), [public / "nightly"])
        self.assertEqual(lab.run([self.bin / "mallab", "record", "--control", public / "nightly", "--status"],
                                 **AS_NOBODY).returncode, lab.DONE)
        # One of its own there is recorded into, and joined.
        self.assertEqual(self.preload(public / "own").stderr, b"")
        # And with the segment's own path.
        self.assertEqual(self.preload(self.place / "none", MALLAB_SEGMENT=recording["segment_path"]).returncode, 0)
        self.assertEqual(list((public / "nightly").glob("shim_churn.*")), [])

    def test_segments_that_are_not_believed(self):
        """What is against one is told to its collector, whose socket has the segment's name."""
        path = self.segment(0)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notes:
            notes.bind("\0" + path.name)
            notes.settimeout(lab.PATIENCE_S)

            def objection():
                ended = self.preload(self.place / "none", MALLAB_SEGMENT=str(path))
                self.assertEqual((ended.returncode, ended.stderr), (0, b""))
                return notes.recv(1000)

            self.assertIn(b"belongs to another user", objection())
            os.chown(path, 0, 0)
            self.assertIn(b"is not one of mallab's", objection())
            path.chmod(0o666)
            self.assertIn(b"can be written to by other users", objection())
            path.chmod(0o600)
            second = path.with_name(path.name + ".second")
            self.addCleanup(second.unlink)
            os.link(path, second)
            self.assertIn(b"has several names", objection())
            path.unlink()
            os.mkfifo(path, 0o600)
            self.assertIn(b"not a regular file", objection())

    def test_foreign_segment_in_a_directory_of_ours(self):
        """recording.json is ours, and names a segment that is not: nothing is joined."""
        recording = self.going_on(self.theirs / "made", **AS_NOBODY)
        ours = self.forge(self.place / "ours", recording, owner=0)
        ended = self.preload(ours)
        self.assertEqual((ended.returncode, ended.stderr.count(b"recording into")), (0, 1), ended.stderr)
        self.assertEqual([path.name for path in ours.iterdir()], ["recording.json"])

    def test_rights_of_another(self):
        """A setuid program loads the library: it does nothing, as its environment is its caller's (AT_SECURE)."""
        program = self.place / "secure"
        shutil.copy(lab.PROGRAMS / "secure", program)
        os.chown(program, NOBODY, NOBODY)
        program.chmod(0o4755)
        out = self.theirs / "out"
        for segment in ({}, {"MALLAB_SEGMENT": "/dev/shm/mallab-0-0011223344556677"}):
            ended = lab.run([program, self.bin / "libmallab.so"], cwd=self.theirs, env={"MALLAB_OUT": str(out), **segment})
            if ended.returncode == 77:
                self.skipTest("setuid has no effect here")
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, b"", b""))
            self.assertEqual(list(self.theirs.iterdir()), [])


class Notes(Users):
    SENDS = "import socket, sys; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(sys.argv[2].encode() + b'\\0is not there', b'\\0' + sys.argv[1].encode())"

    def test_a_strangers_note_is_none(self):
        """Who is of no recorded process' descent cannot make a recording say that programs are missing; who is, and root, can."""
        recording = self.going_on(self.place / "made")
        name = pathlib.Path(recording["segment_path"]).name
        lab.run(["/usr/bin/python3", "-c", self.SENDS, name, "stranger"], **AS_NOBODY).check_returncode()
        lab.run([sys.executable, "-c", self.SENDS, name, "own"]).check_returncode()
        self.recorder.stdin.close()
        self.recorder.wait()
        told = self.listing(self.place / "made")
        self.assertEqual([note["name"] for note in told["not_recorded"]], ["own"])


class Signals(Users):
    REQUESTS = ("--status", "--pause", "--resume", "--rotate", "--end")

    def assert_spared(self, victim, directory, status):
        for request in self.REQUESTS:
            self.mallab("record", "--control", directory, request, status=status)
        ended = lab.run([lab.BUILD / "mallab", "top", "--once", directory])
        self.assertEqual(ended.returncode, lab.DONE if status == lab.FAILED else lab.BAD_INPUT, ended.stderr)
        self.assertIsNone(victim.poll())

    def named(self, recording, victim, **more):
        """recording.json with a process of root's for a collector, true in every word about it."""
        ticks = int(pathlib.Path(f"/proc/{victim.pid}/stat").read_text().rpartition(")")[2].split()[19])
        return {**recording, "collector": {**recording["collector"], "pid": victim.pid, "start_ticks": ticks}, **more}

    def test_another_users_recording(self):
        """S5: any process that it names was signalled."""
        victim = self.victim()
        recording = self.going_on(self.theirs / "made", **AS_NOBODY)
        forged = self.forge(self.theirs / "forged", self.named(recording, victim))
        self.assert_spared(victim, forged, lab.BAD_INPUT)
        self.mallab("top", "--once", "--trust-owner", NOBODY, forged)
        self.assertIsNone(victim.poll())
        ended = lab.run([lab.BUILD / "mallab", "record", "--control", forged, "--end"])
        self.assertIn(b"belongs to user " + OWNER + b", and only that user can ask its collector", ended.stderr)

    def test_own_recording_without_its_collector(self):
        """An old recording.json of our own, and a process that has got the number since."""
        victim = self.victim()
        recording = self.going_on(self.place / "made")
        path = self.segment(0, owner=0)
        forged = self.forge(self.place / "forged", self.named(recording, victim, segment_path=str(path)), owner=0)
        self.assert_spared(victim, forged, lab.FAILED)

    def test_own_recording_that_names_another_process(self):
        """Its collector lives and holds its lock, but is not that process."""
        victim = self.victim()
        recording = self.going_on(self.place / "made")
        forged = self.forge(self.place / "forged", self.named(recording, victim), owner=0)
        self.assert_spared(victim, forged, lab.FAILED)
        # One that is called like the collector, and executes a file of nobody's.
        impostor = self.theirs / "mallab-collect"
        shutil.copy(shutil.which("sleep"), impostor)
        impostor.chmod(0o755)
        os.chown(impostor, NOBODY, NOBODY)
        process = subprocess.Popen([impostor, "1000"], stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        lab.wait_for(lambda: os.readlink(f"/proc/{process.pid}/exe") == str(impostor), "the exec")
        self.forge(forged, self.named(recording, process), owner=0)
        self.assert_spared(process, forged, lab.FAILED)
        self.mallab("record", "--control", self.place / "made", "--status")
