#!/usr/bin/env python3
"""Recordings come home: a host's label from `record` to the result, `pack` and what takes packs, two hosts' recordings of one service
kept apart everywhere, and nothing half left by signals, full outputs and damage."""
import csv
import io
import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import tarfile
import unittest

import lab

QUICK = ("-n", "2", "--memory-rounds", "1", "--no-syscalls", "-a", "glibc,glibc+nocache")
SCRIPT = "local t = {} for i = 1, %d do t[i %% 300 + 1] = {tostring(i)} end"


@lab.needs("lua5.4", "zstd")
class Pack(lab.Lab):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = cls.keeper()
        for host, count in (("web1", 4000), ("web2", 5000)):
            (cls.made.place / host).mkdir()
            cls.made.mallab("record", "-q", "--label", host, "-o", f"{host}/x", "--", "lua5.4", "-e", SCRIPT % count)
            cls.made.mallab("convert", "-q", "-o", f"{host}/x.wl", f"{host}/x")
        cls.hosts = [cls.made.place / host for host in ("web1", "web2")]

    def pack(self, *arguments, **settings):
        return self.answer("pack", "--json", "-q", *arguments, **settings)

    # ---- labels

    def test_label_goes_all_the_way(self):
        recording = json.loads((self.hosts[0] / "x" / "recording.json").read_text())
        self.assertEqual(recording["label"], "web1")
        for path in ("x", "x.wl", next((self.hosts[0] / "x").glob("*.fp")).relative_to(self.hosts[0])):
            self.assertEqual(self.info(self.hosts[0] / path)["label"], "web1")
            self.assertIn("\nhost            web1\n", self.mallab("info", self.hosts[0] / path).stdout.decode())
        self.mallab("convert", "--to", "text", "-o", "x.txt", self.hosts[0] / "x.wl")
        self.mallab("convert", "-o", "again.wl", "x.txt")
        self.assertEqual((self.place / "again.wl").read_bytes(), (self.hosts[0] / "x.wl").read_bytes())
        result = self.answer("ab", "--json", *QUICK, self.hosts[0] / "x.wl")
        self.assertEqual([(one["name"], one["label"]) for one in result["workloads"]], [("x.wl", "web1")])

    def test_label_of_the_environment(self):
        self.mallab("record", "-q", "-o", "a", "--", "/bin/true", env={"MALLAB_LABEL": "db.7"})
        self.assertEqual(json.loads((self.place / "a/recording.json").read_text())["label"], "db.7")
        env = {**os.environ, "LD_PRELOAD": str(lab.SHIM), "MALLAB_OUT": str(self.place / "b"), "MALLAB_LABEL": "db-8"}
        subprocess.run(["/usr/bin/env", "true"], env=env, check=True)
        lab.wait_for(lambda: "db-8" in self.json_of("b") and "segment_path" not in self.json_of("b"), "the collector's end")
        self.assertEqual(json.loads(self.json_of("b"))["label"], "db-8")
        env.update(MALLAB_OUT=str(self.place / "c"), MALLAB_LABEL="../c")
        said = subprocess.run(["/usr/bin/env", "true"], env=env, check=True, capture_output=True).stderr.decode()
        self.assertIn("without $MALLAB_LABEL", said)
        lab.wait_for(lambda: '"processes"' in self.json_of("c") and "segment_path" not in self.json_of("c"), "the collector's end")
        self.assertNotIn("label", json.loads(self.json_of("c")))

    def json_of(self, directory):
        path = self.place / directory / "recording.json"
        return path.read_text() if path.exists() else ""

    def test_labels_refused(self):
        for label in ("", "..", ".a", "-a", "a/b", "a b", "ä", "a\n", "x" * 128):
            with self.subTest(label=label):
                self.mallab("record", "--label", label, "--", "/bin/true", status=lab.MISUSE)
                if label != "":
                    self.mallab("record", "--", "/bin/true", env={"MALLAB_LABEL": label}, status=lab.MISUSE)
        self.assertEqual(list(self.place.iterdir()), [])
        hostile = self.place / "x"
        self.mallab("record", "-q", "-o", "x", "--", "/bin/true")
        recording = json.loads((hostile / "recording.json").read_text())
        recording["label"] = "../../etc"
        (hostile / "recording.json").write_text(json.dumps(recording))
        self.assertNotIn("label", self.info(hostile))

    # ---- packs

    def test_a_recording_comes_back(self):
        told = self.pack(self.hosts[0] / "x")
        self.assertEqual(told["schema"], "mallab-pack/1")
        self.assertRegex(told["file"], r"^web1-lua5\.4-[0-9a-f]{8}\.tar\.zst$")
        pack = self.place / told["file"]
        self.assertEqual(stat.S_IMODE(pack.stat().st_mode), 0o600)
        self.assertEqual(pack.stat().st_size, told["file_bytes"])
        (item,) = told["items"]
        self.assertEqual((item["kind"], item["name"], item["label"], item["complete"]), ("recording", "web1/x", "web1", True))
        subprocess.run(["tar", "--zstd", "-xf", pack], cwd=self.place, check=True)
        for path in (self.hosts[0] / "x").iterdir():
            self.assertEqual((self.place / "web1/x" / path.name).read_bytes(), path.read_bytes())
        again = self.pack("-o", "again.tar.zst", self.hosts[0] / "x")
        self.assertEqual(again["digest"], told["digest"])
        self.assertEqual((self.place / "again.tar.zst").read_bytes(), pack.read_bytes())
        self.assertEqual(self.info(pack)["events"], self.info(self.hosts[0] / "x")["events"])
        self.mallab("convert", "-q", "-o", "x.wl", pack)
        self.assertEqual((self.place / "x.wl").read_bytes(), (self.hosts[0] / "x.wl").read_bytes())
        self.mallab("convert", "-q", pack, cwd=self.made.place / "web2" / "x")
        made = self.made.place / "web2" / "x" / "x.wl"
        self.addCleanup(made.unlink)
        self.assertEqual(made.read_bytes(), (self.hosts[0] / "x.wl").read_bytes())

    def test_only_the_workload(self):
        told = self.pack("--workload", "-o", "out.tar.zst", *(host / "x" for host in self.hosts))
        self.assertEqual([item["name"] for item in told["items"]], ["web1/x", "web2/x"])
        plain = subprocess.run(["zstd", "-dc", self.place / "out.tar.zst"], check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
            self.assertEqual(tar.getnames(), ["mallab-pack", "web1/x.wl", "web2/x.wl"])
            self.assertEqual({(member.mtime, member.uid, member.gid, member.uname) for member in tar}, {(0, 0, 0, "")})
            self.assertEqual(tar.extractfile("web2/x.wl").read(), (self.hosts[1] / "x.wl").read_bytes())
        for word in (b"/usr/bin", b"lua5.4 -e", str(self.place).encode()):
            self.assertFalse(word in plain, word)
        self.assertNotRegex(json.dumps(self.info(self.hosts[0] / "x.wl")), rf"\b{re.escape(os.uname().nodename)}\b")
        self.assertEqual(list(pathlib.Path(os.environ.get("TMPDIR", "/tmp")).glob(f"mallab-{'[A-Za-z0-9]' * 6}/x.wl")), [])
        result = self.answer("ab", "--json", *QUICK, "out.tar.zst")
        self.assertEqual([(one["name"], one["label"]) for one in result["workloads"]], [("web1/x.wl", "web1"), ("web2/x.wl", "web2")])
        self.assertEqual(self.mallab("info", "out.tar.zst").stdout.decode().count("\nhost "), 2)
        self.assertIn(b"one input at a time: the pack holds 2", self.mallab("convert", "out.tar.zst", "-o", "y.wl", status=lab.MISUSE).stderr)

    def test_a_plan_of_packs(self):
        self.pack("-o", "one.tar.zst", self.hosts[0] / "x")
        self.pack("--workload", "-o", "two.tar.zst", self.hosts[1] / "x")
        self.mallab("plan", "-a", "glibc,glibc+nocache", "-o", "plan", "one.tar.zst", "two.tar.zst")
        rows = (self.place / "plan" / "manifest.tsv").read_text().splitlines()
        rows = [row.split("\t") for row in rows[rows.index(next(row for row in rows if row.startswith("id\t"))) + 1:]]
        self.assertEqual({row[1] for row in rows}, {"web1", "web2"})
        for host in self.hosts:
            self.assertEqual({row[3] for row in rows if row[1] == host.name}, {self.info(host / "x.wl")["file_digest"]})
        self.assertTrue(all((self.place / "plan" / row[2]).exists() for row in rows))

    def test_names_never_collide(self):
        self.mallab("record", "-q", "-o", "x", "--", "lua5.4", "-e", SCRIPT % 100)
        told = self.pack("x", self.hosts[0] / "x", self.hosts[1] / "x", self.hosts[0] / "x")
        self.assertEqual([item["name"] for item in told["items"]], ["_/x", "web1/x", "web2/x", "web1/x-2"])
        self.assertRegex(told["file"], r"^fleet-lua5\.4-")
        result = self.mallab("pack", "x", self.hosts[0] / "x", self.hosts[1] / "x", self.hosts[0] / "x", status=lab.FAILED)
        self.assertIn(b"exists", result.stderr)
        self.pack("--force", "x", self.hosts[0] / "x", self.hosts[1] / "x", self.hosts[0] / "x")
        (self.place / "net").mkdir()
        self.assertRegex(self.pack("-o", "net", "x")["file"], r"^net/lua5\.4-[0-9a-f]{8}\.tar\.zst$")

    def test_not_whole_is_told_and_shipped(self):
        self.mallab("record", "-q", "-o", "x", "--max-size", "512K", "--", "lua5.4", "-e", SCRIPT % 600000)
        (self.place / "x" / "notes.txt").write_text("mine")
        result = self.mallab("pack", "-o", "a.tar.zst", "x")
        self.assertIn("'x' is not whole: ", result.stderr.decode())
        with tarfile.open(fileobj=io.BytesIO(subprocess.run(["zstd", "-dc", self.place / "a.tar.zst"], check=True, capture_output=True).stdout)) as tar:
            self.assertNotIn("_/x/notes.txt", tar.getnames())

    def test_refused(self):
        damaged = self.place / "x"
        self.mallab("record", "-q", "-o", "x", "--", "lua5.4", "-e", SCRIPT % 4000)
        path = next(damaged.glob("*.fp"))
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        self.assertIn(b"damaged", self.mallab("pack", "x", status=lab.BAD_INPUT).stderr)
        (self.place / "a.txt").write_text("no recording")
        self.assert_one_line(self.mallab("pack", "a.txt", status=lab.BAD_INPUT), "a.txt")
        self.assert_one_line(self.mallab("pack", "none", status=lab.BAD_INPUT), "none")
        self.mallab("pack", status=lab.MISUSE)
        self.mallab("pack", "-o", "no/such/x.tar.zst", self.hosts[0] / "x", status=lab.FAILED)
        self.assertEqual(sorted(os.listdir(self.place)), ["a.txt", "x"])
        going = subprocess.Popen([lab.BUILD / "mallab", "record", "-q", "-o", self.place / "y", "--", "sleep", "60"])
        try:
            lab.wait_for(lambda: "segment_path" in self.json_of("y"), "a recording that goes on")
            self.mallab("pack", "y", status=None)
            self.assertEqual(list(self.place.glob("*.zst")), [])
        finally:
            going.terminate()  # which ends the program, too: killed, it would leave it behind
            going.wait()

    def test_damaged_packs(self):
        told = self.pack("-o", "a.tar.zst", self.hosts[0] / "x")
        whole = (self.place / told["file"]).read_bytes()
        (self.place / "cut.tar.zst").write_bytes(whole[: len(whole) // 2])
        for verb in (["info"], ["convert", "-o", "y.wl"], ["ab", *QUICK]):
            self.assert_one_line(self.mallab(*verb, "cut.tar.zst", status=lab.BAD_INPUT), "cut.tar.zst")
        self.assertEqual(sorted(os.listdir(self.place)), ["a.tar.zst", "cut.tar.zst"])

    def test_signals_leave_nothing(self):
        temporary = self.place / "tmp"
        temporary.mkdir()
        (self.place / "out").mkdir()
        command = [lab.BUILD / "mallab", "ab", *QUICK, "--timeout", "1m", "-n", "1000", "a.tar.zst"]
        self.pack("-o", "a.tar.zst", self.hosts[0] / "x")
        running = subprocess.Popen(command, cwd=self.place, env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lab.wait_for(lambda: len(list(temporary.glob("mallab-*"))) > 1, "what ab unpacked and its own directory")
        running.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(lab.PATIENCE_S), -signal.SIGTERM)
        self.assertEqual(list(temporary.iterdir()), [])
        for verb in (["--workload"], []):
            running = subprocess.Popen([lab.BUILD / "mallab", "pack", *verb, "-o", "out/", self.hosts[0] / "x"], cwd=self.place,
                                       env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            running.send_signal(signal.SIGINT)
            self.assertIn(running.wait(lab.PATIENCE_S), (0, -signal.SIGINT, 1))
            self.assertEqual([path for path in (self.place / "out").iterdir() if not path.name.endswith(".tar.zst")], [])
            self.assertEqual(list(temporary.iterdir()), [])

    # ---- two hosts, one name

    def results(self):
        """A result of each host, in one directory; and one of both."""
        kept = self.place / "kept"
        kept.mkdir()
        for host in self.hosts:
            self.mallab("ab", *QUICK, "-o", f"kept/{host.name}.json", host / "x.wl")
        self.mallab("ab", *QUICK, "-o", "both.json", *(host / "x.wl" for host in self.hosts))
        return kept

    def test_two_hosts_stay_two(self):
        kept = self.results()
        history = self.answer("report", "--json", kept)
        self.assertEqual([(series["workload"], series["host"]) for series in history["series"]], [("web1/x.wl", "web1"), ("web2/x.wl", "web2")])
        for series in history["series"]:
            self.assertEqual([len(candidate["points"]) for candidate in series["candidates"]], [1, 1])
        for arguments in (["both.json"], ["--format", "md", "both.json"], ["--format", "html", "both.json"], [kept], ["--format", "md", kept]):
            told = self.mallab("report", *arguments).stdout.decode()
            self.assertIn("web1/x.wl", told)
            self.assertIn("web2/x.wl", told)
        rows = list(csv.DictReader(io.StringIO(self.mallab("report", "--format", "csv", "both.json").stdout.decode())))
        self.assertEqual(len({(row["label"], row["file_digest"]) for row in rows}), 2)
        self.assertEqual({row["label"] for row in rows}, {"web1", "web2"})
        check = self.mallab("check", "--json", "--budget", "time<=+900%", "both.json", status=None)
        self.assertEqual([finding["workload"] for finding in json.loads(check.stdout)["findings"]], ["web1/x.wl", "web2/x.wl"])
        self.mallab("check", "--junit", "junit.xml", "--budget", "time<=+900%", "both.json", status=None)
        self.assertEqual((self.place / "junit.xml").read_text().count("<testsuite "), 2)
        compared = self.answer("compare", "--json", "both.json", "both.json")
        self.assertEqual([one["name"] for one in compared["workloads"]], ["web1/x.wl", "web2/x.wl"])

    def test_without_labels_the_digest_tells(self):
        result = json.loads(json.dumps(self.answer("ab", "--json", *QUICK, self.hosts[0] / "x.wl")))
        kept = self.place / "kept"
        kept.mkdir()
        for number, digest in enumerate(("0123456789abcdef", "fedcba9876543210")):
            (workload,) = result["workloads"]
            workload.update(file_digest=digest)
            workload.pop("label", None)
            (kept / f"{number}.json").write_text(json.dumps(result))
        series = self.answer("report", "--json", kept)["series"]
        self.assertEqual([one["workload"] for one in series], ["x.wl 01234567", "x.wl fedcba98"])

    def test_same_calls_on_two_hosts(self):
        """A service whose calls are the same everywhere: the digest alone would pair one host with the other."""
        both = json.loads(json.dumps(self.answer("ab", "--json", *QUICK, self.hosts[0] / "x.wl")))
        (one,) = both["workloads"]
        other = json.loads(json.dumps(one))
        other["label"] = "web2"
        both["workloads"] = [one, other]
        (self.place / "then.json").write_text(json.dumps(both))
        both["workloads"] = [other, one]
        (self.place / "now.json").write_text(json.dumps(both))
        compared = self.answer("compare", "--json", "then.json", "now.json")
        self.assertEqual([one["name"] for one in compared["workloads"]], ["web2/x.wl", "web1/x.wl"])
        both["workloads"] = [one]
        (self.place / "one.json").write_text(json.dumps(both))
        both["workloads"] = [other]
        (self.place / "other.json").write_text(json.dumps(both))
        self.assert_one_line(self.mallab("compare", "one.json", "other.json", status=lab.FAILED), "of another host")


if __name__ == "__main__":
    lab.main()
