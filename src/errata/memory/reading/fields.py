"""Fields in running text: `**Classification**: MODEL_FAULT`, `Step: tests · Label: known gap`, also several a line."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from errata.memory.reading.roles import role_of
from errata.memory.reading.words import Words

_LEFT = "*_`\"' \t"


class Field(NamedTuple):
    role: str
    value: Words
    line: int
    """How many lines below the beginning of the piece."""


def fields_in(words: Words, roles: dict[str, str]) -> list[Field]:
    """Those whose names are known. A line is of fields where one stands in front of it."""
    found: list[Field] = []
    start = 0
    for at, line in enumerate(words.text.split("\n")):
        part = words.cut(start, start + len(line))
        start += len(line) + 1
        found += [Field(role, value, at) for role, value in _of_line(part, roles)]
    return found


def _of_line(line: Words, roles: dict[str, str]) -> Iterator[tuple[str, Words]]:
    names = sorted({*_with_colon(line, roles), *_bold(line, roles)})
    if not names or line.text[: names[0][0]].strip(_LEFT + "-•·>|"):
        return
    starts = [start for start, _, _ in names[1:]]
    for (_, begin, role), end in zip(names, [*starts, len(line.text)], strict=True):
        yield role, _stripped(line.cut(begin, max(begin, end)))


Start = tuple[int, int, str]
"""Where a name begins, where its value does, and what it holds."""


def _with_colon(line: Words, roles: dict[str, str]) -> Iterator[Start]:
    for found in _names(frozenset(roles)).finditer(line.text):
        yield found.start(1), found.end(), role_of(found[1], roles)


def _bold(line: Words, roles: dict[str, str]) -> Iterator[Start]:
    """`**Run** jn7w1k1a`: where the name is bold, nothing else has to part it from its value."""
    for start, end in line.bold:
        role = role_of(line.text[start:end].strip(), roles)
        if role and not line.text[end:].lstrip().startswith(":") and not line.text[start:end].rstrip().endswith(":"):
            yield start, end, role


def _stripped(value: Words) -> Words:
    left = len(value.text) - len(value.text.lstrip(" \t:–—"))
    right = len(value.text.rstrip(" \t·|;,•-–—*"))
    return value.cut(left, max(left, right))


@cache
def _names(names: frozenset[str]) -> re.Pattern[str]:
    """A name at the beginning of a line or behind a separator, with a colon after it."""
    longest_first = sorted(names, key=len, reverse=True)
    told = "|".join(r"[\s_-]+".join(map(re.escape, name.split("-"))) for name in longest_first)
    return re.compile(
        rf"(?:^|[·|;•>]|(?<=\s)[-–—])[\s*_-]*({told})\s*(?:\([^()\n]{{0,30}}\)\s*)?(?:[:：=]|\s[–—]\s)", re.I
    )
