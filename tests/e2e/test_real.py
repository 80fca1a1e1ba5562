#!/usr/bin/env python3
"""Real programs recorded from start to end: exit status, output and results equal to the unrecorded run, nothing lost,
and the recording converts. What is not installed is skipped by name."""
import glob
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import lab
from lab import needs

REAL = {"env": {"PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0", "LC_ALL": "C.UTF-8"}}


class Real(lab.Lab):
    def compare(self, *command, least, programs=(), convert=True, **settings):
        """Run a command plainly and recorded. Returns the recording's facts."""
        settings = {**REAL, "cwd": self.place, **settings}
        plain = lab.run(command, **settings)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        seen = lab.run([lab.BUILD / "mallab", "record", "--quiet", "-o", self.place / "recording", "--", *command],
                       **settings)
        self.assertEqual((seen.returncode, seen.stdout, seen.stderr), (0, plain.stdout, plain.stderr))
        info = self.info(self.place / "recording")
        self.assert_whole(info)
        self.assertGreaterEqual(info["events"], least)
        names = {path.name.split(".")[0] for path in (self.place / "recording").glob("*.fp")}
        self.assertLessEqual(set(programs), names)
        if convert:
            self.convert(self.place / "recording")
        return info

    @needs("sqlite3")
    def test_sqlite(self):
        script = """CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
            INSERT INTO t SELECT i, printf('%d-%s', i * 7919 % 1000, hex(i)) FROM n;
            CREATE INDEX tb ON t(b);
            SELECT count(*), sum(length(b)), min(b), max(b) FROM t;
            SELECT substr(b, 1, 2) AS k, count(*), group_concat(a % 7) FROM t GROUP BY k ORDER BY k LIMIT 20;"""
        self.compare("sqlite3", ":memory:", script, least=10_000, programs=["sqlite3"])

    @unittest.skipUnless(os.access("/usr/bin/python3", os.X_OK), "no /usr/bin/python3")
    def test_python(self):
        script = "import subprocess, sys, json, re\n" \
                 "d = [{'k': i, 'v': [str(i)] * 4} for i in range(5000)]\n" \
                 "s = json.dumps(d)\n" \
                 "print(len(s), json.loads(s) == d, len(re.findall('[0-9]+', s)))\n" \
                 "print(subprocess.check_output([sys.executable, '-c', 'print(2**200)']).decode())\n"
        self.compare("/usr/bin/python3", "-c", script, least=20_000, programs=["python3"])

    @needs("perl")
    def test_perl(self):
        script = "my %h; for my $i (1..40000) { $h{($i * 7919) % 5003} .= chr(97 + $i % 26) } " \
                 "print join(',', map { length $h{$_} } sort { $a <=> $b } keys %h), \"\\n\"; " \
                 "my $pid = fork(); if (!$pid) { my @x = map { 'x' x $_ } 1..300; exit(@x == 300 ? 0 : 1) } " \
                 "waitpid($pid, 0); print $?, \"\\n\";"
        info = self.compare("perl", "-e", script, least=20_000, programs=["perl"])
        self.assertEqual(info["processes"], 2)

    @needs("ruby")
    def test_ruby(self):
        script = "h = Hash.new { |k, v| k[v] = [] }; 30000.times { |i| h[i * 7919 % 997] << i.to_s * 3 }; " \
                 "puts h.sort.map { |k, v| v.join.length }.join(','); GC.start; puts `echo child`"
        self.compare("ruby", "-e", script, least=10_000, programs=["ruby"])

    @needs("node")
    def test_node(self):
        script = "const m = new Map(); for (let i = 0; i < 50000; i++) m.set('k' + i % 5003, 'v'.repeat(i % 90));" \
                 "console.log(m.size, JSON.stringify([...m]).length);" \
                 "console.log(require('child_process').execSync('echo child').toString());" \
                 "require('zlib').gzip('x'.repeat(1e6), (e, b) => console.log(b.length))"
        self.compare("node", "-e", script, least=5_000, programs=["node"])

    @needs("lua5.4")
    def test_lua(self):
        script = "local t = {} for i = 1, 50000 do t[i] = ('x'):rep(i % 50) .. i end print(#table.concat(t))"
        self.compare("lua5.4", "-e", script, least=50_000)

    @needs("gcc", "as", "ld")
    def test_gcc(self):
        """The driver, the compiler, the assembler and the linker, each by name; the objects are equal."""
        lines = ["struct s { int a, b[7]; double c; };"]
        for i in range(1500):
            lines.append(f"static int f{i}(struct s *p, int n) {{ for (int i = 0; i < n; i++) p->b[i % 7] += i * {i}; "
                         f"return p->a{'' if i == 0 else f' + f{i - 1}(p, n / 2)'}; }}")
        lines.append("int main(void) { struct s v = {0}; return f1499(&v, 3) != 0; }")
        (self.place / "large.c").write_text("\n".join(lines))
        script = 'gcc -O1 -o "$0" large.c && ./"$0" && sha256sum < "$0"'
        self.compare("sh", "-c", script, "program", least=300_000, programs=["gcc", "cc1", "as", "ld"])

    @needs("git")
    def test_git(self):
        """status, log and gc of a repository; gc starts a tree of its own."""
        def git(*arguments):
            subprocess.run(["git", "-C", self.place / "origin", *arguments], check=True, stdout=subprocess.DEVNULL,
                           env=environment)
        environment = {**os.environ, "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A",
                       "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.place),
                       "GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}
        (self.place / "origin").mkdir()
        git("init", "-q", "-b", "main")
        for commit in range(40):
            for file in range(5):
                (self.place / "origin" / f"file{file}").write_text("\n".join(f"{commit} {i}" for i in range(200)))
            git("add", ".")
            git("commit", "-q", "-m", f"commit {commit}")
        (self.place / "origin" / "file1").write_text("changed")
        script = 'rm -rf work && cp -a origin work && cd work && git status --short && git log --stat --oneline && ' \
                 'git -c gc.auto=1 -c pack.threads=2 gc -q && git fsck --no-progress && git count-objects'
        settings = {"env": {**REAL["env"], "HOME": str(self.place), "GIT_CONFIG_NOSYSTEM": "1"}}
        info = self.compare("sh", "-c", script, least=20_000, programs=["git"], **settings)
        self.assertGreater(info["processes"], 4)


class Servers(lab.Lab):
    @needs("redis-check-rdb", "redis-benchmark", "redis-cli")
    def test_redis(self):
        """Debian's is linked with jemalloc; a background save forks it. The server is redis-check-rdb by another name."""
        address = self.place / "socket"
        (self.place / "redis-server").symlink_to(shutil.which("redis-check-rdb"))
        script = '"$1/redis-server" --port 0 --unixsocket "$0" --save "" --daemonize no --logfile "$1/log" --dir "$1" & ' \
                 'until redis-cli -s "$0" ping >/dev/null 2>&1; do sleep 0.05; done; ' \
                 'redis-benchmark -q -s "$0" -n 20000 -r 1000 -d 100 -t set,get,lpush,hset >/dev/null && ' \
                 'redis-cli -s "$0" bgsave && ' \
                 'until redis-cli -s "$0" info persistence | grep -q rdb_bgsave_in_progress:0; do sleep 0.05; done; ' \
                 'redis-cli -s "$0" set answer 42 && redis-cli -s "$0" get answer && redis-cli -s "$0" shutdown nosave; wait'
        result = self.mallab("record", "--quiet", "-o", "recording", "--", "sh", "-c", script, address, self.place, **REAL)
        self.assertEqual(result.stdout.decode().splitlines(), ["Background saving started", "OK", "42"])
        info = self.info(self.place / "recording")
        self.assert_whole(info)
        servers = list((self.place / "recording").glob("redis-server.*.fp"))
        self.assertEqual(len(servers), 2, "the server and its saving child")
        self.assertGreater(max(self.info(path)["events"] for path in servers), 100_000)
        self.convert(self.place / "recording")

    POSTGRES = next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin"))), "")

    @unittest.skipUnless(POSTGRES, "not installed: postgresql")
    @unittest.skipUnless(os.geteuid() != 0 or shutil.which("setpriv"), "postgres does not run as root, and no setpriv")
    def test_postgres(self):
        """A server that forks a process a connection and makes a user's queries; run under its own user."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="mallab-postgres-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        user = []
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody")
            user = ["setpriv", "--reuid", "nobody", "--clear-groups"]
        script = 'PATH="$1:$PATH"; initdb -D data -A trust -N >/dev/null && ' \
                 'pg_ctl -D data -w -l log -o "-F -k $2 -c listen_addresses=" start >/dev/null && ' \
                 'psql -h "$2" -Atc "select sum(i), count(distinct md5(i::text)) from generate_series(1, 20000) i" ' \
                 'postgres; psql -h "$2" -Atc "select 6 * 7" postgres; pg_ctl -D data -m fast -w stop >/dev/null'
        result = lab.run([*user, lab.BUILD / "mallab", "record", "--quiet", "-o", folder / "recording", "--", "sh", "-c",
                          script, "sh", self.POSTGRES, folder], cwd=folder,
                         env={**REAL["env"], "PGUSER": "", "USER": "nobody", "HOME": str(folder)})
        self.assertEqual((result.returncode, result.stdout), (0, b"200010000|20000\n42\n"), result.stderr)
        info = self.info(folder / "recording")
        self.assert_whole(info)
        self.assertGreater(info["processes"], 10)
        self.assertGreater(info["events"], 50_000)


if __name__ == "__main__":
    lab.main()
