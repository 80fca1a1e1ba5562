"""Ten programs of different kinds from Debian that nobody tuned mallab for, small enough to run a hundred times each."""
import shutil
import socket
import subprocess

NODE = """
const zlib = require("zlib");
const kept = [];
let sum = 0;
for (let i = 0; i < 6000; i++) {
  const buffer = Buffer.alloc(5000 + (i * 7919) % 55000);
  buffer.write("line " + i);
  kept[i % 500] = buffer;
  if (i % 10 == 0) sum += zlib.deflateSync(Buffer.from(("text of " + i + " ").repeat(400))).length;
}
const rows = JSON.parse(JSON.stringify([...Array(20000).keys()].map((i) => ({ id: i, name: "n" + i, tags: ["a", "b" + (i % 7)] }))));
console.log(sum, kept.length, rows.length);
"""

PHP = r"""<?php
$words = [];
for ($i = 0; $i < 150000; $i++) $words["w" . ($i * 7919 % 5003)][] = "line $i of the text";
ksort($words);
$text = "";
foreach ($words as $word => $lines) $text .= $word . ": " . implode(", ", $lines) . "\n";
preg_match_all('/w\d+/', $text, $found);
echo count(json_decode(json_encode($words), true)), " ", strlen($text), " ", count($found[0]), "\n";
"""

PAGES = """%!PS
/Times-Roman findfont 9 scalefont setfont
1 1 4 { /page exch def
  0 1 60 { /line exch def
    40 760 line 12 mul sub moveto (page ) show page 10 string cvs show ( line ) show line 10 string cvs show
    ( and some words that fill the rest of it, in one font or the other, as in a report) show } for
  0 1 40 { /i exch def gsave i 40 div 1 i 40 div sub 0.5 setrgbcolor 60 i 12 mul add 100 i 9 mul add translate
    i 9 mul rotate 0 0 moveto 80 30 60 90 i 3 mul 120 curveto closepath fill grestore } for
  showpage } for
"""

NGINX = """user root root;
worker_processes 2;
daemon off;
pid %(place)s/nginx.pid;
error_log %(place)s/nginx.log;
events { worker_connections 128; }
http {
  access_log off;
  gzip on; gzip_min_length 100; gzip_types text/plain;
  client_body_temp_path %(place)s/nginx.body; proxy_temp_path %(place)s/nginx.proxy;
  fastcgi_temp_path %(place)s/nginx.fastcgi; uwsgi_temp_path %(place)s/nginx.uwsgi; scgi_temp_path %(place)s/nginx.scgi;
  server { listen 127.0.0.1:%(port)s; root %(place)s; default_type text/plain; }
}
"""

GUNICORN = """
import json
def app(environ, start_response):
    rows = [{"id": i, "name": "n%d" % i, "tags": ["a%d" % (i % 7)] * 5} for i in range(400)]
    body = json.dumps(sorted(json.loads(json.dumps(rows)), key=lambda row: row["name"])).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
"""


def cxx_source(count):
    """Templates of the standard library and classes of our own, each a little different."""
    lines = [f"#include <{name}>" for name in ("map", "string", "vector")]
    for i in range(count):
        lines.append(f"struct s{i} {{ std::map<std::string, std::vector<int>> t; template <class F> int each(F f)"
                     " { int r = 0; for (auto &p : t) for (int x : p.second) r += f(x); return r; } };")
        lines.append(f'int f{i}(s{i} &s, int n) {{ s.t["k{i}"].push_back(n); return s.each([n](int x) {{ return x * {i} ^ n; }}); }}')
    return "\n".join(lines) + "\n"


def many_functions(count):
    """What a linker has to do with: a section for each function and datum, and strings to merge."""
    return "\n".join(f'int f{i}(int x) {{ return x + {i}; }}\nconst char *s{i} = "string number {i} of the file";' for i in range(count)) + "\n"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Debian:
    """packages: name of each program -> what brings it. Programs are dicts: `command` for one that ends by itself, with `process` where
    it is not the command's own; `start`, `ready` and `load` for a service."""

    def __init__(self, place):
        self.place = place

    def programs(self):
        place = self.place
        for name, text in (("work.js", NODE), ("work.php", PHP), ("pages.ps", PAGES), ("busy.cc", cxx_source(10)), ("many.c", many_functions(8000)),
                           ("app.py", GUNICORN), ("page.txt", "some words of a page\n" * 1000)):
            (place / name).write_text(text)
        gs = ["gs", "-q", "-dBATCH", "-dNOPAUSE"]
        yield "node", {"node": "nodejs"}, {"command": ["node", place / "work.js"]}
        # With its extensions, which Debian opens with RTLD_DEEPBIND, it dies under every preloaded allocator.
        yield "php", {"php": "php-cli"}, {"command": ["php", "-n", place / "work.php"], "process": "php"}
        yield "ripgrep (Rust)", {"rg": "ripgrep"}, {"command": ["rg", "-c", "--sort", "none", r"a[mn]a|(\w+)\s+struct", "/usr/include/linux", "/usr/include/c++"]}
        yield "gs png", {"gs": "ghostscript"}, {"command": [*gs, "-sDEVICE=png16m", "-r100", "-sOutputFile=/dev/null", place / "pages.ps"]}
        yield "pdftoppm", {"pdftoppm": "poppler-utils", "gs": "ghostscript"}, {
            "before": [*gs, "-sDEVICE=pdfwrite", f"-sOutputFile={place}/pages.pdf", place / "pages.ps"],
            "command": ["pdftoppm", "-r", "72", place / "pages.pdf", place / "page"]}
        yield "g++ (cc1plus)", {"g++": "g++"}, {"command": ["g++", "-O1", "-c", place / "busy.cc", "-o", "/dev/null"], "process": "cc1plus"}
        yield "clang++", {"clang++": "clang"}, {"command": ["clang++", "-O1", "-c", place / "busy.cc", "-o", "/dev/null"], "process": "clang++"}
        yield "lld, 4 threads", {"ld.lld": "lld", "gcc": "gcc"}, {
            "before": ["gcc", "-g", "-ffunction-sections", "-fdata-sections", "-c", place / "many.c", "-o", place / "many.o"],
            "command": ["ld.lld", "--threads=4", "-shared", "--gc-sections", "--icf=all", "-o", place / "many.so", place / "many.o"], "process": "ld.lld"}
        port = free_port()
        (place / "nginx.conf").write_text(NGINX % {"place": place, "port": port})
        address = f"http://127.0.0.1:{port}/page.txt"
        yield "nginx, 2 workers", {"nginx": "nginx-light", "ab": "apache2-utils"}, {
            "start": f"exec nginx -p {place} -c nginx.conf", "process": "nginx",
            "ready": f"ab -q -n 1 {address}", "load": f"ab -q -n 4000 -c 8 -H 'Accept-Encoding: gzip' {address}"}
        port = free_port()
        address = f"http://127.0.0.1:{port}/"
        yield "gunicorn, 2 workers", {"gunicorn": "gunicorn", "ab": "apache2-utils"}, {
            "start": f"exec gunicorn --log-level error -w 2 -b 127.0.0.1:{port} --chdir {place} app:app", "process": "python3",
            "ready": f"ab -q -n 1 {address}", "load": f"ab -q -n 150 -c 4 {address}"}

    def install(self, note):
        """Only when asked for. Packages that cannot be had leave their programs out."""
        packages = sorted({package for _, needed, _ in self.programs() for program, package in needed.items() if not shutil.which(program)})
        if packages and subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *packages], stdout=subprocess.DEVNULL).returncode != 0:
            note(f"fidelity: cannot install {' '.join(packages)}")
