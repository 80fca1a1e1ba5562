"""Recordings come home: a host's label from `record` to the result, a recording that travels in a tar archive, and two hosts'
recordings of one service kept apart everywhere."""
import csv
import io
import json
import os
import subprocess

import lab

QUICK = ("-n", "2", "-a", "glibc,glibc+nocache")
SCRIPT = "local t = {} for i = 1, %d do t[i %% 300 + 1] = {tostring(i)} end"


@lab.needs("lua5.4", "zstd", "tar")
class Labels(lab.Lab):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = cls.keeper()
        for host, count in (("web1", 4000), ("web2", 5000)):
            (cls.made.place / host).mkdir()
            cls.made.mallab("record", "-q", "--label", host, "-o", f"{host}/x", "--", "lua5.4", "-e", SCRIPT % count)
            cls.made.mallab("convert", "-q", "-o", f"{host}/x.wl", f"{host}/x")
        cls.hosts = [cls.made.place / host for host in ("web1", "web2")]

    # ---- labels

    def test_label_goes_all_the_way(self):
        self.assertEqual(self.listing(self.hosts[0] / "x")["label"], "web1")
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
        self.assertEqual(self.listing("a")["label"], "db.7")
        env = {**os.environ, "LD_PRELOAD": str(lab.SHIM), "MALLAB_OUT": str(self.place / "b"), "MALLAB_LABEL": "db-8"}
        subprocess.run(["/usr/bin/env", "true"], env=env, check=True)
        self.assertEqual(self.wait_for_end("b")["label"], "db-8")
        env.update(MALLAB_OUT=str(self.place / "c"), MALLAB_LABEL="../c")
        said = subprocess.run(["/usr/bin/env", "true"], env=env, check=True, capture_output=True).stderr.decode()
        self.assertIn("without $MALLAB_LABEL", said)
        self.assertNotIn("label", self.wait_for_end("c"))

    def test_labels_refused(self):
        for label in ("", "..", ".a", "-a", "a/b", "a b", "ä", "a\n", "x" * 128):
            with self.subTest(label=label):
                self.mallab("record", "--label", label, "--", "/bin/true", status=lab.MISUSE)
                if label != "":
                    self.mallab("record", "--", "/bin/true", env={"MALLAB_LABEL": label}, status=lab.MISUSE)
        self.assertEqual(list(self.place.iterdir()), [])
        hostile = self.place / "x"
        self.mallab("record", "-q", "-o", "x", "--", "/bin/true")
        recording = self.listing("x")
        recording["label"] = "../../etc"
        (hostile / "recording.json").write_text(json.dumps(recording))
        self.assertNotIn("label", self.info(hostile))

    # ---- tar

    def test_a_recording_travels_by_tar(self):
        """A directory that was packed and extracted gives the same bytes; what is still packed is told how to be extracted."""
        for name, option in (("x.tar.zst", "--zstd"), ("x.tar.gz", "-z"), ("x.tar", "--blocking-factor=1")):
            with self.subTest(name=name):
                subprocess.run(["tar", option, "-C", self.hosts[0], "-cf", name, "x"], cwd=self.place, check=True)
                for verb in (["info"], ["info", "--verify"], ["convert", "-o", "y.wl"], ["ab", *QUICK], ["replay", "-a", "glibc"]):
                    self.assert_one_line(self.mallab(*verb, name, status=lab.BAD_INPUT), "is a tar archive: 'tar -xf")
                subprocess.run(["tar", "-xf", name], cwd=self.place, check=True)
                self.mallab("convert", "-q", "--force", "-o", "x.wl", "x")
                self.assertEqual((self.place / "x.wl").read_bytes(), (self.hosts[0] / "x.wl").read_bytes())
                self.assertEqual(self.info("x")["label"], "web1")

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
        self.assertEqual([(point["workload"], point["host"]) for point in history["points"]],
                         [("web1/x.wl", "web1")] * 2 + [("web2/x.wl", "web2")] * 2)
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
        self.assertEqual(list(dict.fromkeys(finding["workload"] for finding in compared["findings"])), ["web1/x.wl", "web2/x.wl"])

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
        self.assertEqual(list(dict.fromkeys(finding["workload"] for finding in compared["findings"])), ["web2/x.wl", "web1/x.wl"])
        both["workloads"] = [one]
        (self.place / "one.json").write_text(json.dumps(both))
        both["workloads"] = [other]
        (self.place / "other.json").write_text(json.dumps(both))
        self.assert_one_line(self.mallab("compare", "one.json", "other.json", status=lab.FAILED), "of another host")
