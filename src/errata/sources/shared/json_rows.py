"""Rows of a JSON file, however they were saved: a list, an API page with a list in it, lines, or a single object."""

import re
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from errata.model import SourceRef, Unreadable
from errata.sources.base import (
    BYTE_ORDER_MARK,
    EXCERPT,
    FILE_CAP,
    LINE_CAP,
    Row,
    decode,
    describe,
    head_of,
    is_file,
    json_file,
    json_lines,
    relative,
    row_of,
    small_file,
    unreadable,
)
from errata.sources.json_values import LOSS, LossyError, decode_exactly, in_utf_8, less_nested

HEAD = 4 * 1024
SMALL = 256 * 1024
_SPACE = " \t\r\n"
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])
_lenient = JSONDecoder(parse_int=str)
"""Finds where values end; it does not matter here whether a number is too long."""
Piece = bytes | msgspec.Raw


def json_rows(path: Path, *, source: str, root: Path, paged: str = "") -> Iterator[Row | Unreadable]:
    """`paged` is the field that holds the rows if an API page was saved; it is the first field there."""
    listed = list_in(head_of(path, HEAD), paged)
    if listed is not None:
        document = long_document(path, listed, source=source, root=root)
        if isinstance(document, Unreadable):
            yield document
            return
        yield from document.rows()
        yield from document.problems()
    elif _is_lines(path):
        yield from json_lines(path, source=source, root=root)
    else:
        yield json_file(path, source=source, root=root)


def holds_one(path: Path, paged: str = "") -> bool:
    """Whether a file holds a single row: one object, not a list or several lines."""
    if not is_file(path) or list_in(head_of(path, HEAD), paged) is not None:
        return False
    if not _is_lines(path):
        return True
    with path.open("rb") as file:
        file.readline(LINE_CAP)
        return not file.read(HEAD).strip()


def list_in(head: bytes, paged: str) -> str | None:
    """The field that holds the list; empty if the document is the list, None if there is no such list."""
    head = head.lstrip()
    if head.startswith(b"["):
        return ""
    return paged if paged and re.match(rb'\{\s*"' + paged.encode() + rb'"\s*:\s*\[', head) else None


def _is_lines(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            decode(file.readline(LINE_CAP))
    except (OSError, ValueError):
        return False
    return True


class LongDocument:
    """The fields of a document as bytes, the items of its long list separately, and the problems of the whole."""

    def __init__(self, source: str, ref: SourceRef, listed: str) -> None:
        self.ref = ref
        self.fields: dict[str, bytes] = {}
        self.items: list[Piece] = []
        self._source = source
        self._listed = listed
        self._problems: list[str] = []
        self._losses: list[str] = []

    def field(self, name: str) -> Any:
        """`ValueError` if it can't be decoded, `KeyError` if it is missing."""
        data = self.fields[name]
        try:
            return decode_exactly(data)
        except LossyError:
            return row_of(data, self.ref.below(name), source=self._source).data

    def rows(self) -> Iterator[Row | Unreadable]:
        return map(self.row, range(len(self.items)))

    def row(self, number: int) -> Row | Unreadable:
        data = bytes(self.items[number])
        at = self.ref.below(self._listed, number) if self._listed else self.ref.below(number)
        try:
            return row_of(data, at, source=self._source)
        except ValueError as error:
            return unreadable(self._source, at, describe(error), excerpt=data[:EXCERPT])

    def problems(self) -> Iterator[Unreadable]:
        for problem in self._problems:
            yield unreadable(self._source, self.ref, problem)
        for loss in self._losses:
            yield replace(unreadable(self._source, self.ref, loss), in_part=True)

    def take_strictly(self, data: bytes) -> None:
        if not self._listed:
            self.items = [*_items.decode(data)]
            return
        for name, raw in _fields.decode(data).items():
            if name == self._listed and bytes(raw) != b"null":
                self.items = [*_items.decode(raw)]
            else:
                self.fields[name] = bytes(raw)

    def take_step_by_step(self, data: bytes) -> None:
        """The same for what strict JSON rejects: bare `NaN`, invalid bytes, and a truncated document."""
        self.fields, self.items, self._losses = {}, [], []
        text = self._text(data)
        at = _over_space(text, 0)
        try:
            self._take(text, at)
        except RecursionError:
            self.take_step_by_step(less_nested(data))
            self._losses.append(LOSS)
        except ValueError as error:
            if not self.fields and not self.items:
                raise ValueError(describe(error)) from None
            self._problems.append(f"cut off: {describe(error)}")

    def _take(self, text: str, at: int) -> None:
        if not self._listed:
            self._take_items(text, at)
            return
        at = _after(text, at, "{")
        while text[at : at + 1] != "}":
            name, at = _lenient.raw_decode(text, at)
            at = _after(text, at, ":")
            listed = name == self._listed and text[at : at + 1] == "["
            at = self._take_items(text, at) if listed else self._take_field(text, at, str(name))
            at = _after(text, at, ",") if text[at : at + 1] != "}" else at

    def _take_field(self, text: str, at: int, name: str) -> int:
        start = at
        _, at = _lenient.raw_decode(text, at)
        self.fields[name] = _bytes(text[start:at])
        return _over_space(text, at)

    def _take_items(self, text: str, at: int) -> int:
        at = _after(text, at, "[")
        while text[at : at + 1] != "]":
            start = at
            _, at = _lenient.raw_decode(text, at)
            self.items.append(_bytes(text[start:at]))
            at = _over_space(text, at)
            at = _after(text, at, ",") if text[at : at + 1] != "]" else at
        return _over_space(text, at + 1)

    def _text(self, data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            self._losses.append(describe(error))
            return data.decode("utf-8", "replace")


def long_document(
    path: Path, listed: str, *, source: str, root: Path, data: bytes | None = None
) -> LongDocument | Unreadable:
    """`listed` names the field with the long list; empty if the document itself is the list.

    `data` is what is in a small file that was read before.
    """
    ref = SourceRef(file=relative(path, root))
    try:
        whole = data if data is not None else small_file(path, SMALL)
        if whole is None:
            if path.stat().st_size > FILE_CAP:
                return unreadable(source, ref, f"larger than {FILE_CAP // 2**20} MB")
            whole = path.read_bytes()
        data = in_utf_8(whole.removeprefix(BYTE_ORDER_MARK))
    except (OSError, ValueError) as error:
        return unreadable(source, ref, describe(error))
    document = LongDocument(source, ref, listed)
    try:
        document.take_strictly(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            document.take_step_by_step(data)
        except ValueError as error:
            return unreadable(source, ref, describe(error), excerpt=data[:EXCERPT])
    return document


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _after(text: str, at: int, mark: str) -> int:
    at = _over_space(text, at)
    if text[at : at + 1] != mark:
        raise JSONDecodeError(f"expected {mark}", text, at)
    return _over_space(text, at + 1)


def _over_space(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at
