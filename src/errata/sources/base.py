"""The source protocol, and reading rows: a damaged one becomes an `Unreadable`, never a crash."""

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

import msgspec

from errata.model import Harness, Item, SourceRef, Unreadable
from errata.sources.json_values import BYTE_ORDER_MARK as BYTE_ORDER_MARK
from errata.sources.json_values import DEPTH_CAP as DEPTH_CAP
from errata.sources.json_values import LossyError, decode_exactly, in_utf_8, wide_encoding
from errata.sources.json_values import decode as decode
from errata.sources.paths import children as children
from errata.sources.paths import files as files
from errata.sources.paths import folders as folders
from errata.sources.paths import head_of as head_of
from errata.sources.paths import heads_kept as heads_kept
from errata.sources.paths import is_file as is_file
from errata.sources.paths import is_zip as is_zip
from errata.sources.paths import small_file as small_file
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

T = TypeVar("T")

LINE_CAP = 64 * 1024 * 1024
FILE_CAP = 512 * 1024 * 1024
"""For documents that are read whole; files that are read line by line may be of any size."""
READ_SIZE = 1024 * 1024
EXCERPT = 200
_SURROGATE = lazy_regex("[\ud800-\udfff]")  # marks a byte that was not UTF-8


class Match(msgspec.Struct, frozen=True):
    """A source's claim on a path."""

    confidence: Literal["sure", "maybe"]
    because: str

    @classmethod
    def sure(cls, because: str) -> "Match":
        return cls("sure", because)

    @classmethod
    def maybe(cls, because: str) -> "Match":
        return cls("maybe", because)


class Source(Protocol):
    """One package per harness. `read` streams; it raises plain Python errors and never uses the network.

    Recognition imports every source, so modules that only `read` needs are imported inside it.
    """

    NAME: str
    TITLE: str
    """One line for `errata sources`: the files it reads."""
    HARNESS: Harness
    """Optional in outside packages; the default is a harness called `NAME`."""

    def recognise(self, path: Path) -> Match | None: ...

    def read(self, path: Path) -> Iterator[Item]: ...


class RecognisedPath(NamedTuple):
    """A path and the source that reads it."""

    path: Path
    source: Source
    match: Match


class LogBasis(NamedTuple):
    """All that the items of a path come from."""

    files: tuple[Path, ...]
    facts: object
    """What was read elsewhere, as something whose `repr` shows each change."""


@runtime_checkable
class KnowsBasis(Protocol):
    """A source whose logs need not be read again if they have not changed."""

    def basis_of(self, path: Path) -> LogBasis | None:
        """None where only reading the log shows it."""


class Row(msgspec.Struct, frozen=True, gc=False):
    """One parsed item of a log and its location."""

    data: Any
    ref: SourceRef


def convert_each(
    rows: Iterable[Row | Unreadable | T],
    convert: Callable[[Row], Item | Iterable[Item]],
    *,
    source: str,
    owner: Callable[[Row], str] | None = None,
) -> Iterator[Item | T]:
    """Convert row by row. A row that can't be converted becomes one `Unreadable`, and conversion goes on.

    Items that are not rows pass through. For files with rows of several runs, `owner` returns the run of a bad row.
    """
    for row in rows:
        if not isinstance(row, Row):
            yield row
            continue
        try:
            made = convert(row)
            if isinstance(made, msgspec.Struct):
                yield made
                continue
            items = made if type(made) is list else list(made)
        except Exception as error:  # noqa: BLE001 one of the five places: where a source's row is converted
            run = _owner_of(row, owner) if owner else ""
            excerpt = json.dumps(row.data, default=repr, ensure_ascii=False)[: 2 * EXCERPT]
            yield unreadable(source, row.ref, describe(error), excerpt=excerpt, run=run)
            continue
        yield from items


def of_run(run: str, items: Iterable[Item | T]) -> Iterator[Item | T]:
    """Assign every `Unreadable` without a run to this run."""
    for item in items:
        yield msgspec.structs.replace(item, run=run) if type(item) is Unreadable and not item.run else item


