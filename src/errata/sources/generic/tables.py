"""Any file of rows → its columns and its rows. The format is detected from the content, never from the name."""

import csv
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from errata.errors import SettingsError, SourceError, extra_hint
from errata.model import SourceRef, Unreadable
from errata.sources.base import (
    LINE_CAP,
    Row,
    decode,
    describe,
    head_of,
    json_document,
    json_file,
    json_lines,
    relative,
    small_file,
    unreadable,
)
from errata.sources.generic import NAME
from errata.sources.generic.mapping import MappedColumn, Mapping, lacks_column, rest, spoken_for
from errata.sources.generic.places import (
    FILE_COLUMNS,
    ROW,
    RUN_OBJECT,
    PlacedRow,
    RunObjects,
    WideTable,
    outer_columns,
    placed_rows,
    row_of,
    rows_of_columns,
    wide_tables,
    with_file_columns,
)
from errata.sources.generic.values import bounded

OPENING = 4 * 1024 * 1024
SMALL = 64 * 1024
"""Bytes of a document that is read once: a folder may hold very many."""
SAMPLE = 200
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
    is_lines: bool = False
    """Whether the rows are the lines of a file, each as it is."""


def open_table(path: Path, *, source: str, root: Path, mapping: Mapping) -> RowTable:
    """The rows of a file, with the columns that the mapping takes from around them. `SettingsError` without rows."""
    table = _opened(path, source, root, mapping)
    outer = outer_columns(mapping)
    of_file = tuple(name for name in (*FILE_COLUMNS, ROW) if name in outer) if outer else ()
    if of_file and table.columns:
        sample = [row.data for row in with_file_columns(_bare(table.sample), path, root, outer) if isinstance(row, Row)]
        rows = with_file_columns(table.rows, path, root, outer)
        table = table._replace(columns=(*of_file, *table.columns), sample=sample, rows=rows)
    for wide in wide_tables(mapping):
        table = _unpivoted(table, wide, path, mapping)._replace(is_lines=False) if table.columns else table
    return table


def join_tables(tables: Iterable[RowTable]) -> RowTable:
    """Several files as one table. Its columns are those of the first files."""
    opened = iter(tables)
    first = list(islice(opened, SAMPLE))
    sample = [row for table in first for row in table.sample][:SAMPLE]
    columns = tuple(dict.fromkeys(name for table in first for name in table.columns))
    rows = (row for table in chain(first, opened) for row in table.rows)
    return RowTable(columns, bool(first) and all(table.fixed for table in first), sample, rows)


def _bare(sample: list[Any]) -> list[Row | Unreadable]:
    return [Row(data, SourceRef(file="")) for data in sample]


def _unpivoted(table: RowTable, wide: WideTable, path: Path, mapping: Mapping) -> RowTable:
    optional = {column.column for _, column in mapping.columns() if column.optional}
    for template in wide.templates:
        asked = [wide.column_for(template, name) for name in wide.names]
        missing = [name for name in asked if lacks_column(name, table.columns, table.sample)]
        if missing and template not in optional:
            names = ", ".join(f"`{name}`" for name in missing[:5])
            raise SettingsError(
                f"`{path.name}` has no column {names} (`{template}`)", hint=f"It has: {', '.join(table.columns[:40])}"
            )
    sample = [row.data for row in wide.rows(_bare(table.sample), table.columns) if isinstance(row, Row)]
    columns = (*table.columns, *wide.templates, wide.label)
    return table._replace(columns=columns, sample=sample, rows=wide.rows(table.rows, table.columns))


def _opened(path: Path, source: str, root: Path, mapping: Mapping) -> RowTable:
    whole = small_file(path, SMALL)
    try:
        opening = whole if whole is not None else _read_opening(path)
    except OSError as error:
        return _nothing(unreadable(source, SourceRef(file=relative(path, root)), describe(error)))
    if opening.startswith(MAGIC):
        columns, table_rows = parquet_rows(path, source=source, root=root)
        return _sampled(columns, True, table_rows)
    lines = _whole_lines(opening)
    starts = [line.lstrip()[:1] for line in lines[:8]]
    rows = mapping.rows
    if starts[:1] != [b"["] and _are_json_lines(lines, starts, rows) and not (mapping.files and len(lines) == 1):
        return _json_lines(path, lines, source, root, mapping)
    if starts[:1] in ([b"["], [b"{"]):
        return _document(path, source, root, mapping, whole)
    return _delimited(path, lines, source, root)


