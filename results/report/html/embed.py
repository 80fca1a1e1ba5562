#!/usr/bin/env python3
"""Put the report's page together and write it as C, so that mallab carries it wherever it is installed.

embed.py OUT.c HERE: HERE is this folder. Scripts and styles are named in the page's security policy by their hashes."""
import base64
import hashlib
import pathlib
import sys

SCRIPTS = ["elements.js", "table.js", "charts.js", "rounds.js", "parts.js", "sections.js", "tune.js", "history.js", "report.js"]
GAPS = ["@TEXT@", "@DATA@"]


def source_of(text):
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def page_of(here):
    style = (here / "report.css").read_text()
    ours = "\n".join((here / name).read_text() for name in SCRIPTS)
    script = f"(() => {{\n\"use strict\";\n{ours}\n}})();\n"
    assert "</script" not in script.lower() and "</style" not in style.lower()
    policy = (f"default-src 'none'; script-src {source_of(script)}; style-src {source_of(style)}; "
              "base-uri 'none'; form-action 'none'")
    page = (here / "report.html").read_text()
    for mark, text in [("@POLICY@", policy), ("@STYLE@", style), ("@SCRIPT@", script)]:
        assert page.count(mark) == 1, mark
        page = page.replace(mark, text)
    return page


def main():
    text = page_of(pathlib.Path(sys.argv[2]))
    gaps = []
    for gap in GAPS:
        assert text.count(gap) == 1
        gaps.append(len(text.split(gap)[0].encode()))
        text = text.replace(gap, "")
    page = text.encode()
    numbers = [str(byte) if byte < 128 else f"(char){byte}" for byte in page + b"\0"]
    lines = [",".join(numbers[i:i + 40]) for i in range(0, len(numbers), 40)]
    pathlib.Path(sys.argv[1]).write_text("/* Made by results/report/html/embed.py. */\n#include <stddef.h>\n"
                   "extern const char res_html_page[];\nextern const size_t res_html_page_length, res_html_page_gaps[];\n"
                   f"const size_t res_html_page_length = {len(page)};\nconst size_t res_html_page_gaps[] = {{{gaps[0]}, {gaps[1]}}};\n"
                   "const char res_html_page[] = {\n" + ",\n".join(lines) + "};\n")


main()
