#!/usr/bin/env python3
"""What has to be built for some tests only: test_targets.py BUILD [--suite NAME | --no-suite NAME]...

Takes the suites as `meson test` does and prints ninja's names of the targets that their tests depend on, one a line. With
--but FOLDER instead: of all that is built by default, but for what is in this folder."""
import json
import pathlib
import subprocess
import sys


def introspect(build, what):
    return json.loads(subprocess.run(["meson", "introspect", build, what], check=True, capture_output=True).stdout)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if sys.argv[2] == "--but":
        for target in introspect(build, "--targets"):
            for path in target["filename"]:
                name = str(pathlib.Path(path).relative_to(build))
                if target["build_by_default"] and not name.startswith(sys.argv[3]):
                    print(name)
        return
    wanted, unwanted = set(), set()
    for option, name in zip(sys.argv[2::2], sys.argv[3::2]):
        (wanted if option == "--suite" else unwanted).add(name)
    needed = set()
    for test in introspect(build, "--tests"):
        suites = {name.rpartition(":")[2] for name in test["suite"]}
        if suites & wanted and not suites & unwanted:
            needed.update(test["depends"])
    if not needed:
        sys.exit(f"no test of {sorted(wanted)} in {build}")
    for target in introspect(build, "--targets"):
        if target["id"] in needed:
            for path in target["filename"]:
                print(pathlib.Path(path).relative_to(build))


main()