def json_lines(path: Path, *, source: str, root: Path, usual: type | None = None) -> Iterator[Row | Unreadable]:
    """One JSON value per line. Empty lines are skipped.

    `usual` is the type of a row exactly as the harness writes it: rows that fit are decoded to it, others to dicts.
    """
    name = relative(path, root)
    try:
        file = path.open("rb", buffering=READ_SIZE)
    except (OSError, ValueError) as error:
        yield unreadable(source, SourceRef(file=name), describe(error))
        return
    with file:
        try:
            with _lines_in_utf_8(file) as readline:
                yield from decode_lines(readline, name, source, usual)
        except OSError as error:
            yield unreadable(source, SourceRef(file=name), describe(error))


def json_file(path: Path, *, source: str, root: Path) -> Row | Unreadable:
    """A whole JSON document. Bare `NaN` and `Infinity` are read."""
    ref = SourceRef(file=relative(path, root))
    try:
        with path.open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size > FILE_CAP:
                return unreadable(source, ref, f"larger than {FILE_CAP // 2**20} MB")
            data = file.read()
    except (OSError, ValueError) as error:
        return unreadable(source, ref, describe(error))
    return json_document(data, ref, source=source)


def json_document(data: bytes, ref: SourceRef, *, source: str) -> Row | Unreadable:
    """The same of a file that was read before."""
    try:
        return row_of(data, ref, source=source)
    except (ValueError, RecursionError) as error:
        return unreadable(source, ref, describe(error), excerpt=data[:EXCERPT])


def row_of(data: bytes, ref: SourceRef, *, source: str, decoding: Callable[[bytes], Any] = decode_exactly) -> Row:
    """A decoded row. Its damaged characters and numbers are noted; `ValueError` if all of it is lost."""
    try:
        return Row(decoding(data), ref)
    except LossyError as lossy:
        note_loss(source, ref, lossy, data)
        return Row(lossy.value, ref)


losses: ContextVar[dict[str, Unreadable] | None] = ContextVar("losses", default=None)
"""By place, while a source reads: rows with a damaged character or number. Many are read twice, and noted once."""
MOST_LOSSES = 1_000


def note_loss(source: str, ref: SourceRef, lossy: LossyError, data: bytes) -> None:
    noted = losses.get()
    if noted is not None and len(noted) < MOST_LOSSES:
        item = unreadable(source, ref, str(lossy), excerpt=data[:EXCERPT])
        noted.setdefault(item.where, msgspec.structs.replace(item, in_part=True))


def csv_rows(path: Path, *, source: str, root: Path) -> Iterator[Row | Unreadable]:
    """One dict per line of a table with a header."""
    name = relative(path, root)
    csv.field_size_limit(LINE_CAP)
    try:
        with path.open("rb") as raw:
            encoding = wide_encoding(raw.read(4))
        errors = "replace" if encoding else "surrogateescape"
        file = path.open(encoding=encoding or "utf-8-sig", errors=errors, newline="")
    except (OSError, ValueError) as error:
        yield unreadable(source, SourceRef(file=name), describe(error))
        return
    with file:
        reader = csv.reader(file, strict=True)
        header: list[str] | None = None
        while True:
            ref = SourceRef(file=name, line=reader.line_num + 1)
            try:
                cells = next(reader)
            except StopIteration:
                return
            except (csv.Error, OSError) as error:
                yield unreadable(source, ref, describe(error))
                continue
            if header is None:
                header = cells
                if "\x00" in "".join(header) or _SURROGATE.search("".join(header)):
                    yield unreadable(source, ref, "the header is not UTF-8", excerpt=repr(header))
                    return
            elif cells:
                yield _csv_row(header, cells, ref, source)


def _csv_row(header: list[str], cells: list[str], ref: SourceRef, source: str) -> Row | Unreadable:
    if len(cells) != len(header):
        return unreadable(source, ref, f"{len(header)} columns expected, {len(cells)} found", excerpt=repr(cells))
    if _SURROGATE.search("".join(cells)):
        note_loss(source, ref, LossyError(None, ["not UTF-8; each wrong byte was replaced by \ufffd"]), b"")
        cells = [_SURROGATE.sub("\ufffd", cell) for cell in cells]
    return Row(dict(zip(header, cells, strict=True)), ref)


def text_file(path: Path, *, cap: int = LINE_CAP) -> str | None:
    """The text of a file with invalid bytes replaced, cut at `cap`; None where it can't be read."""
    try:
        with path.open("rb") as file:
            return in_utf_8(file.read(cap)).decode("utf-8", "replace").replace("\r\n", "\n")
    except (OSError, ValueError):
        return None


