"""A file as it must not be: cut, flipped, swapped, retyped, recoded, nested beyond reason, not UTF-8."""

import io
import json
import random
import sys
from collections.abc import Callable
from typing import Any

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

DEEP = 10_000
ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1e308, float("nan"), float("-inf"), "", "x" * 50, "NaN", [], {}, [None], [[]], {"": {}},
    "\ud800", "\x00", 10**30, 10**4000, "2026-02-30T25:61:00Z", "9999-12-31T23:59:59Z",
)  # fmt: skip
INVALID = (b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\x00")
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "latin-1")
LARGEST = 2_000_000
"""Bytes of a document whose values are changed one by one; in what is larger only bytes are."""
ARCHIVE = b"PK\x03\x04"

Kind = Callable[[bytes, random.Random], bytes]


def damaged(data: bytes, chance: random.Random) -> bytes:
    """One to three kinds of damage; in an archive mostly those of a member."""
    if data.startswith(ARCHIVE) and chance.random() < 0.8:
        return _in_archive(data, chance)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        data = chance.choice(KINDS)(data, chance)
    return data


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


def doubled(data: bytes, chance: random.Random) -> bytes:
    """A stretch, a line or all of it is there twice."""
    lines = data.splitlines(keepends=True)
    if not lines or chance.random() < 0.3:
        return data + data
    at = chance.randrange(len(lines))
    return b"".join((*lines[: at + 1], *lines[at:]))


def not_utf8(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(INVALID) + data[at:]


def recoded(data: bytes, chance: random.Random) -> bytes:
    return data.decode("utf-8", "replace").encode(chance.choice(ENCODINGS), "replace")


def swapped(data: bytes, chance: random.Random) -> bytes:
    """Two stretches change places: two lines, two values or halves of them."""
    first, second, third, fourth = sorted(chance.randrange(len(data) + 1) for _ in range(4))
    return data[:first] + data[third:fourth] + data[second:third] + data[first:second] + data[fourth:]


def nested(data: bytes, chance: random.Random) -> bytes:
    """Where a value or an element begins, ten thousand of them begin."""
    opening = b"<a>" if data.lstrip()[:1] == b"<" else chance.choice((b"[", b'{"a":'))
    at = chance.randrange(len(data) + 1)
    places = [place for byte in (b'"', b"[", b"{", b"<", b":") if (place := data.find(byte, at)) >= 0]
    at = min(places, default=at)
    return data[:at] + opening * DEEP + data[at:]


def retyped(data: bytes, chance: random.Random) -> bytes:
    """One value becomes another of another type, goes, or changes places with another."""
    lines = data.split(b"\n")
    number = chance.randrange(len(lines))
    for piece, head, tail in ((data, (), ()), (lines[number], lines[:number], lines[number + 1 :])):
        try:
            tree = [json.loads(piece)] if len(data) <= LARGEST else []
        except (ValueError, RecursionError):
            continue
        _change_one(tree, chance)
        made = json.dumps(tree[0] if tree else None).encode("utf-8", "surrogatepass")
        return b"\n".join((*head, made, *tail))
    return flipped(data, chance)


KINDS: tuple[Kind, ...] = (
    *(truncated, flipped, deleted, doubled, not_utf8, recoded, swapped),
    *(retyped,) * 9,
    nested,
)


def _in_archive(data: bytes, chance: random.Random) -> bytes:
    """One member is damaged; the archive around it is sound."""
    made = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(made, "w") as after:
            chosen = chance.choice(before.namelist())
            for name in before.namelist():
                content = before.read(name)
                after.writestr(name, damaged(content, chance) if name == chosen else content)
    except (zipfile.BadZipFile, NotImplementedError, IndexError, ValueError, OSError):
        return flipped(data, chance)
    return made.getvalue()


def _change_one(tree: list[Any], chance: random.Random) -> None:
    places = _places(tree)
    if not places:
        return
    holder, key = chance.choice(places)
    what = chance.randrange(4)
    if what == 0 and holder is not tree:
        del holder[key]
    elif what == 1:
        other, name = chance.choice(places)
        holder[key], other[name] = _copy(other[name]), _copy(holder[key])
    else:
        holder[key] = chance.choice(ODD_VALUES)


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


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
