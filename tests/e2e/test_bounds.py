"""Small files that ask for much: refused with the bound's name and the way around it, exit code 3, within 512 MB."""
import gzip
import json
import lzma
import resource
import zipfile

import hostile
import lab

MEMORY = 512 << 20


def confine():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


class Bounds(lab.Lab):
    def refused(self, *arguments, words=(), env=None):
        result = self.mallab(*arguments, status=lab.BAD_INPUT, preexec_fn=confine, env=env or {})
        said = result.stderr.decode()
        self.assertNotIn("Traceback", said)
        for word in words:
            self.assertIn(word, said)
        return said

    def write(self, name, data):
        path = self.place / name
        path.write_bytes(data)
        return path


@lab.needs("zstd")
class Packed(Bounds):
    LINES = b"1: malloc 0xa000 16\n1: free 0xa000\n"

    def test_packed_twice(self):
        once = hostile.frame(self.LINES * 100)
        for name, data in (("zstd within zstd", hostile.frame(once)), ("zstd within gzip", gzip.compress(once)),
                           ("xz within zstd", hostile.frame(lzma.compress(self.LINES)))):
            with self.subTest(name):
                self.refused("convert", "-o", "out.wl", self.write(name, data), words=["packed more than once", name])
        # gzip is unpacked on the outside only
        path = self.write("inner.gz", hostile.frame(gzip.compress(self.LINES * 1000)))
        self.refused("convert", "-o", "out.wl", path, words=["no footprint, no recording"])
        path = self.place / "zip.gz"
        with zipfile.ZipFile(self.place / "one.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("trace", self.LINES * 100)
        path.write_bytes(gzip.compress((self.place / "one.zip").read_bytes()))
        self.refused("convert", "-o", "out.wl", path, words=["zip within gzip"])

    def test_one_layer_is_taken_off(self):
        self.mallab("convert", "--quiet", "-o", "out.wl", self.write("once", hostile.packed(self.LINES * 100)))
        self.assertEqual(self.info("out.wl")["events"], 200)

    def test_ratio(self):
        comments = b"\n" * (80 << 20)  # nothing of it is kept: only its length costs
        path = self.write("ratio", hostile.packed(self.LINES + comments))
        self.assertLess(path.stat().st_size, 16 << 10)
        self.refused("convert", "-o", "out.wl", path, words=["more than 1000 times", "convert ... -"])


@lab.needs("zstd")
class Memory(Bounds):
    def test_live_objects(self):
        path = self.write("greedy.fp", hostile.footprint_of_mallocs(24))
        self.assertLess(path.stat().st_size, 16 << 10)
        for verb in (["convert", "-o", "out.wl"], ["info"], ["info", "--verify"]):
            with self.subTest(verb=verb):
                self.refused(*verb, "--max-memory", "32M", path, words=["greedy.fp", "32 MiB", "as was asked",
                                                                         "--max-memory SIZE"])
        self.assertFalse((self.place / "out.wl").exists())
        directory = self.place / "recording"
        directory.mkdir()
        path.rename(directory / "greedy.1.fp")
        self.refused("convert", "-o", "each.wl", "--max-memory", "32M", directory,
                     words=["recording", "32 MiB", "as was asked"])
        (directory / "greedy.1.fp").rename(path)
        self.mallab("convert", "-q", "-o", "out.wl", "--max-memory", "400M", path, preexec_fn=confine)
        self.refused("replay", "--max-memory", "8M", "out.wl", words=["out.wl", "--max-memory SIZE"])
        self.refused("info", "out.wl", words=["MALLAB_MAX_MEMORY"], env={"MALLAB_MAX_MEMORY": str(8 << 20)})

    def test_a_size_is_asked_for(self):
        for verb in ("convert", "info", "ab", "replay"):
            self.assertIn(b"--max-memory takes a size such as", self.mallab(verb, "--max-memory", "much", "x", status=lab.MISUSE).stderr)

    def test_half_of_what_there_is(self):
        path = self.write("greedy.fp", hostile.footprint_of_mallocs(66))
        self.refused("convert", "-o", "out.wl", path, words=["256 MiB, half of what there is"])

    def test_threads_without_ops(self):
        path = self.write("crowd.wl", hostile.workload_of_threads(1 << 20))
        self.assertLess(path.stat().st_size, 4 << 10)
        for verb in ("replay", "info"):
            with self.subTest(verb=verb):
                self.refused(verb, path, words=["more threads than it has ops"])

    def test_threads_at_once(self):
        lines = ["mallab-workload-text 1"] + [f"thread {i} {i + 1}" for i in range(5000)]
        lines += [f"{i} malloc {i + 1} 16" for i in range(5000)] + ["end 1000", ""]
        self.write("many.txt", "\n".join(lines).encode())
        self.mallab("convert", "-q", "-o", "many.wl", "many.txt")
        self.refused("replay", "many.wl", words=["5,000 threads at once", "4,096", "--max-memory SIZE"])
        self.refused("replay", "--max-memory", "64M", "many.wl", words=["64 MiB, as was asked"])
        self.mallab("replay", "--one-thread", "many.wl", preexec_fn=confine)


class Json(Bounds):
    def recording(self, text):
        directory = self.place / "recording"
        directory.mkdir(exist_ok=True)
        (directory / "recording.json").write_text(text)
        return directory

    def test_recording(self):
        for name, text, words in (
                ("large", "\0" * (1 + (256 << 20)), "larger than 262144 KiB"),
                ("dense", '{"schema": "mallab-recording/1", "x": [' + "{}," * (9 << 20) + '{}]}', "2048 MiB of memory"),
                ("deep", '{"schema": "mallab-recording/1", "x": ' + "[" * 100 + "]" * 100 + "}", "nested more than 64")):
            with self.subTest(name):
                directory = self.recording(text)
                self.refused("convert", "-o", "out.wl", directory, words=["recording.json", words, "move it away"])
                self.refused("info", directory, words=[words])

    def test_result(self):
        path = self.write("result.json", b'{"schema": "mallab-experiment/1", "x": [' + b"{}," * (9 << 20) + b"{}]}")
        for verb in (["report"], ["compare", path], ["info"]):
            with self.subTest(verb=verb):
                said = self.refused(*verb, path, words=["2048 MiB of memory", "MALLAB_MAX_MEMORY"])
                self.assertIn("result.json", said)
        deep = self.write("deep.json", b"[" * 1000 + b"]" * 1000)
        self.refused("report", deep, words=["nested more than 64"])


class Names(Bounds):
    """Names from files, wherever they are shown: nothing drives the terminal, turns a line around, or becomes another thing."""

    HOSTILE = "=1+1|\u202efdp.\x1b[31m`</script>\"%0A::error::x\u200b"

    def assert_plain(self, text):
        for character in "\u202e\x1b\u200b":
            self.assertNotIn(character, text, repr(text[-2000:]))

    def test_recording(self):
        directory = self.place / "recording"
        directory.mkdir()
        name = "a\u202e\x1b[31m.1.fp"
        program = b"program=x\xe2\x80\xae\x1b[2J\n"
        (directory / name).write_bytes(hostile.footprint_of_mallocs(1, program))
        process = {"file": name, "name": self.HOSTILE, "pid": 1, "events": 65536, "ended": "\u202e\x1b[1m", "complete": True}
        (directory / "recording.json").write_text(json.dumps(
            {"schema": "mallab-recording/1", "processes": [process], "complete": True}))
        for *verb, path, status in (
                ("info", directory, lab.DONE), ("info", "--json", directory, lab.DONE), ("info", directory / name, lab.DONE),
                ("convert", "-o", "out.wl", directory, lab.DONE), ("info", "out.wl", lab.DONE),
                ("info", "--verify", directory, lab.DONE), ("top", "--once", directory, lab.DONE),
                ("convert", "--process", "x\u202e", "-o", "no.wl", directory, lab.MISUSE),
                ("convert", "-o", "no.wl", directory / "no\u202e\x1b[1m.fp", lab.BAD_INPUT)):
            with self.subTest(verb=verb, path=path):
                result = self.mallab(*verb, path, status=status)
                self.assert_plain(result.stdout.decode() + result.stderr.decode())