def number_or_none(value: Any) -> float | None:
    """A finite number, also from the text of a table cell; None for `NaN`, infinities, empty cells and other values."""
    if isinstance(value, bool) or value is None or (isinstance(value, str) and "_" in value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number - number == 0 else None


class Numbering:
    """Attempt numbers for harnesses that write none: 1 for the first row of a case, 2 for the next."""

    def __init__(self) -> None:
        # only hashes are kept for a million cases; counts are kept for repeated ones, which are few
        self._seen: set[int] = set()
        self._repeated: dict[Any, int] = {}

    def next(self, key: Any) -> int:
        mark = hash(key)
        if mark not in self._seen:
            self._seen.add(mark)
            return 1
        self._repeated[key] = self._repeated.get(key, 1) + 1
        return self._repeated[key]


def unreadable(source: str, ref: SourceRef, why: str, *, excerpt: bytes | str = b"", run: str = "") -> Unreadable:
    text = excerpt.decode("utf-8", "replace") if isinstance(excerpt, bytes) else excerpt
    shown = one_line(text[: 2 * EXCERPT], EXCERPT)
    return Unreadable(source=source, where=str(ref), why=why, excerpt=shown, run=run, ref=ref)


def describe(error: BaseException) -> str:
    """The text of an error, for an `Unreadable`."""
    if isinstance(error, KeyError):
        return f"field missing: {error}"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8: {error.reason} at byte {error.start}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {error}" if type(error) is not ValueError else str(error)


def relative(path: Path, root: Path) -> str:
    """The form of `ref.file`: relative to the imported root, with forward slashes."""
    if os.sep == "/" and (whole := str(path)).startswith(f"{root}/"):
        return whole[len(str(root)) + 1 :]  # the same, and ten times as fast
    try:
        return path.relative_to(root).as_posix() if path != root else path.name
    except ValueError:
        return path.name


@cache
def _typed(usual: type) -> Callable[[bytes], Any]:
    decode_usual: Callable[[bytes], Any] = msgspec.json.Decoder(usual).decode

    def decode_line(line: bytes) -> Any:
        if len(line) > DEPTH_CAP and line.count(b"}") + line.count(b"]") > DEPTH_CAP:
            return decode_exactly(line)
        try:
            return decode_usual(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return decode_exactly(line)

    return decode_line


def decode_lines(
    readline: Callable[[int], bytes], name: str, source: str, usual: type | None = None
) -> Iterator[Row | Unreadable]:
    decode_line = _typed(usual) if usual else decode_exactly
    number = 0
    while line := readline(LINE_CAP + 1):
        number += 1
        if len(line) > LINE_CAP and not line.endswith(b"\n"):
            too_long = f"line longer than {LINE_CAP // 2**20} MB"
            yield unreadable(source, SourceRef(file=name, line=number), too_long, excerpt=line[:EXCERPT])
            while (line := readline(LINE_CAP)) and not line.endswith(b"\n"):
                pass
            continue
        try:
            data = decode_line(line)
        except LossyError as lossy:
            note_loss(source, SourceRef(file=name, line=number), lossy, line)
            data = lossy.value
        except ValueError as error:
            if line.isspace():
                continue
            yield unreadable(source, SourceRef(file=name, line=number), describe(error), excerpt=line[:EXCERPT])
            continue
        yield Row(data, SourceRef(file=name, line=number))


@contextmanager
def _lines_in_utf_8(file: BinaryIO) -> Iterator[Callable[[int], bytes]]:
    """The function that reads the next line; of a file in UTF-16 or UTF-32, too."""
    encoding = wide_encoding(file.read(4))
    file.seek(0)
    if not encoding:
        yield file.readline
        return
    text = io.TextIOWrapper(file, encoding, errors="replace", newline="\n")
    try:
        yield lambda size: text.readline(size).encode("utf-8", "replace")
    finally:
        text.detach()


def _owner_of(row: Row, owner: Callable[[Row], str]) -> str:
    try:
        return owner(row)
    except (LookupError, TypeError, ValueError, AttributeError):
        return ""  # the damage that broke the conversion may break this, too
