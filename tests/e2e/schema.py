"""The published JSON Schemas (docs/schema): whether a document is valid by one, and what it holds that none names."""
import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schema"

try:
    import jsonschema
except ImportError:
    jsonschema = None


def load(name):
    return json.loads((FOLDER / f"{name}.schema.json").read_text())


def all_of_them():
    return sorted(path.name.removesuffix(".schema.json") for path in FOLDER.glob("*.schema.json"))


def closed(schema):
    """The same, but no object may have keys that it does not list: what a test wants to know, and no reader of results."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(part) for key, part in schema.items()}
    if isinstance(made.get("properties"), dict) and "additionalProperties" not in made:
        made["additionalProperties"] = False
    return made


def inlined(schema, prefix=""):
    """References to other files become references into the same one: no resolver is needed, in any version of jsonschema."""
    if isinstance(schema, list):
        return [inlined(part, prefix) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: inlined(part, prefix) for key, part in schema.items() if key != "$id"}
    target = schema.get("$ref", "")
    if ".schema.json" in target:
        file, _, rest = target.partition("#")
        made["$ref"] = f"#/$defs/{file.removesuffix('.schema.json')}{rest}"
    elif target.startswith("#"):
        made["$ref"] = f"#{prefix}{target[1:]}"
    return made


def whole(name):
    schema = inlined(load(name))
    others = {other: inlined(load(other), f"/$defs/{other}") for other in all_of_them() if other != name}
    schema.setdefault("$defs", {}).update(others)
    return schema


def faults(name, document, is_closed=True):
    """What is wrong, a line each: where and why."""
    schema = closed(whole(name)) if is_closed else whole(name)
    found = jsonschema.Draft202012Validator(schema).iter_errors(document)
    return [f"{'/'.join(map(str, one.absolute_path))}: {one.message[:300]}" for one in found]
