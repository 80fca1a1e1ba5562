#!/usr/bin/env python3
"""A man page: the hand-written page with the options of the verb put in, as `mallab --rows VERB` has them.

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


def escaped(words):
    """Text of a man page: '-' is a minus to be typed, and no line begins with a control character."""
    begin = "\\&" if words[:1] in (".", "'") else ""
    return begin + words.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def sentence(words, end):
    """Help begins with a small letter and has no full stop at its end."""
    return escaped(words[0].upper() + words[1:] + ("" if words.endswith(":") else end)) + "\n"


def option(letter, name, argument, words):
    value = f" [=\\fI{argument[1:].partition(']')[0]}\\fR]" if argument.startswith("[") else f' " \\fI{argument}\\fR"' if argument else ""
    return ".TP\n.BR " + (f'\\-{letter} ", " ' if letter else "") + f"\\-\\-{escaped(name)}{value}\n" + sentence(words, ".")


def main(mallab, page, shared, output):
    verb = page.stem.removeprefix("mallab-")
    head, _, rest = page.read_text().partition('.\\" @options\n')
    own, section, tail = rest.partition("\n.SH ")
    more = {**parts(shared.read_text(), verb), **parts(own + "\n")}
    out, behind = [], ""  # what is told of the option that came last, behind its values
    for line in subprocess.run([mallab, "--rows", verb], check=True, capture_output=True, text=True).stdout.splitlines():
        kind, *words = line.split("\t")
        if kind == "value":
            out.append(f'.br\n.BR {escaped(words[0])} ": {escaped(words[1])}"\n')
            continue
        out.append(behind)
        out.append(".SS " + sentence(words[0], "") if kind == "heading" else option(*words))
        behind = more.pop("--" + words[1], "") + "\n" if kind == "option" and "--" + words[1] in more else ""
    if more:
        sys.exit(f"{page.name}: mallab {verb} has no option {', '.join(sorted(more))}")
    output.write_text(head + "".join(out) + behind + (section + tail).lstrip("\n"))


main(sys.argv[1], *map(pathlib.Path, sys.argv[2:]))
