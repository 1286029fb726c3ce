"""Any file of rows → its columns and its rows. The format is detected from the content, never from the name."""

import csv
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.errors import SettingsError, SourceError
from errata.model import SourceRef, Unreadable
from errata.sources.base import LINE_CAP, Row, decode, describe, json_file, json_lines, relative, unreadable
from errata.sources.generic.mapping import MappedColumn, follow, rest, segments, spoken_for
from errata.sources.generic.values import bounded

OPENING = 4 * 1024 * 1024
SAMPLE = 200
KEY = "@key"
"""The column with the key of a row, if the rows are in an object instead of a list."""
MAGIC = b"PAR1"
BATCH = 256


class RowTable(NamedTuple):
    columns: tuple[str, ...]
    """Empty if there were no readable rows."""
    fixed: bool
    """Whether every row has every column, as in tables with a header or a schema."""
    sample: list[Any]
    rows: Iterator[Row | Unreadable]
    around: dict[str, Any] = {}
    """The fields of a JSON document beside its rows."""


def open_table(path: Path, *, source: str, root: Path, rows: str = "") -> RowTable:
    """`rows` is the path of the rows in a JSON document. `SettingsError` if there are none."""
    try:
        with path.open("rb") as file:
            opening = file.read(OPENING)
    except OSError as error:
        return _nothing(unreadable(source, SourceRef(file=relative(path, root)), describe(error)))
    if opening.startswith(MAGIC):
        columns, table_rows = parquet_rows(path, source=source, root=root)
        return _sampled(columns, True, table_rows)
    lines = _whole_lines(opening)
    starts = [line.lstrip()[:1] for line in lines[:8]]
    if starts[:1] != [b"["] and _are_json_lines(lines, starts, rows):
        return _json_lines(path, lines, source, root)
    if starts[:1] in ([b"["], [b"{"]):
        return _document(path, rows, source, root)
    return _delimited(path, lines, source, root)


def _whole_lines(opening: bytes) -> list[bytes]:
    lines = opening.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(opening) == OPENING and len(lines) > 1:
        lines.pop()
    return [line for line in lines if line and not line.isspace()]


def _are_json_lines(lines: list[bytes], starts: list[bytes], rows: str) -> bool:
    """Most lines must open an object; a damaged line among them is tolerated."""
    if not starts or 2 * starts.count(b"{") < len(starts) or b"{" not in starts:
        return False
    if not rows:
        return len(starts) == 1 or starts.count(b"{") > 1
    return len(lines) > 1 and all(line.rstrip().endswith(b"}") for line in lines[:2])


def _json_lines(path: Path, lines: list[bytes], source: str, root: Path) -> RowTable:
    sample = [row for row in map(_decoded, lines[:SAMPLE]) if type(row) is dict]
    return RowTable(_names(sample), False, sample, json_lines(path, source=source, root=root))


def _decoded(line: bytes) -> Any:
    try:
        return decode(line)
    except ValueError:
        return None


def _document(path: Path, rows: str, source: str, root: Path) -> RowTable:
    document = json_file(path, source=source, root=root)
    if isinstance(document, Unreadable):
        return _nothing(document)
    parts = segments(rows)
    listed = follow(document.data, parts)
    if type(listed) is dict and rows and all(type(child) is dict for child in listed.values()):
        keyed: list[tuple[Any, Any]] = [(key, {KEY: key, **child}) for key, child in listed.items()]
    elif type(listed) is list:
        keyed = list(enumerate(listed))
    else:
        raise _no_rows_there(path, rows, document.data)
    sample = [row for _, row in keyed[:SAMPLE] if type(row) is dict]
    stem = document.ref.below(*parts)
    placed = (Row(row, stem.below(key)) for key, row in keyed)
    return RowTable(_names(sample), False, sample, placed, _around(document.data, rows))


def _around(document: Any, rows: str) -> dict[str, Any]:
    if type(document) is not dict or rows == ".":
        return {}
    left = rest(document, spoken_for([MappedColumn(column=rows)], ()))
    return {key: bounded(key, value) for key, value in left.items() if value != {}}


def _no_rows_there(path: Path, rows: str, document: Any) -> SettingsError:
    lists = list(islice(_lists(document, "", 4), 10))
    where = f"at `{rows}`" if rows else "at its top level"
    known = ", ".join(f'`rows = "{place}"`' for place in lists)
    hint = f"it has rows at {known}" if known else "it has no list of objects"
    return SettingsError(f"`{path.name}` has no list of rows {where}", hint=hint)


