"""Checks data of files against the JSON Schemas of kumihimo/schemas, and says in a few words what is wrong."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kumihimo.text.json_types import JsonObject

if TYPE_CHECKING:
    import jsonschema  # takes longer to import than most verbs: only where a file is read

FOLDER = Path(__file__).parents[1] / "schemas"
LONGEST = 40  # characters of a value that is shown


@functools.cache
def validator(name: str, part: str = "") -> jsonschema.Draft202012Validator:
    """Validator of schemas/NAME.schema.json, or of one of its `$defs`."""
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    if part:
        schema = {"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]}
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema)


def fault(value: object, name: str, part: str = "") -> str:
    """The first thing that is wrong: "results[0].seconds is 'fast', not a number above 0". Empty if nothing is."""
    return next(map(sentence, innermost(validator(name, part).iter_errors(value))), "")


def innermost(errors: Iterator[jsonschema.ValidationError]) -> Iterator[jsonschema.ValidationError]:
    """Where a value may be one of several things: what is wrong with it as the thing that it resembles most."""
    from jsonschema.exceptions import best_match

    for error in errors:
        yield best_match([error]) or error


def sentence(error: jsonschema.ValidationError) -> str:
    place = error.json_path.removeprefix("$").removeprefix(".") or "the value"
    if error.validator == "required":
        lacking = next(name for name in error.validator_value if name not in error.instance)
        return f"{place} has no '{lacking}'"
    return f"{place} is {shown(error.instance)}, not {expected(error.schema)}"


def expected(schema: JsonObject) -> str:
    kinds = schema.get("type", "something else")
    words = {"object": "an object", "array": "a list", "string": "text", "boolean": "true or false", "null": "null"}
    words |= {"integer": "a whole number", "number": "a number"}
    listed = " or ".join(words.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
    return schema.get("description", listed)


def shown(value: object) -> str:
    if isinstance(value, (dict, list)):
        return ("a list" if isinstance(value, list) else "an object") + ("" if value else " without members")
    text = repr(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