def _read_opening(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(OPENING)


def format_of(path: Path) -> Literal["parquet", "lines", "document", "delimited"]:
    """By its content. An object on a line of its own is a document here."""
    opening = head_of(path, OPENING)
    if opening.startswith(MAGIC):
        return "parquet"
    lines = _whole_lines(opening)
    starts = [line.lstrip()[:1] for line in lines[:8]]
    if len(lines) > 1 and starts[:1] != [b"["] and _are_json_lines(lines, starts, ""):
        # the lines of an indented document may begin with a brace, too
        return "lines" if _decoded(lines[0]) is not None or _decoded(lines[1]) is not None else "document"
    return "document" if starts[:1] in ([b"["], [b"{"]) else "delimited"


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


def _json_lines(path: Path, lines: list[bytes], source: str, root: Path, mapping: Mapping) -> RowTable:
    rows = json_lines(path, source=source, root=root)
    sample = [row for row in map(_decoded, lines[:SAMPLE]) if type(row) is dict]
    if "[]" not in mapping.rows:
        return RowTable(_names(sample), False, sample, rows, is_lines=not outer_columns(mapping))
    outer = outer_columns(mapping)
    first = [Row(row, SourceRef(file="")) for row in sample]
    rows_in_first = (row.data for row in _rows_in_lines(first, mapping, outer) if isinstance(row, Row))
    inner = [data for data in rows_in_first if type(data) is dict][:SAMPLE]
    return RowTable(_names(inner), False, inner, _rows_in_lines(rows, mapping, outer))


def _rows_in_lines(
    lines: Iterable[Row | Unreadable], mapping: Mapping, outer: Collection[str]
) -> Iterator[Row | Unreadable]:
    """Each line of the file is a document with rows of its own."""
    objects = RunObjects(mapping)
    for line in lines:
        placed = placed_rows(line.data, mapping.rows, mapping) if isinstance(line, Row) else None
        if not isinstance(line, Row):
            yield line
        elif placed is None:
            yield unreadable(NAME, line.ref, f"no rows at `{mapping.rows}`")
        else:
            yield from (
                Row(objects.add_number(row_of(row, line.data, outer), row), line.ref.below(*row.place))
                for row in placed
            )


def _decoded(line: bytes) -> Any:
    try:
        return decode(line)
    except ValueError:
        return None


def _document(path: Path, source: str, root: Path, mapping: Mapping, whole: bytes | None) -> RowTable:
    """`whole` is what is in the file, where it was read before."""
    if whole is None:
        document = json_file(path, source=source, root=root)
    else:
        document = json_document(whole, SourceRef(file=relative(path, root)), source=source)
    if isinstance(document, Unreadable):
        return _nothing(document)
    document = Row(rows_of_columns(document.data) or document.data, document.ref)
    rows = mapping.rows or ("." if mapping.files else "")
    placed = placed_rows(document.data, rows, mapping)
    if placed is None:
        raise _no_rows_there(path, rows, document.data)
    outer = outer_columns(mapping)
    objects = RunObjects(mapping)
    converted = (_converted(row, document, outer, objects) for row in placed)
    first = list(islice(converted, SAMPLE))
    sample = [row.data for row in first if type(row.data) is dict]
    return RowTable(_names(sample), False, sample, chain(first, converted), _around(document.data, rows))


def _converted(placed: PlacedRow, document: Row, outer: Collection[str], objects: RunObjects) -> Row:
    row = objects.add_number(row_of(placed, document.data, outer), placed)
    return Row(row, document.ref.below(*placed.place))


def _around(document: Any, rows: str) -> dict[str, Any]:
    if type(document) is not dict or rows == ".":
        return {}
    left = rest(document, spoken_for([MappedColumn(column=rows.partition("[]")[0])], ()))
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
    delimiter = max(",;\t|", key=header.count)
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
                if not header_seen or not any(map(str.strip, cells)):
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
    return tuple(dict.fromkeys(key for row in sample for key in row if key != RUN_OBJECT))


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
            hint=extra_hint("parquet"),
        ) from error
    return parquet, (arrow.ArrowException, OSError, ValueError, TypeError, OverflowError)


def _in_words(error: Exception) -> str:
    """The first line of an error: pyarrow's messages may have many."""
    return describe(error).partition("\n")[0]
