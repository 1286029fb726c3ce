"""As much of JSON Schema as the schemas in the fixtures use."""

import re
from collections.abc import Iterator
from typing import Any

TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}


def problems(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "") -> Iterator[str]:
    """What is wrong with a value, and where."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    yield from (f"{at}: not {schema['type']}" for _ in range(not _is(value, schema.get("type"))))
    yield from (f"{at}: not allowed" for _ in range("enum" in schema and value not in schema["enum"]))
    yield from (f"{at}: not {schema.get('const')}" for _ in range("const" in schema and value != schema["const"]))
    if isinstance(value, str):
        yield from (f"{at}: pattern" for _ in range(not re.search(schema.get("pattern", ""), value)))
    if isinstance(value, int | float) and not value >= schema.get("minimum", value):
        yield f"{at}: too small"
    if isinstance(value, dict):
        yield from _of_object(value, schema, root, at)
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from problems(one, schema.get("items", {}), root, f"{at}/{number}")
    yield from _of_choices(value, schema, root, at)


def _is(value: Any, named: Any) -> bool:
    names = [named] if isinstance(named, str) else named or []
    if isinstance(value, bool):
        return not names or "boolean" in names
    return not names or any(isinstance(value, TYPES[name]) for name in names)


def _of_object(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    yield from (f"{at}: no {name}" for name in schema.get("required", ()) if name not in value)
    for name, one in value.items():
        if name not in known and others is False:
            yield f"{at}/{name}: unknown"
        elif name in known or isinstance(others, dict):
            yield from problems(one, known.get(name, others), root, f"{at}/{name}")


def _of_choices(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    if "oneOf" in schema and all(any(problems(value, one, root)) for one in schema["oneOf"]):
        yield f"{at}: none of those"
    if "not" in schema and not any(problems(value, schema["not"], root)):
        yield f"{at}: just what it must not be"
    for one in schema.get("allOf", ()):
        yield from problems(value, one, root, at)
    if "if" in schema:
        then = "else" if any(problems(value, schema["if"], root)) else "then"
        yield from problems(value, schema.get(then, {}), root, at)
