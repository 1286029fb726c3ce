"""Answers within a budget of tokens, page by page.

A page holds as many whole items as fit. An item that is larger than a page is cut: its long lists, texts and tables are
shown from where the last page ended, and are empty where everything was shown. Its other fields are on every page.
"""

import base64
import binascii
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import msgspec

from errata.errors import SettingsError
from errata.model.identity import fingerprint

BUDGET = 10_000
"""Tokens of an answer, estimated."""
BYTES_A_TOKEN = 4
AROUND = 4_000
"""Bytes of an answer beside its items: the note, the cursor, and what frames them."""
ROOM = BUDGET * BYTES_A_TOKEN - AROUND
SMALL = 200
"""Bytes of a value that is never cut, and is repeated on every page of its item."""
FIXED = 2
"""A list of up to this length may be a pair: its elements are cut, and none is left out."""
FIELDS = 64
"""A table with more keys than any record has fields may lose some of them."""
SHOWN = -1

T = TypeVar("T")
Positions = dict[str, int]
"""JSON pointer of a list, text or table → how much of it was shown; -1 for all of it."""


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """Where the next page begins."""

    of: str
    """The call that it belongs to."""
    at: int = 0
    """Items before it."""
    inside: Positions = {}
    """How much of the first item was shown."""
    about: str = ""
    """The failure whose packet is paged."""

    def encoded(self) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode("ascii").rstrip("=")


class ToolPage(NamedTuple):
    items: list[Any]
    next: Cursor | None
    """None where this was the last page."""


def read_cursor(text: str, *call: object) -> Cursor:
    """The cursor of an earlier answer to the same call; without one, the first page."""
    of = fingerprint(*call)
    if not text:
        return Cursor(of=of)
    try:
        cursor = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=Cursor)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise SettingsError("`cursor` is not one that errata gave", hint="leave it out for the first page") from None
    if cursor.of != of or cursor.at < 0:
        problem = "`cursor` belongs to another call"
        raise SettingsError(problem, hint="repeat the call with the same arguments, or leave `cursor` out")
    return cursor


def page_of(
    items: Iterable[T], cursor: Cursor, *, prepare: Callable[[T], Any] = lambda item: item, room: int = ROOM
) -> ToolPage:
    """`prepare` makes plain JSON of an item; only those that are looked at are prepared."""
    shown: list[Any] = []
    left = room
    for at, item in enumerate(map(prepare, islice(items, cursor.at, None)), cursor.at):
        inside = cursor.inside if at == cursor.at else {}
        size = _size(item)
        if not inside and size <= left:
            shown.append(item)
            left -= size + 1
        elif shown:
            return ToolPage(shown, msgspec.structs.replace(cursor, at=at, inside={}))
        else:
            part = _FittingPart(inside)
            cut = part.of(item, left, "")
            if _size(cut) > left + AROUND // 2 or (part.is_unfinished and part.positions == inside):
                hint = "use the command line with `--json`"
                raise SettingsError("This answer has too many parts for one page", hint=hint)
            if part.is_unfinished:
                return ToolPage([cut], msgspec.structs.replace(cursor, at=at, inside=part.positions))
            shown.append(cut)
            left -= _size(cut) + 1
    return ToolPage(shown, None)


class _FittingPart:
    """As much of one item as fits, from the positions where the last page ended."""

    def __init__(self, before: Positions) -> None:
        self._before = before
        self.positions: Positions = {}
        self.is_unfinished = False

    def of(self, value: Any, room: int, pointer: str) -> Any:
        if not isinstance(value, str | list | dict) or _size(value) <= SMALL:
            return value
        start = self._before.get(pointer, 0)
        if start == SHOWN:
            self.positions[pointer] = SHOWN
            return type(value)()
        if isinstance(value, str):
            shown = _beginning(value[start:], room)
            self._end(pointer, start + len(shown), len(value))
            return shown
        if isinstance(value, list):
            if len(value) > FIXED:
                return list(self._elements(dict(enumerate(value)), start, room, pointer).values())
            return list(self._fields({str(at): item for at, item in enumerate(value)}, room, pointer).values())
        if len(value) > FIELDS:
            return self._elements(value, start, room, pointer)
        return self._fields(value, room, pointer)

    def _elements(self, elements: dict[Any, Any], start: int, room: int, pointer: str) -> dict[Any, Any]:
        """Of a list by number, or of a table by key: whole ones, or a part of the first."""
        shown: dict[Any, Any] = {}
        left = room - 2
        for at, (key, value) in enumerate(islice(elements.items(), start, None), start):
            inner = f"{pointer}/{at}"
            frame = _size(key) + 1 if isinstance(key, str) else 0
            size = _size(value) + frame + 1
            if size <= left and not (at == start and self._has_begun(inner)):
                shown[key] = value
                left -= size
                continue
            if shown or left < SMALL:
                self._end(pointer, at, len(elements))
                return shown
            part = _FittingPart(self._before)
            shown[key] = part.of(value, left - frame, inner)
            if part.is_unfinished:
                self.positions |= part.positions
                self._end(pointer, at, len(elements))
                return shown
            left -= _size(shown[key]) + frame + 1
        self._end(pointer, len(elements), len(elements))
        return shown

    def _has_begun(self, pointer: str) -> bool:
        return any(one == pointer or one.startswith(f"{pointer}/") for one in self._before)

    def _fields(self, fields: dict[str, Any], room: int, pointer: str) -> dict[str, Any]:
        """Small fields whole, the others in turn as far as there is room."""
        sizes = {name: _size(value) for name, value in fields.items()}
        left = room - sum(_size(name) + 2 + (size if size <= SMALL else 2) for name, size in sizes.items())
        shown = dict(fields)
        for name, size in sizes.items():
            if size > SMALL:
                shown[name] = self.of(fields[name], max(left, 0), f"{pointer}/{name}")
                left -= max(_size(shown[name]) - 2, 0)
        return shown

    def _end(self, pointer: str, end: int, whole: int) -> None:
        self.positions[pointer] = SHOWN if end >= whole else end
        self.is_unfinished = self.is_unfinished or end < whole


def _beginning(text: str, room: int) -> str:
    """As much of the text as fits, up to the end of a line or word."""
    if _size(text) <= room:
        return text
    end = min(len(text), max(room - 2, 0))
    while end and _size(text[:end]) > room:
        end = end * 3 // 4
    for mark in ("\n", " "):
        at = text.rfind(mark, end // 2, end)
        if at > 0:
            return text[: at + 1]
    return text[:end]


def _size(value: Any) -> int:
    return len(msgspec.json.encode(value))
