#!/usr/bin/env python3
"""A man page: the hand-written page with the options of the verb put in, as `mallab --roff VERB` prints them from their rows.

  make_page.py MALLAB PAGE SHARED OUTPUT

Behind the line '.\\" @options' of PAGE, up to the next section, '.\\" @more --OPTION' begins what is told of an option beyond
its help. SHARED has such parts too, with the verbs that they are for: '.\\" @more --OPTION VERB...'."""
import pathlib
import re
import subprocess
import sys

MARK = re.compile(r'^\.\\" @more (--[a-z-]+)(.*)\n', re.M)


def parts(text, verb=None):
    """{option: text}; of a text that names verbs, those for this one."""
    pieces = MARK.split(text)
    return {pieces[i]: pieces[i + 2].strip("\n") for i in range(1, len(pieces), 3)
            if verb is None or verb in pieces[i + 1].split()}


def main(mallab, page, shared, output):
    verb = page.stem.removeprefix("mallab-")
    head, _, rest = page.read_text().partition('.\\" @options\n')
    own, section, tail = rest.partition("\n.SH ")
    more = {**parts(shared.read_text(), verb), **parts(own + "\n")}
    options = subprocess.run([mallab, "--roff", verb], check=True, capture_output=True, text=True).stdout
    out = []
    for option in re.split(r"(?m)^(?=\.TP$|\.SS )", options):
        name = re.search(r"\\-\\-([\w\\-]+)", option.partition("\n")[2].partition("\n")[0])
        words = more.pop("--" + name[1].replace("\\-", "-"), None) if name and option.startswith(".TP") else None
        out.append(option + (words + "\n" if words else ""))
    if more:
        sys.exit(f"{page.name}: mallab {verb} has no option {', '.join(sorted(more))}")
    output.write_text(head + "".join(out) + (section + tail).lstrip("\n"))


main(sys.argv[1], *map(pathlib.Path, sys.argv[2:]))
