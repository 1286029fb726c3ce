"""Types of JSON of the usual depth, which is decoded and found not too deep in one go.

How deep a document is nested is otherwise seen by going through all of it once more, which takes as long as decoding.
"""

from typing import Any

scalar: Any = str | int | float | bool | None


def nested(levels: int) -> Any:
    """The type of a value that is nested no deeper. Each level makes a decoder larger, and slower to make."""
    inside: Any = scalar
    value: Any = scalar
    for _ in range(levels):
        # a list in a list holds nothing but scalars: else the decoder would double with each level
        inside, value = value, scalar | dict[str, value] | list[scalar | dict[str, inside] | list[scalar]]
    return value
