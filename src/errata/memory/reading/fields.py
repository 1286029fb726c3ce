"""Fields in running text: `**Classification**: MODEL_FAULT`, `Step: tests · Label: known gap`, one or several a line."""

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
    names = list(_names(frozenset(roles)).finditer(line.text))
    if not names or line.text[: names[0].start()].strip(_LEFT + "-•·>|"):
        return
    for at, name in enumerate(names):
        end = names[at + 1].start() if at + 1 < len(names) else len(line.text)
        yield role_of(name[1], roles), _stripped(line.cut(name.end(), end))


def _stripped(value: Words) -> Words:
    left = len(value.text) - len(value.text.lstrip(" \t:"))
    right = len(value.text.rstrip(" \t·|;,•"))
    return value.cut(left, max(left, right))


@cache
def _names(names: frozenset[str]) -> re.Pattern[str]:
    """A name at the beginning of a line or behind a separator, with a colon after it."""
    longest_first = sorted(names, key=len, reverse=True)
    told = "|".join(r"[\s_-]+".join(map(re.escape, name.split("-"))) for name in longest_first)
    return re.compile(rf"(?:^|[·|;•>]|(?<=\s)[-–—])[\s*_-]*({told})\s*(?:\([^()\n]{{0,30}}\)\s*)?(?:[:：=]|\s[–—]\s)", re.I)
