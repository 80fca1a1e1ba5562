"""The JSON Schemas that the build makes (docs/schema): whether a document is valid by one, and what it holds that none names."""
import json
import os
import pathlib

SOURCE = pathlib.Path(os.environ.get("MALLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
FOLDER = pathlib.Path(os.environ.get("MALLAB_BUILD", SOURCE / "build")) / "docs" / "schema"

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


def faults(name, document, is_closed=True):
    """What is wrong, a line each: where and why."""
    schema = closed(load(name)) if is_closed else load(name)
    found = jsonschema.Draft202012Validator(schema).iter_errors(document)
    return [f"{'/'.join(map(str, one.absolute_path))}: {one.message[:300]}" for one in found]
