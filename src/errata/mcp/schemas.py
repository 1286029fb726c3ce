"""JSON Schemas of the tools, from the records that they take and give."""

from functools import cache
from typing import Any

import msgspec

from errata.mcp.catalogue import TOOLS

_WORDS = ("title", "description", "default")


@cache
def input_schema(name: str) -> dict[str, Any]:
    """With the arguments at its top, as the protocol asks for."""
    (reference,), definitions = msgspec.json.schema_components([TOOLS[name].takes], ref_template="#/$defs/{name}")
    schema = dict(definitions.pop(reference["$ref"].removeprefix("#/$defs/")))
    schema.pop("title", None)
    schema.pop("description", None)
    return {**schema, **({"$defs": definitions} if definitions else {})}


@cache
def output_schema(name: str) -> dict[str, Any]:
    """A page. Nothing but types: what each field means is in docs/json.md."""
    kinds, definitions = msgspec.json.schema_components(TOOLS[name].gives, ref_template="#/$defs/{name}")
    items = kinds[0] if len(kinds) == 1 else {"anyOf": list(kinds)}
    properties = {
        "note": {"type": "string"},
        "items": {"type": "array", "items": items},
        "cursor": {"type": ["string", "null"]},
    }
    schema = {"type": "object", "properties": properties, "required": list(properties), "$defs": definitions}
    bare: dict[str, Any] = _without_words(schema)
    return bare


def _without_words(schema: Any) -> Any:
    """Titles and descriptions are half of it, and a client may show a schema to its model."""
    if isinstance(schema, list):
        return [_without_words(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {key: _without_words(item) for key, item in value.items()}
        if name in ("properties", "$defs")
        else _without_words(value)
        for name, value in schema.items()
        if name not in _WORDS
    }
