"""Large programs and servers recorded from start to end under their own load tools: results equal to the unrecorded run,
every process there, every call counted, held against a witness in the same run, and no defect at the conversion.
scripts/setup --programs installs them; what is missing is skipped by name. Servers listen on the loopback only."""
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.request

import lab
from lab import needs
from witnessed import SETTINGS, Witnessed

ROOT = os.geteuid() == 0


class Tools(Witnessed):
    @needs("gcc", "as", "ld")
    def test_gcc(self):
        lines = ["struct s { int a, b[7]; double c; };"]
        for i in range(800):
            call = f" + f{i - 1}(p, n / 2)" if i else ""
            lines.append(f"static int f{i}(struct s *p, int n) {{ for (int i = 0; i < n; i++) p->b[i % 7] += i * {i}; "
                         f"return p->a{call}; }}")
        lines.append("int main(void) { struct s v = {0}; return f799(&v, 3) != 0; }")
        (self.place / "large.c").write_text("\n".join(lines))
        self.compare("sh", "-c", "gcc -O2 -g -o out large.c && ./out && sha256sum <out",
                     least=200_000, programs=["gcc", "cc1", "as", "ld", "out"])

    def history(self):
        """A repository of 200 commits, the same each time: this project's own grows, and others commit while it is read."""
        stream = []
        for number in range(200):
            text = "".join(f"line {i * 7919 % (1000 + number)} of {number if i % 11 == 0 else i}\n" for i in range(100 + number))
            stream.append(f"commit refs/heads/main\ncommitter A <a@b.c> {1_700_000_000 + 60 * number} +0000\n"
                          f"data 6\nChange\nM 100644 inline f{number % 30}\ndata {len(text)}\n{text}\n")
        subprocess.run(["git", "init", "-q", "--bare", "repository"], cwd=self.place, check=True)
        subprocess.run(["git", "-C", "repository", "fast-import", "--quiet"], cwd=self.place, input="".join(stream).encode(), check=True)
        return self.place / "repository"

    @needs("git")
    def test_git(self):
        """Clone, log, gc in two threads, fsck."""
        settings = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
                    "GIT_CONFIG_VALUE_0": "*"}
        script = 'rm -rf clone && git clone -q --no-local --bare -b main "$0" clone && cd clone && git log --stat | sha256sum && ' \
                 'git -c pack.threads=2 gc -q --aggressive --prune=now && git fsck --no-progress && git rev-list --all | wc -l'
        self.compare("sh", "-c", script, self.history(), least=100_000, programs=["git", "sh"], env=settings)

    @needs("node")
    def test_node(self):
        """How much node compiles in the background, and so how often it calls, follows the load: 77,000 to 140,000 calls."""
        script = "const m = new Map(); for (let i = 0; i < 50000; i++) m.set('k' + i % 5003, 'v'.repeat(i % 90));" \
                 "console.log(m.size, JSON.stringify([...m]).length, " \
                 "require('child_process').execSync('echo child').toString());" \
                 "const { Worker } = require('worker_threads');" \
                 "new Worker('let n = 0; for (const x of Array(9e4).keys()) n += `${x}`.length;" \
                 "require(\"worker_threads\").parentPort.postMessage(n)', { eval: true }).on('message', console.log)"
        self.compare("node", "-e", script, least=20_000, programs=["node"])

    @needs("ruby")
    def test_ruby(self):
        script = "t = 4.times.map { |k| Thread.new { (1..9000).map { |i| (i * k).to_s * 3 }.join.length } }; " \
                 "puts t.sum(&:value); GC.compact rescue 0; puts `echo child`; pid = fork { exit!(7) }; " \
                 "Process.wait(pid); puts $?.exitstatus"
        self.compare("ruby", "-e", script, least=50_000, programs=["ruby"])

    @needs("perl")
    def test_perl(self):
        script = "my %h; $h{($_ * 7919) % 5003} .= chr(97 + $_ % 26) for 1..40000; " \
                 "print join(',', map { length $h{$_} } sort { $a <=> $b } keys %h), \"\\n\", `echo child`; " \
                 "if (!fork) { my @x = map { 'x' x $_ } 1..300; kill 9, $$ } wait; print $?, \"\\n\";"
        self.compare("perl", "-e", script, least=20_000, programs=["perl"])


