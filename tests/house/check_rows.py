#!/usr/bin/env python3
"""The schema of a result and the key tables of docs/results.md and docs/notes/results.md say what the rows of result_fields.c say.
`check_rows.py --rewrite PRINT_ROWS` writes them; keys that no row names stay as they are written by hand."""
import json
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("MALLAB_SOURCE", pathlib.Path(__file__).parents[2]))
SCHEMA = SOURCE / "docs" / "schema" / "mallab-experiment-1.schema.json"
RUN = SOURCE / "docs" / "schema" / "mallab-run-1.schema.json"  # its parts are those of a result
FLEET = SOURCE / "docs" / "schema" / "mallab-fleet-1.schema.json"
RESULTS = SOURCE / "docs" / "results.md"
NOTES = SOURCE / "docs" / "notes" / "results.md"


def merged(rows, published, whole):
    """published with everything that rows say."""
    if "$ref" in published:
        name = published["$ref"].rpartition("/")[2]
        whole["$defs"][name] = merged(rows, whole["$defs"][name], whole)
        return {**published, **({"description": rows["description"]} if "description" in rows else {})}
    if rows.get("items", {}).get("properties") == {}:
        return {**published, "description": rows["description"]}
    if "items" in rows and "properties" in rows["items"]:
        return {**published, **{key: rows[key] for key in rows if key != "items"},
                "items": merged(rows["items"], published.get("items", {}), whole)}
    if "properties" not in rows:
        if "const" in published or "enum" in published or not set(rows) - {"description"}:
            return {**published, "description": rows["description"], **({"enum": rows["enum"]} if "enum" in rows else {})}
        return {**{key: published[key] for key in ("minimum", "maximum", "pattern") if key in published}, **rows}
    properties = dict(published.get("properties", {}))
    for key, own in rows["properties"].items():
        properties[key] = merged(own, properties.get(key, {}), whole)
    made = {**published, **{key: rows[key] for key in rows if key not in ("properties", "required")},
            "properties": properties}
    # Keys that came later are in no older result: those that are required stay so, and no others become it.
    required = published.get("required", [] if "properties" in published else rows["required"])
    return {**made, "required": required} if required else made


def document_of(fleet):
    """What `mallab collect` prints: some of a fleet's keys stand beside it."""
    beside = {key: fleet["properties"].pop(key) for key in ("schema", "mallab_version", "missing", "left")}
    return {"properties": {**beside, "fleet": fleet}, "required": ["schema", "mallab_version", "fleet", "missing"]}


def dumped(schema):
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def main():
    rewrite = "--rewrite" in sys.argv
    program = next(word for word in sys.argv[1:] if not word.startswith("-"))
    rows = json.loads(subprocess.run([program], capture_output=True, check=True).stdout)
    before = SCHEMA.read_text()
    whole = json.loads(before)
    for _ in range(2):  # parts that others refer to are whole at the second time
        whole.update(merged(rows["schema"], whole, whole))
    run = json.loads(RUN.read_text())
    run["$defs"] = {name: whole["$defs"][name] for name in run["$defs"]}
    fleet = json.loads(FLEET.read_text())
    fleet.update(merged(document_of(rows["fleet"]), fleet, fleet))
    made = {SCHEMA: dumped(whole), RUN: dumped(run), FLEET: dumped(fleet), RESULTS: RESULTS.read_text(), NOTES: NOTES.read_text()}
    for path in (RESULTS, NOTES):
        for name, table in rows["tables"].items():
            made[path] = re.sub(rf"(<!-- rows of {name} -->\n).*?(<!-- end -->)", lambda found: found[1] + table + found[2],
                                made[path], flags=re.S)
    failed = False
    for path, now in made.items():
        if now != path.read_text() and rewrite:
            path.write_text(now)
        elif now != path.read_text():
            print(f"{path.relative_to(SOURCE)} is not what the rows say: {pathlib.Path(__file__).name} --rewrite {program}")
            failed = True
    return 1 if failed else 0


sys.exit(main())
