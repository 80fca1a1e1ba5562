"""Small files that ask for much: refused with the bound's name and the way around it, exit code 3, within 512 MB."""
import ctypes
import gzip
import lzma
import resource
import struct
import subprocess
import zipfile

import lab

MEMORY = 512 << 20
MANY_THREADS = 1 << 20


def confine():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def frame(data):
    return subprocess.run(["zstd", "-q", "-c", "--no-check"], input=data, stdout=subprocess.PIPE, check=True).stdout


def sealed(head):
    """With its checksum behind it, XXH64 with seed 0."""
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH64.restype = ctypes.c_uint64
    return head + struct.pack("<Q", library.XXH64(head, ctypes.c_size_t(len(head)), ctypes.c_uint64(0)))


def block(kind, columns, count=0):
    """Of docs/format.md. columns: as they are and as they are stored."""
    payload = b"".join(struct.pack("<II", len(raw), len(kept)) for raw, kept in columns) + b"".join(kept for _, kept in columns)
    head = struct.pack("<IBBHIIIIQQQ", 0x4b4c424d, kind, 0, len(columns), 0, count, len(payload), 0, 0, 0, 0)
    return sealed(head + sealed(payload)[-8:]) + payload


def workload_of_threads():
    """A workload without an op that names so many threads: a kilobyte."""
    facts = bytes(11) + b"\x80\x80\x40" + bytes((0, 33)) + bytes(33)  # the number of threads as a varint
    threads = bytes(5 * MANY_THREADS)
    head = struct.pack("<8sHHIII40x", b"MALLABWL", 1, 64, 0, 64, 16)[:56]
    program = b"program=crowd\n"
    parts = sealed(head) + block(1, [(program, program)])
    summary = block(17, [(facts, facts), (threads, frame(threads)), (b"", b"")], count=MANY_THREADS)
    return parts + summary + sealed(struct.pack("<8sQ", b"MALLABWE", len(parts)))


class Bounds(lab.Lab):
    LINES = b"1: malloc 0xa000 16\n1: free 0xa000\n"

    def refused(self, *arguments, words=(), env=None):
        result = self.mallab(*arguments, status=lab.BAD_INPUT, preexec_fn=confine, env=env or {})
        for word in words:
            self.assertIn(word, result.stderr.decode())

    def write(self, name, data):
        path = self.place / name
        path.write_bytes(data)
        return path

    @lab.needs("zstd")
    def test_packed(self):
        """One layer is taken off, gzip on the outside only, of a ratio that is no attack."""
        once = frame(self.LINES * 100)
        with zipfile.ZipFile(self.place / "one.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("trace", self.LINES * 100)
        for words, data in ((["packed more than once", "zstd within zstd"], frame(once)),
                            (["packed more than once", "zstd within gzip"], gzip.compress(once)),
                            (["packed more than once", "xz within zstd"], frame(lzma.compress(self.LINES))),
                            (["no footprint, no recording"], frame(gzip.compress(self.LINES * 1000))),
                            (["zip within gzip"], gzip.compress((self.place / "one.zip").read_bytes())),
                            (["more than 1000 times", "convert ... -"], frame(self.LINES + b"\n" * (80 << 20)))):
            with self.subTest(words):
                self.refused("convert", "-o", "out.wl", self.write("packed", data), words=words)
        self.mallab("convert", "--quiet", "-o", "out.wl", self.write("once", once))
        self.assertEqual(self.info("out.wl")["events"], 200)

    def test_live_objects(self):
        self.write("greedy.gz", gzip.compress(b"".join(b"1: malloc 0x%x 16\n" % (16 * i) for i in range(1, 1_500_000)), 1))
        for verb in (["convert", "-o", "out.wl"], ["info"], ["info", "--verify"]):
            with self.subTest(verb=verb):
                self.refused(*verb, "--max-memory", "32M", "greedy.gz", words=["greedy.gz", "32 MiB, as was asked", "--max-memory SIZE"])
        self.assertFalse((self.place / "out.wl").exists())
        self.mallab("convert", "-q", "-o", "out.wl", "--max-memory", "400M", "greedy.gz", preexec_fn=confine)
        self.refused("replay", "--max-memory", "8M", "out.wl", words=["out.wl", "--max-memory SIZE"])
        self.refused("info", "out.wl", words=["MALLAB_MAX_MEMORY"], env={"MALLAB_MAX_MEMORY": str(8 << 20)})

    @lab.needs("zstd")
    def test_threads_without_ops(self):
        path = self.write("crowd.wl", workload_of_threads())
        self.assertLess(path.stat().st_size, 4 << 10)
        for verb in ("replay", "info"):
            self.refused(verb, path, words=["more threads than it has ops"])

    def test_threads_at_once(self):
        lines = ["mallab-workload-text 1"] + [f"thread {i} {i + 1}" for i in range(5000)]
        lines += [f"{i} malloc {i + 1} 16" for i in range(5000)] + ["end 1000", ""]
        self.write("many.txt", "\n".join(lines).encode())
        self.mallab("convert", "-q", "-o", "many.wl", "many.txt")
        self.refused("replay", "many.wl", words=["5,000 threads at once", "4,096", "--max-memory SIZE"])
        self.refused("replay", "--max-memory", "64M", "many.wl", words=["64 MiB, as was asked"])
        self.mallab("replay", "--one-thread", "many.wl", preexec_fn=confine)

    def test_json(self):
        (self.place / "recording").mkdir()
        dense, deep = b"{}," * (9 << 20) + b"{}", b"[" * 100 + b"]" * 100
        ours = b'{"schema": "mallab-recording/1", "x": '
        for name, text, verbs, words in (
                ("recording/recording.json", bytes(1 + (256 << 20)), (["info"],), ["larger than 262144 KiB"]),
                ("recording/recording.json", ours + b"[" + dense + b"]}", (["info"],), ["2048 MiB of memory"]),
                ("recording/recording.json", ours + deep + b"}", (["info"], ["convert", "-o", "out.wl"]),
                 ["recording.json", "nested more than 64", "move it away"]),
                ("result.json", b'{"schema": "mallab-experiment/1", "x": [' + dense + b"]}", (["report"], ["compare", "result.json"]),
                 ["result.json", "2048 MiB of memory", "MALLAB_MAX_MEMORY"]),
                ("result.json", deep * 10, (["report"],), ["nested more than 64"])):
            self.write(name, text)
            for verb in verbs:
                with self.subTest(words=words, verb=verb):
                    self.refused(*verb, name.removesuffix("/recording.json"), words=words)
