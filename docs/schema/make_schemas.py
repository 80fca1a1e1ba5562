#!/usr/bin/env python3
"""Make the JSON Schemas (draft 2020-12) of all that mallab prints: make_schemas.py PRINT_ROWS OUTPUT...
What the rows of results/measure/result/result_fields.c say is taken from PRINT_ROWS, which prints them; the rest is in
documents.json, in the short form that README.md describes. OUTPUT are NAME.schema.json, one for each document."""
import json
import pathlib
import subprocess
import sys

NUMBERS = {"count": {"type": "integer", "minimum": 0}, "share": {"type": "number", "minimum": 0, "maximum": 1}}

LISTS = {"[]": {}, "[]?": {"type": ["array", "null"]}, "[+]": {"minItems": 1}}


def or_null(schema):
    return {**schema, "type": [schema["type"], "null"]}


def of_text(text):
    """A string of the short form: "count? # what it counts"."""
    kind, _, meaning = text.partition(" # ")
    described = {"description": meaning} if meaning else {}
    if kind == "any":
        return described
    if kind.startswith("="):
        return {"const": kind[1:], **described}
    if kind.startswith("$"):
        return {"$ref": f"#/$defs/{kind[1:]}", **described}
    bare = kind.removesuffix("?")
    if "|" in bare:
        return {"enum": bare.split("|") + [None] * (bare != kind), **described}
    schema = NUMBERS.get(bare, {"type": bare})
    return {**(schema if bare == kind else or_null(schema)), **described}


def of_object(short):
    own = {key: value for key, value in short.items() if key not in ("#", "?", "*")}
    schema = {"type": "object"}
    if own:
        schema["properties"] = {key.removesuffix("?"): expanded(value) for key, value in own.items()}
        schema["required"] = [key for key in own if not key.endswith("?")]
    if "*" in short:
        schema["additionalProperties"] = expanded(short["*"])
    return schema


def expanded(short):
    """The JSON Schema of something in the short form."""
    if isinstance(short, bool):
        return short
    if isinstance(short, str):
        return of_text(short)
    if isinstance(short, list):
        return {"type": "array", "items": expanded(short[0])}
    if "%" in short:
        return short["%"]
    described = {"description": short["#"]} if "#" in short else {}
    for key, more in LISTS.items():
        if key in short:
            return {"type": "array", "items": expanded(short[key]), **more, **described}
    schema = of_object(short)
    return {**(or_null(schema) if "?" in short else schema), **described}


def merged(rows, short, parts):
    """What the rows say, and of what they leave open (the members of JSON, the words of a text) what documents.json says."""
    told = {"description": rows["description"]} if "description" in rows else {}
    if short.get("type") == "object" and rows.get("properties"):
        short = {"properties": {}, "required": [], **short}
        properties = {**short["properties"], **rows["properties"]}
        for key in set(short["properties"]) & set(rows["properties"]):
            properties[key] = merged(rows["properties"][key], short["properties"][key], parts)
        sometimes = set(short["properties"]) - set(short["required"])
        required = [key for key in rows["required"] + short["required"] if key not in sometimes]
        own = {key: short[key] for key in ("description", "additionalProperties") if key in short}
        return {**own, **rows, "properties": properties, "required": list(dict.fromkeys(required))}
    if "$ref" in short and rows.get("properties"):
        return merged(rows, parts[short["$ref"].rpartition("/")[2]], parts)
    if "items" in short and "items" in rows:
        return {**short, **rows, "items": merged(rows["items"], short["items"], parts)}
    return {**short, **told}


def parts_of(schema, parts):
    """The parts that a schema refers to, also by way of others."""
    if isinstance(schema, list):
        found = [parts_of(one, parts) for one in schema]
    elif isinstance(schema, dict):
        found = [parts_of(one, parts) for one in schema.values()]
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            found += [{name: parts[name]}, parts_of(parts[name], parts)]
    else:
        found = []
    return {name: part for one in found for name, part in one.items()}


def main():
    program, *outputs = sys.argv[1:]
    rows = json.loads(subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout)
    from_rows = {"result": rows["schema"], "fleet": rows["fleet"]}
    documents = json.loads((pathlib.Path(__file__).parent / "documents.json").read_text())
    parts = {name: expanded(short) for name, short in documents.pop("parts").items()}
    unused = set(parts) - set(parts_of([expanded(document["of"]) for document in documents.values()], parts))
    if unused:
        sys.exit(f"make_schemas.py: nothing in documents.json refers to {' '.join(sorted(unused))}")
    wanted = {f"{name}.schema.json" for name in documents}
    if wanted != {pathlib.Path(output).name for output in outputs}:
        sys.exit(f"make_schemas.py: docs/schema/meson.build has to name {' '.join(sorted(wanted))}")
    for output in map(pathlib.Path, outputs):
        document = documents[output.name.removesuffix(".schema.json")]
        body = expanded(document["of"])
        if "rows" in document:
            body = merged(from_rows[document["rows"]], body, parts)
        elif "$ref" in body:
            body = parts[body["$ref"].rpartition("/")[2]]
        used = parts_of(body, parts)
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": output.name,
                  "title": document["title"], **body, **({"$defs": used} if used else {})}
        output.write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n")


main()
