"""A file as it must not be: cut, flipped, swapped, retyped, nested beyond reason, not UTF-8."""

import json
import random
from collections.abc import Callable
from typing import Any

DEEP = 10_000
ODD_VALUES: tuple[Any, ...] = (None, True, -1, 1e308, "", "x" * 50, [], {}, [None], {"": {}}, "\ud800", 10**30)
INVALID = (b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\x00")
LARGEST = 2_000_000
"""Bytes of a document whose values are changed one by one; in what is larger only bytes are."""


def damaged(data: bytes, chance: random.Random) -> bytes:
    kind = chance.choice(KINDS)
    return kind(data, chance)


def truncated(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data or b" ")
    for _ in range(chance.randint(1, 20)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def deleted(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[:start] + data[start + chance.randint(1, 200) :]


def not_utf8(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(INVALID) + data[at:]


def swapped(data: bytes, chance: random.Random) -> bytes:
    """Two stretches change places: two lines, two values or halves of them."""
    first, second, third, fourth = sorted(chance.randrange(len(data) + 1) for _ in range(4))
    return data[:first] + data[third:fourth] + data[second:third] + data[first:second] + data[fourth:]


def nested(data: bytes, chance: random.Random) -> bytes:
    """Where a value or an element begins, ten thousand of them begin."""
    opening = b"<a>" if data.lstrip()[:1] == b"<" else chance.choice((b"[", b'{"a":'))
    places = [at for at, byte in enumerate(data[:LARGEST]) if byte in b'"[{<:']
    at = chance.choice(places) if places else 0
    return data[:at] + opening * DEEP + data[at:]


def retyped(data: bytes, chance: random.Random) -> bytes:
    """One value becomes another of another type, goes, or changes places with another."""
    return _in_document(data, chance, _change_one)


KINDS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    truncated,
    flipped,
    deleted,
    not_utf8,
    swapped,
    nested,
    retyped,
    retyped,
    retyped,
)


def _in_document(data: bytes, chance: random.Random, change: Callable[[Any, random.Random], None]) -> bytes:
    """In a whole document of JSON, or in one line of many; other files are flipped."""
    lines = data.split(b"\n")
    number = chance.randrange(len(lines))
    for piece, put in ((data, lambda made: made), (lines[number], lambda made: b"\n".join((*lines[:number], made)))):
        try:
            tree = [json.loads(piece)] if len(data) <= LARGEST else []
        except (ValueError, RecursionError):
            continue
        change(tree, chance)
        made = json.dumps(tree[0] if tree else None).encode("utf-8", "surrogatepass")
        rest = b"\n".join((b"", *lines[number + 1 :])) if piece is not data else b""
        return bytes(put(made)) + rest
    return flipped(data, chance)


def _change_one(tree: list[Any], chance: random.Random) -> None:
    places = list(_places(tree))
    if not places:
        return
    holder, key = chance.choice(places)
    what = chance.randrange(3)
    if what == 0 and holder is not tree:
        del holder[key]
    elif what == 1:
        other, name = chance.choice(places)
        holder[key], other[name] = json.loads(json.dumps(other[name])), json.loads(json.dumps(holder[key]))
    else:
        holder[key] = chance.choice(ODD_VALUES)


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every value with what holds it."""
    pairs: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        items = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
        for key, value in items:
            pairs.append((holder, key))
            if isinstance(value, dict | list):
                waiting.append(value)
    return pairs
