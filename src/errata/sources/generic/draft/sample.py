"""The first rows of an unknown table, with what is around them, and where in the file they are."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from errata.errors import SourceError
from errata.model import Unreadable
from errata.sources.base import Row, json_file
from errata.sources.generic import NAME
from errata.sources.generic.draft.locate import RowLocation, places_of_rows, rows_at
from errata.sources.generic.mapping import Mapping
from errata.sources.generic.places import KEY, VALUE, PlacedRow, rows_of_columns
from errata.sources.generic.tables import format_of, open_table

ROWS_CAP = 5_000
TEXT_CAP = 32 * 1024 * 1024
"""Rows are read until they hold this many characters."""
LONG = 2_000
NESTED = 20
FIELDS_CAP = 60
"""An object with more fields holds rows by key, not facts about them."""


class TableSample(NamedTuple):
    rows: list[dict[str, Any]]
    place: str = ""
    """The path of the rows in a document; empty for tables and for lines."""
    other_places: tuple[str, ...] = ()
    stated: dict[str, Any] = {}
    """Numbers beside the rows: `$.summary.accuracy`."""
    is_delimited: bool = False
    whole: bool = True
    """Whether these are all rows."""


def sample_of(path: Path) -> TableSample:
    """The first rows of a file. `SourceError` if it has none."""
    kind = format_of(path)
    if kind == "document":
        document = json_file(path, source=NAME, root=path)
        if isinstance(document, Unreadable):
            raise SourceError(f"`{path.name}` can't be read: {document.why}", hint="repair the file first")
        if (by_columns := rows_of_columns(document.data)) is not None:
            return TableSample(by_columns, ".")
        return sample_of_document(document.data, path.name)
    table = open_table(path, source=NAME, root=path, mapping=Mapping())
    rows, whole = _bounded(row.data for row in table.rows if isinstance(row, Row) and type(row.data) is dict)
    if not rows:
        raise SourceError(f"`{path.name}` has no rows", hint="`errata map` needs a table with at least one row")
    if kind == "delimited":
        if len(table.columns) < 2:
            raise SourceError(
                f"`{path.name}` is not a table: its first line has one column",
                hint="supported: CSV, TSV, JSON, JSON Lines and Parquet",
            )
        return TableSample(rows, is_delimited=True, whole=whole)
    return _with_inner_rows(rows, whole)


def _with_inner_rows(rows: list[dict[str, Any]], whole: bool) -> TableSample:
    """Lines may have lists of attempts inside them, such as `trials`."""
    places = places_of_rows(rows[:NESTED])
    if places and places[0].path != "[]" and places[0].path.startswith("[]."):
        made = _placed(rows, places[0].path, rows)
        return TableSample(made, places[0].path.removeprefix("[]."), _others(places, "[]."), whole=whole)
    return TableSample(rows, whole=whole)


def _others(places: list[RowLocation], prefix: str = "") -> tuple[str, ...]:
    return tuple(place.path.removeprefix(prefix) for place in places[1:4] if place.points > places[0].points - 3)


def sample_of_document(document: Any, name: str) -> TableSample:
    places = places_of_rows(document)
    if not places:
        if type(document) is dict:
            return TableSample([document], ".")
        raise SourceError(f"`{name}` has no list of objects", hint="`errata map` needs rows, one for each attempt")
    best = places[0]
    rows = _placed(document, best.path, document)
    shown = "" if best.path == "[]" and type(document) is list else best.path
    stated = numbers_beside(document, rows_at(document, best.path))
    return TableSample(rows[:ROWS_CAP], shown, _others(places), stated, whole=len(rows) <= ROWS_CAP)


def _placed(document: Any, path: str, top: Any) -> list[dict[str, Any]]:
    """The rows at a path with the fields of the objects around them, as `^x` and `$.x`."""
    return [_with_outer(row, top if type(top) is dict else None) for row in rows_at(document, path)]


def _with_outer(placed: PlacedRow, top: dict[str, Any] | None) -> dict[str, Any]:
    row: dict[str, Any] = dict(placed.data) if type(placed.data) is dict else {VALUE: placed.data}
    if placed.key is not None:
        row = {KEY: placed.key, **row}
    for level, outer in enumerate(reversed(placed.around), 1):
        if outer is not top and len(outer) <= FIELDS_CAP:
            row |= {f"{'^' * level}{name}": value for name, value in outer.items() if _is_small(value)}
    if top is not None and placed.around and len(top) <= FIELDS_CAP:
        row |= {f"$.{name}": value for name, value in top.items() if _is_small(value)}
    return row


def _is_small(value: Any) -> bool:
    """Whether a field around the rows may describe them; lists are rows or notes."""
    if type(value) is dict:
        return len(value) <= 30 and all(_is_small(child) for child in value.values() if type(child) is not dict)
    return type(value) is not list and not (isinstance(value, str) and len(value) > LONG)


def numbers_beside(document: Any, rows: list[PlacedRow]) -> dict[str, Any]:
    """Numbers of the document itself, and of the object that holds the first rows."""
    stated: dict[str, Any] = {}
    if rows and rows[0].around and rows[0].around[-1] is not document:
        stated |= {f"^{path}": value for path, value in _numbers(rows[0].around[-1])}
    if type(document) is dict:
        stated |= {f"$.{path}": value for path, value in _numbers(document)}
    return stated


def _numbers(value: dict[str, Any], prefix: str = "", depth: int = 3) -> Iterable[tuple[str, Any]]:
    for name, child in value.items():
        path = f"{prefix}.{name}" if prefix else str(name)
        if isinstance(child, (int, float)) and not isinstance(child, bool):
            yield path, child
        elif type(child) is dict and depth > 1 and len(child) <= 30:
            yield from _numbers(child, path, depth - 1)


def _bounded(rows: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], bool]:
    kept: list[dict[str, Any]] = []
    size = 0
    iterator = iter(rows)
    for row in islice(iterator, ROWS_CAP):
        kept.append(row)
        size += sum(len(value) for value in row.values() if isinstance(value, (str, list)))
        if size > TEXT_CAP:
            break
    return kept, next(iterator, None) is None