class Servers(Witnessed):
    def test_redis(self):
        """Two clients' threads; the server forks to save, and rewrites its log."""
        missing = [name for name in ("redis-server", "redis-benchmark", "redis-cli") if not shutil.which(name)]
        if missing:
            self.skipTest(f"not installed: {', '.join(missing)}")
        address = self.place / "socket"
        server = self.start("redis-server", "--port", 0, "--unixsocket", address, "--save", "", "--appendonly", "yes",
                            "--dir", self.place, "--logfile", self.place / "log")
        client = ["redis-cli", "-s", str(address)]
        lab.wait_for(lambda: lab.run([*client, "ping"]).stdout == b"PONG\n", "redis-server")
        load = lab.run(["redis-benchmark", "-q", "-s", address, "-n", 20000, "-r", 1000, "-d", 200, "-c", 20,
                        "-t", "set,get,lpush,hset,zadd"])
        self.assertEqual(load.returncode, 0, load.stderr)
        lab.run([*client, "bgrewriteaof"])
        lab.wait_for(lambda: b"aof_rewrite_in_progress:0" in lab.run([*client, "info", "persistence"]).stdout,
                     "the rewrite")
        self.assertEqual(lab.run([*client, "set", "answer", "42"]).stdout, b"OK\n")
        self.assertEqual(lab.run([*client, "get", "answer"]).stdout, b"42\n")
        lab.run([*client, "shutdown", "nosave"])
        self.assertEqual(server.wait(timeout=lab.PATIENCE_S), 0, server.communicate())
        server.communicate()
        info = self.judge(300_000, ["redis-server"])
        self.assertEqual(info["processes"], 2)

    @needs("nginx", "ab")
    def test_nginx(self):
        """Master and workers that drop to another user where we are root; a reload; a graceful stop."""
        self.place.chmod(0o755)
        (self.place / "page").write_text("".join(f"line {i * 7919 % 1009}\n" for i in range(3000)))
        port = lab.free_port()
        (self.place / "conf").write_text(f"""
            {"user www-data;" if ROOT else ""}
            worker_processes 2; daemon off; pid {self.place}/pid; error_log {self.place}/errors;
            events {{ worker_connections 64; }}
            http {{
                access_log {self.place}/access; gzip on; gzip_types *;
                client_body_temp_path {self.place}/body; proxy_temp_path {self.place}/proxy;
                fastcgi_temp_path {self.place}/fastcgi; uwsgi_temp_path {self.place}/uwsgi;
                scgi_temp_path {self.place}/scgi;
                server {{ listen 127.0.0.1:{port}; root {self.place}; location /text {{ return 200 "text\\n"; }} }}
            }}""")
        nginx = self.start(shutil.which("nginx"), "-p", self.place, "-c", self.place / "conf")

        def load(name, requests):
            result = lab.run(["ab", "-q", "-n", requests, "-c", 16, "-H", "Accept-Encoding: gzip",
                              f"http://127.0.0.1:{port}/{name}"])
            self.assertEqual(result.returncode, 0, result.stderr)
            text = result.stdout.decode()
            self.assertRegex(text, rf"Complete requests:\s+{requests}\n")
            self.assertRegex(text, r"Failed requests:\s+0\n")
            self.assertNotIn("Non-2xx", text)

        def workers():
            return subprocess.run(["ps", "-o", "pid=", "--ppid", str(master)], capture_output=True).stdout.split()

        lab.wait_for(lambda: (self.place / "pid").exists() and (self.place / "pid").read_text().strip(), "nginx")
        master = int((self.place / "pid").read_text())
        load("page", 3000)
        load("text", 3000)
        before = set(workers())
        os.kill(master, signal.SIGHUP)
        lab.wait_for(lambda: len(workers()) == 2 and not before & set(workers()), "the reload")
        load("page", 1000)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/page") as answer:
            self.assertEqual(answer.read(), (self.place / "page").read_bytes())
        os.kill(master, signal.SIGQUIT)
        _, said = nginx.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual(nginx.returncode, 0, said)
        self.assertEqual(len((self.place / "access").read_text().splitlines()), 7001)
        info = self.judge(50_000, ["nginx"])
        self.assertEqual(info["processes"], 5, "the master, and two workers twice")
        self.assertNotIn(b"not recorded", said)

    POSTGRES = next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin"))), "")

    def postgres_place(self):
        if not os.path.exists(self.POSTGRES + "/pgbench") and not shutil.which("pgbench"):
            self.skipTest("not installed: postgresql, pgbench")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="mallab-postgres-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        user = []
        if ROOT:
            if not shutil.which("setpriv"):
                self.skipTest("postgres does not run as root, and no setpriv")
            shutil.chown(folder, "nobody")
            user = ["setpriv", "--reuid", "nobody", "--clear-groups"]
        self.environment.update(HOME=str(folder), USER="nobody", PGHOST=str(folder), PGUSER="owner", PGDATABASE="postgres",
                                PATH=f"{self.POSTGRES}:{os.environ['PATH']}")
        return folder, user

    def postgres_plain(self, folder, user, *command):
        """A client or tool, unrecorded and uncounted."""
        environment = {k: v for k, v in self.environment.items() if k not in ("LD_PRELOAD", "TALLY_OUT")}
        return lab.run([*user, *command], cwd=folder, env=environment)

    def test_postgres(self):
        """The server under its own user and pgbench: a process a connection, parallel workers, a fast stop."""
        folder, user = self.postgres_place()
        made = self.postgres_plain(folder, user, "initdb", "-D", folder / "data", "-A", "trust", "-N", "-U", "owner")
        self.assertEqual(made.returncode, 0, made.stderr)
        server = self.start("postgres", "-D", folder / "data", "-F", "-k", folder, "-c", "listen_addresses=",
                            "-c", "min_parallel_table_scan_size=0", "-c", "parallel_setup_cost=0", user=user, place=folder)
        lab.wait_for(lambda: self.postgres_plain(folder, user, "pg_isready", "-q").returncode == 0, "postgres")
        for command in (["pgbench", "-q", "-i", "-s", "1"], ["pgbench", "-n", "-c", "4", "-j", "2", "-t", "200"]):
            load = self.postgres_plain(folder, user, *command)
            self.assertEqual(load.returncode, 0, load.stderr)
        self.assertIn(b"800/800", load.stdout)
        query = "select count(*), sum(abalance) = (select sum(bbalance) from pgbench_branches) from pgbench_accounts"
        self.assertEqual(self.postgres_plain(folder, user, "psql", "-Atc", query).stdout, b"100000|t\n")
        os.kill(int((folder / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGINT)
        _, said = server.communicate(timeout=lab.PATIENCE_S)
        self.assertEqual(server.returncode, 0, said)
        self.assertNotIn(b"not recorded", said)
        info = self.judge(50_000, ["postgres"], folder / "recording")
        self.assertGreater(info["processes"], 10)


class Browser(Witnessed):
    """Debian's Chromium defines malloc itself, over its PartitionAlloc, so no preloaded library sees its calls: what is
    shown is that its processes, zygotes and sandboxes are not disturbed, and that nothing is claimed of them."""

    PAGE = """<!doctype html><title>t</title><body><script>
        for (let i = 0; i < 2000; i++) {
            const line = document.createElement('p');
            line.textContent = 'line ' + i * 7919 % 1009;
            document.body.append(line);
        }
        document.title = document.body.textContent.length;
        </script></body>"""

    def load_page(self, place, *options, user=()):
        (place / "page.html").write_text(self.PAGE)
        self.environment["HOME"] = str(place)
        command = ["chromium", "--headless", "--disable-gpu", *options, f"--user-data-dir={place}/profile",
                   "--dump-dom", f"file://{place}/page.html"]
        plain = lab.run([*user, *command], cwd=place, env={**SETTINGS, "HOME": str(place)})
        if plain.returncode != 0 or b"line 856" not in plain.stdout:
            self.skipTest(f"chromium does not run here: {plain.stderr.decode(errors='replace')[-200:]}")
        shutil.rmtree(place / "profile", ignore_errors=True)
        status, output, said = self.run_recorded(*command, user=user, place=place)
        self.assertEqual((status, output), (0, plain.stdout), said[-2000:])
        info = self.judge(1_000, ["chromium", "exe"], place / "recording", lacks="brings a malloc of its own")
        self.assertGreater(info["processes"], 5)
        silent = re.findall("no call was seen of (.*?):", said.decode(errors="replace"))
        self.assertEqual(len(silent), 1, said[-2000:])
        self.assertIn("'chromium'", silent[0])

    @needs("chromium")
    def test_page(self):
        self.load_page(self.place, *(["--no-sandbox"] if ROOT else []))

    @needs("chromium")
    @unittest.skipUnless(ROOT and shutil.which("setpriv"), "needs root and setpriv; else the test above has the sandbox")
    def test_page_in_the_sandbox(self):
        """As an ordinary user: user namespaces, a chroot, seccomp."""
        place = pathlib.Path(tempfile.mkdtemp(prefix="mallab-chromium-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        shutil.chown(place, "nobody", "nogroup")
        self.load_page(place, user=["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"])