def _lists(value: Any, place: str, depth: int) -> Iterator[str]:
    if type(value) is list and value and type(value[0]) is dict:
        yield place or "."
    elif type(value) is dict and depth:
        for key, child in value.items():
            yield from _lists(child, f"{place}.{key}" if place else str(key), depth - 1)


def _delimited(path: Path, lines: list[bytes], source: str, root: Path) -> RowTable:
    header = lines[0].decode("utf-8", "replace") if lines else ""
    delimiter = max(",;\t", key=header.count)
    columns = _own_names(next(csv.reader([header.rstrip("\r")], delimiter=delimiter), []))
    return _sampled(columns, True, _delimited_rows(path, columns, delimiter, (source, relative(path, root))))


def _own_names(header: Iterable[str]) -> tuple[str, ...]:
    """Repeated names are numbered, so that no cell hides another."""
    names: dict[str, None] = {}
    for name in header:
        number, made = 1, name.strip()
        while made in names:
            number += 1
            made = f"{name.strip()} ({number})"
        names[made] = None
    return tuple(names)


def _delimited_rows(
    path: Path, columns: tuple[str, ...], delimiter: str, where: tuple[str, str]
) -> Iterator[Row | Unreadable]:
    source, file_name = where
    csv.field_size_limit(LINE_CAP)
    width = len(columns)
    line = 1
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter)
            header_seen = False
            for cells in reader:
                ref = SourceRef(file=file_name, line=line)
                line = reader.line_num + 1
                if not header_seen or not cells:
                    header_seen = header_seen or bool(cells)
                elif len(cells) != width:
                    why = f"{width} columns expected, {len(cells)} found"
                    yield unreadable(source, ref, why, excerpt=delimiter.join(cells))
                else:
                    yield Row(dict(zip(columns, cells, strict=True)), ref)
    except (OSError, csv.Error) as error:
        yield unreadable(source, SourceRef(file=file_name, line=line), describe(error))


def _sampled(columns: tuple[str, ...], fixed: bool, rows: Iterator[Row | Unreadable]) -> RowTable:
    first = list(islice(rows, SAMPLE))
    sample = [row.data for row in first if isinstance(row, Row)]
    return RowTable(columns if sample else (), fixed, sample, chain(first, rows))


def _nothing(why: Unreadable) -> RowTable:
    return RowTable((), False, [], iter((why,)))


def _names(sample: list[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for row in sample for key in row))


def parquet_rows(path: Path, *, source: str, root: Path) -> tuple[tuple[str, ...], Iterator[Row | Unreadable]]:
    """The columns and the rows. An unreadable row group is one `Unreadable`."""
    parquet, damage = _pyarrow(path)
    name = relative(path, root)
    try:
        file = parquet.ParquetFile(path)
        columns = tuple(str(column) for column in file.schema_arrow.names)
    except damage as error:
        return (), iter((unreadable(source, SourceRef(file=name), _in_words(error)),))
    return columns, _parquet_rows(file, name, source, damage)


def _parquet_rows(file: Any, name: str, source: str, damage: tuple[type[Exception], ...]) -> Iterator[Row | Unreadable]:
    with file:
        start = 0
        for group in range(file.num_row_groups):
            number = start
            try:
                start += file.metadata.row_group(group).num_rows
                for batch in file.iter_batches(batch_size=BATCH, row_groups=[group]):
                    # dates, decimals and the like become JSON values
                    for data in msgspec.to_builtins(batch.to_pylist()):
                        yield Row(data, SourceRef(file=name, pointer=f"/{number}"))
                        number += 1
            except damage as error:
                ref = SourceRef(file=name, pointer=f"/{number}")
                yield unreadable(source, ref, f"row group {group}: {_in_words(error)}")


def _pyarrow(path: Path) -> tuple[Any, tuple[type[Exception], ...]]:
    try:
        parquet, arrow = import_module("pyarrow.parquet"), import_module("pyarrow")
    except ImportError as error:
        raise SourceError(
            f"`{path.name}` is a Parquet file, and pyarrow is not installed",
            hint="install the extra: `pip install 'errata[parquet]'`",
        ) from error
    return parquet, (arrow.ArrowException, OSError, ValueError, TypeError, OverflowError)


def _in_words(error: Exception) -> str:
    """The first line of an error: pyarrow's messages may have many."""
    return describe(error).partition("\n")[0]
