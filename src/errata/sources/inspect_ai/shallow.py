"""JSON of the usual depth, decoded and found not too deep in one go.

How deep a document is nested is otherwise seen by going through all of it once more, which takes as long as decoding.
"""

from functools import cache
from typing import Any

import msgspec

LEVELS = 12
"""Samples are nested ten levels deep, schemas of tools and arguments some more. Each level makes the decoder larger."""

scalar: Any = str | int | float | bool | None


def nested(levels: int) -> Any:
    """The type of a value that is nested no deeper."""
    inside: Any = scalar
    value: Any = scalar
    for _ in range(levels):
        # a list in a list holds nothing but scalars: else the decoder would double with each level
        inside, value = value, scalar | dict[str, value] | list[scalar | dict[str, inside] | list[scalar]]
    return value


def decode_shallow(data: bytes | msgspec.Raw) -> Any:
    """`ValueError` or `RecursionError` for anything deeper, too."""
    return _decoder().decode(data)


@cache
def _decoder() -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(nested(LEVELS))
