#!/usr/bin/env python3
"""Put the report's page together and write it as C, so that mallab carries it wherever it is installed.

embed.py OUT.c HERE [UPLOT]: HERE is this folder, UPLOT that of the npm package; without it the page is empty, and
`mallab report` says what is missing. Scripts and styles are named in the page's security policy by their hashes.
embed.py --check HERE UPLOT: whether the package's files are those of uplot.sha512; exit code 1, told, when not.

What is put into the page is what was checked: each file of the package is read once."""
import base64
import hashlib
import os
import pathlib
import sys

SCRIPTS = ["elements.js", "table.js", "charts.js", "parts.js", "sections.js", "tune.js", "history.js", "report.js"]
GAP = "@DATA@"


def source_of(text):
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def package_of(here, uplot):
    """Files of the package by their names; a link or other bytes than those of uplot.sha512 end it."""
    texts = {}
    for line in (here / "uplot.sha512").read_text().splitlines():
        digest, name = line.split()
        try:
            data = os.read(descriptor := os.open(uplot / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), 1 << 20)
            os.close(descriptor)
        except OSError as error:
            sys.exit(f"{uplot / name}: {error.strerror}; run scripts/setup")
        if hashlib.sha512(data).hexdigest() != digest:
            sys.exit(f"{uplot / name}: is not the file whose hash results/report/html/uplot.sha512 has; "
                     "remove results/report/html/node_modules and run scripts/setup")
        texts[name] = data.decode()
    return texts


def page_of(here, uplot):
    package = package_of(here, uplot)
    style = package["dist/uPlot.min.css"] + "\n" + (here / "report.css").read_text()
    licence = package["LICENSE"].strip()
    ours = "\n".join((here / name).read_text() for name in SCRIPTS)
    library = f"/* uPlot, github.com/leeoniya/uPlot\n\n{licence} */\n" + package["dist/uPlot.iife.min.js"]
    script = f"{library}\n(() => {{\n\"use strict\";\n{ours}\n}})();\n"
    assert "</script" not in script.lower() and "</style" not in style.lower()
    policy = (f"default-src 'none'; script-src {source_of(script)}; style-src {source_of(style)}; "
              "base-uri 'none'; form-action 'none'")
    page = (here / "report.html").read_text()
    for mark, text in [("@POLICY@", policy), ("@STYLE@", style), ("@SCRIPT@", script)]:
        assert page.count(mark) == 1, mark
        page = page.replace(mark, text)
    return page


def main():
    if sys.argv[1] == "--check":
        package_of(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
        return
    out, here = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    page, gap = b"", 0
    if len(sys.argv) > 3:
        text = page_of(here, pathlib.Path(sys.argv[3]))
        assert text.count(GAP) == 1
        gap = len(text.split(GAP)[0].encode())
        page = text.replace(GAP, "").encode()
    numbers = [str(byte) if byte < 128 else f"(char){byte}" for byte in page + b"\0"]
    lines = [",".join(numbers[i:i + 40]) for i in range(0, len(numbers), 40)]
    out.write_text("/* Made by results/report/html/embed.py. */\n#include <stddef.h>\n"
                   "extern const char res_html_page[];\nextern const size_t res_html_page_length, res_html_page_gap;\n"
                   f"const size_t res_html_page_length = {len(page)};\nconst size_t res_html_page_gap = {gap};\n"
                   "const char res_html_page[] = {\n" + ",\n".join(lines) + "};\n")


main()
