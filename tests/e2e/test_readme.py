"""README.md's commands, as they are printed and in their order, in one directory: each does what stands behind it. Only time is cut
short, by a wrapper in the place of build/mallab: whatever takes minutes there takes a second or two here."""
import re
import shutil
import stat
import subprocess

import lab

README = (lab.SOURCE / "README.md").read_text()
EXIT = {"check": (0, 4, 5), "doctor": (0, 1)}  # of so few rounds a gate may be over or unclear; something may spoil measurements here

WRAPPER = """#!/bin/sh
verb=$1; shift
for word; do
    shift
    case $word in 5m | 10m | 60s) word=1s;; esac
    set -- "$@" "$word"
done
case $verb in
ab) exec {mallab} ab --time-budget 1s "$@";;
confirm) exec {mallab} confirm --time-budget 4s "$@";;
top) exec {mallab} top --once "$@";;
*) exec {mallab} "$verb" "$@";;
esac
"""
# Recorded it works for a while and ends, as nobody is here to press Ctrl-C; else it serves until it is ended.
SERVER = """#!/bin/sh
./worker 'BEGIN { for (i = 0; i < 20000; i++) { held[i % 900] = held[i % 900] "x" i; if (i % 70 == 0) delete held[i % 900] } }'
case $LD_PRELOAD in *libmallab*) exit 0;; esac
exec sleep 600
"""


class Readme(lab.Lab):
    def script(self, name, text):
        path = self.place / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def run_line(self, line):
        result = lab.run(["sh", "-c", line], cwd=self.place, env={"TMPDIR": str(self.place)})
        self.assertIn(result.returncode, EXIT.get(line.split()[1], (0,)), f"{line}\n{result.stderr.decode()}")
        return result

    def test_every_command(self):
        """In order: a later one reads what an earlier one made."""
        self.script("build/mallab", WRAPPER.format(mallab=lab.BUILD / "mallab"))
        self.script("server", SERVER)
        self.script("requests", "#!/bin/sh\n./worker 'BEGIN { for (i = 0; i < 3000; i++) held[i] = i }'\n")
        shutil.copy(shutil.which("awk"), self.place / "worker")
        lines = [line.strip() for line in README.splitlines() if line.startswith("    build/mallab ")]
        lines = [line for line in lines if " COMMAND " not in line]  # a place to fill in: below
        self.assertGreater(len(lines), 10)
        for line in lines:
            if "last-week.json" in line:
                shutil.copy(self.place / "result.json", self.place / "last-week.json")
            with self.subTest(line=line):
                self.run_line(line)
        for made in ("nightly", "stacks", "result.json", "page.html", "results"):
            self.assertTrue((self.place / made).exists(), made)
        for line in re.findall(r"`(build/mallab [^`]*)`", README):
            if "4711" not in line:
                with self.subTest(line=line):
                    self.run_line(line)

    def test_what_is_to_be_filled_in(self):
        """Its options are taken, whatever command or process it is."""
        lines = [line.strip() for line in README.splitlines() if line.startswith("    build/mallab ") and " COMMAND " in line]
        for line in lines + [line for line in re.findall(r"`(build/mallab [^`]*)`", README) if "4711" in line]:
            words = line.split("#")[0].split()[1:]
            self.mallab(*words[:1], "--help", *words[1:])

    def test_the_choice_that_is_made_permanent(self):
        """What README says to set makes a program run on that allocator, with that setting."""
        shell = re.search(r"\| shell \| `(.*) \./server`", README).group(1)
        if not any(one["name"] == "jemalloc" and one["found"] for one in self.answer("allocators", "--json")["allocators"]):
            self.skipTest("no jemalloc")
        for settings in {shell, re.search(r"`Environment=(.*?)`", README).group(1), re.search(r"`ENV (.*?)`", README).group(1)}:
            maps = subprocess.run(["sh", "-c", f"{settings} cat /proc/self/maps"], capture_output=True, check=True).stdout
            self.assertIn(b"libjemalloc.so.2", maps)

    def test_packages(self):
        """Those that are named are those of the candidates' files, which doctor names where a library is not there."""
        named = re.search(r"\| which packages\? \| (.*?): `mallab doctor`", README).group(1).split(", ")
        files = "".join(path.read_text() for path in (lab.SOURCE / "allocators").glob("*.ini"))
        for package in named:
            self.assertIn(f"package = {package}\n", files)
