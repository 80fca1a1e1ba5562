#!/usr/bin/env python3
"""The key tables of docs/results.md say what the rows of result_fields.c say.
`check_rows.py --rewrite PRINT_ROWS` writes them. The schemas are made of the same rows (docs/schema)."""
import json
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("MALLAB_SOURCE", pathlib.Path(__file__).parents[2]))
DOCUMENT = SOURCE / "docs" / "results.md"


def main():
    rewrite = "--rewrite" in sys.argv
    program = next(word for word in sys.argv[1:] if not word.startswith("-"))
    tables = json.loads(subprocess.run([program], capture_output=True, check=True).stdout)["tables"]
    before = now = DOCUMENT.read_text()
    for name, table in tables.items():
        now, found = re.subn(rf"(<!-- rows of {name} -->\n).*?(<!-- end -->)", lambda found: found[1] + table + found[2], now, flags=re.S)
        if found != 1:
            print(f"{DOCUMENT.relative_to(SOURCE)} has no place for the rows of {name}")
            return 1
    if now != before and rewrite:
        DOCUMENT.write_text(now)
    elif now != before:
        print(f"{DOCUMENT.relative_to(SOURCE)} is not what the rows say: {pathlib.Path(__file__).name} --rewrite {program}")
        return 1
    return 0


sys.exit(main())
