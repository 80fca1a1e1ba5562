#!/usr/bin/env python3
"""Put a page together and write it as C, so that mallab carries it wherever it is installed.

embed.py OUT.c NAME PAGE.html FILE...: NAME is the array's; files are .css and .js, in the order in which they stand in the
page. Scripts and styles are named in the page's security policy by their hashes."""
import base64
import hashlib
import pathlib
import sys

GAPS = ["@TITLE@", "@BODY@", "@DATA@"]


def source_of(text):
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def page_of(page, files):
    style, ours = ("\n".join(pathlib.Path(name).read_text() for name in files if name.endswith(ending)) for ending in (".css", ".js"))
    script = f"(() => {{\n\"use strict\";\n{ours}\n}})();\n"
    assert "</script" not in script.lower() and "</style" not in style.lower()
    policy = (f"default-src 'none'; script-src {source_of(script)}; style-src {source_of(style)}; "
              "base-uri 'none'; form-action 'none'")
    page = page.read_text()
    for mark, text in [("@POLICY@", policy), ("@STYLE@", style), ("@SCRIPT@", script)]:
        assert page.count(mark) == 1, mark
        page = page.replace(mark, text)
    return page


def main():
    out, name, page, *files = sys.argv[1:]
    text = page_of(pathlib.Path(page), files)
    gaps = []
    for gap in GAPS:
        assert text.count(gap) <= 1
        if gap in text:
            gaps.append(str(len(text.split(gap)[0].encode())))
            text = text.replace(gap, "")
    page = text.encode()
    numbers = [str(byte) if byte < 128 else f"(char){byte}" for byte in page + b"\0"]
    lines = [",".join(numbers[i:i + 40]) for i in range(0, len(numbers), 40)]
    pathlib.Path(out).write_text(f"/* Made by results/report/html/embed.py. */\n#include <stddef.h>\n"
                   f"extern const char {name}[];\nextern const size_t {name}_length, {name}_gaps[];\n"
                   f"const size_t {name}_length = {len(page)};\nconst size_t {name}_gaps[] = {{{', '.join(gaps)}}};\n"
                   f"const char {name}[] = {{\n" + ",\n".join(lines) + "};\n")


main()
