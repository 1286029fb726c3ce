"""Where the rows of a JSON document are, and columns from around a row: `runs[].results[]`, `^model`, `@file`.

`[]` is each element of a list, or each value of an object, whose key is then the column `@key`. `^x` is a field
of the object that holds the rows, `^^x` one of the object around that, and `$.x` one of the whole document.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Unreadable
from errata.sources.base import Row
from errata.sources.generic.mapping import MappedColumn, Mapping, as_column, follow, getter, segments
from errata.sources.generic.values import NOTHING, is_empty
from errata.sources.shared.last_result import remember_last
from errata.text.lazy_regex import lazy_regex

KEY = "@key"
"""The column with the key of a row, if the rows are in an object instead of a list."""
VALUE = "@value"
"""The column with the row itself, if it is not an object: `{"task-1": true}`, `[0, 1, 1]`."""
ROW = "@row"
FILE_COLUMNS = ("@file", "@folder", "@path")
OUTER = ("^", "$", "@")
WIDE_MARKERS = (("{model}", "@model"), ("{case}", "@case"), ("{attempt}", "@attempt"))
"""The placeholder in the columns of a wide table, and the column that gets the name."""
NOT_RUN = "@not_run"
"""Marks the row for the empty cells of a wide table."""
RUN_OBJECT = "@run"
"""The number of the object that describes the run of a row, in a nested list of runs."""
DASHES = frozenset(("-", "–", "—"))
_STEP = lazy_regex(r"\[(\d*)\]|([^.\[\]]+)")


class Each:
    """The step `[]` of a path."""


EACH = Each()
Step = str | int | Each


class PlacedRow(NamedTuple):
    data: Any
    place: tuple[str | int, ...]
    """Its JSON pointer in the document."""
    around: tuple[dict[str, Any], ...]
    """The objects that it is in, the document first."""
    key: str | None


@lru_cache(16)
def steps_of(path: str) -> tuple[Step, ...]:
    """`runs[].results[0]` → `("runs", EACH, "results", 0)`."""
    made: list[Step] = []
    for match in _STEP.finditer(path):
        if match[2] is not None:
            made.append(match[2])
        else:
            made.append(int(match[1]) if match[1] else EACH)
    return tuple(made)


def placed_rows(document: Any, rows: str, mapping: Mapping) -> Iterator[PlacedRow] | None:
    """The rows at a path; None if there is nothing there that could be rows."""
    steps = steps_of(rows)
    if EACH not in steps:
        target = follow(document, segments(rows))
        if type(target) is list or (type(target) is dict and rows and _is_keyed(target, mapping)):
            steps = (*steps, EACH)
        elif type(target) is not dict or not rows or not _is_row_below(target, document, mapping):
            return None
    elif steps[-1] is not EACH and not any(type(row.data) is dict for row in _walk(document, steps, (), (), None)):
        steps = (*steps, EACH)
    placed = _walk(document, steps, (), (), None)
    first = next(placed, None)
    if first is None and EACH in steps and type(follow(document, _before_each(steps))) not in (list, dict):
        return None
    return iter(()) if first is None else _again(first, placed)


def _again(first: PlacedRow, others: Iterator[PlacedRow]) -> Iterator[PlacedRow]:
    yield first
    yield from others


def _before_each(steps: tuple[Step, ...]) -> list[str | int]:
    plain: list[str | int] = []
    for step in steps:
        if isinstance(step, Each):
            break
        plain.append(step)
    return plain


def _is_keyed(target: dict[str, Any], mapping: Mapping) -> bool:
    """Whether an object holds rows by key."""
    if KEY in outer_columns(mapping):
        return True
    return bool(target) and all(type(child) is dict for child in target.values()) and not _is_row(target, mapping)


def _is_row_below(target: dict[str, Any], document: Any, mapping: Mapping) -> bool:
    """The same, where what identifies the case may be around it."""
    if _is_row(target, mapping):
        return True
    return target is not document and any(path[:1] in ("^", "$") for path in outer_columns(mapping))


def _is_row(target: dict[str, Any], mapping: Mapping) -> bool:
    """Whether an object is itself the only row: it has what identifies a case."""
    return any(
        path in FILE_COLUMNS or path in target or follow(target, segments(path)) is not None
        for path in _case_paths(mapping)
    )


@remember_last
def _case_paths(mapping: Mapping) -> tuple[str, ...]:
    named = (mapping.case.name, mapping.case.input)
    return tuple(as_column(column).column for column in named if column is not None)


def _walk(
    value: Any,
    steps: tuple[Step, ...],
    place: tuple[str | int, ...],
    around: tuple[dict[str, Any], ...],
    key: str | None,
) -> Iterator[PlacedRow]:
    if not steps:
        yield PlacedRow(value, place, around, key)
        return
    step, *others = steps
    rest = tuple(others)
    if isinstance(step, Each):
        if type(value) is list:
            for at, child in enumerate(value):
                yield from _walk(child, rest, (*place, at), around, key)
        elif type(value) is dict:
            for name, child in value.items():
                yield from _walk(child, rest, (*place, name), around, str(name))
        else:
            yield PlacedRow(None, place, around, key)
    elif type(value) is dict:
        yield from _walk(value.get(step), rest, (*place, step), (*around, value), key)
    elif type(value) is list and isinstance(step, int) and step < len(value):
        yield from _walk(value[step], rest, (*place, step), around, key)
    else:
        yield PlacedRow(None, place, around, key)


def rows_of_columns(document: Any) -> list[dict[str, Any]] | None:
    """The rows of a document as `DataFrame.to_json` writes it, by columns or split; None for other documents."""
    if type(document) is not dict or len(document) < 2:
        return None
    columns, data = document.get("columns"), document.get("data")
    if type(columns) is list and type(data) is list and all(type(row) is list for row in data):
        return [dict(zip(map(str, columns), row, strict=False)) for row in data]
    parts = list(document.values())
    if not all(type(part) is dict and part for part in parts):
        return None
    keys = list(parts[0])
    if keys != [str(number) for number in range(len(keys))] or any(list(part) != keys for part in parts):
        return None
    if any(type(value) is dict for part in parts for value in part.values()):
        return None
    return [{name: part[key] for name, part in document.items()} for key in keys]


@remember_last
def outer_columns(mapping: Mapping) -> tuple[str, ...]:
    """The columns of a mapping that are not in a row itself."""
    return tuple(dict.fromkeys(column.column for _, column in mapping.columns() if column.column[:1] in OUTER))


@remember_last
def level_of_runs(mapping: Mapping) -> int:
    """How many objects further out the one that describes a run is, `^` = 1; 0 if the mapping names the runs itself.

    With `runs[].results[]` and `model = { column = "^model" }` each element of `runs` is one run. An object with the
    case's fields is a case.
    """
    levels: dict[str, list[int]] = {"run": [], "case": []}
    for key, column in mapping.columns():
        section = key[1:].partition("]")[0].partition(".")[0]
        if section in levels and column.column.startswith("^"):
            levels[section].append(len(column.column) - len(column.column.lstrip("^")))
    is_named = bool(mapping.run.id) or isinstance(mapping.run.name, MappedColumn)
    if is_named or not levels["run"] or max(levels["case"], default=0) >= min(levels["run"]):
        return 0
    return min(levels["run"])


class RunObjects:
    """Numbers the objects that describe runs. The rows of one object are consecutive."""

    def __init__(self, mapping: Mapping) -> None:
        self._level = level_of_runs(mapping)
        self._last: dict[str, Any] | None = None
        self._number = 0

    def add_number(self, row: Any, placed: PlacedRow) -> Any:
        if not self._level or self._level > len(placed.around) or type(row) is not dict:
            return row
        if placed.around[-self._level] is not self._last:
            self._last = placed.around[-self._level]
            self._number += 1
        return {**row, RUN_OBJECT: self._number}


def row_of(placed: PlacedRow, document: Any, outer: Collection[str]) -> Any:
    """The row with the columns from around it. A column of its own goes before one from around it."""
    data = placed.data
    if type(data) is not dict:
        if VALUE not in outer or data is None:
            return data
        data = {VALUE: data}
    extra: dict[str, Any] = {} if placed.key is None else {KEY: placed.key}
    for name in outer:
        if name.startswith(("^", "$")) and (value := outer_value(name, placed.around, document)) is not None:
            extra[name] = value
    return {**extra, **data} if extra else data


def outer_value(name: str, around: tuple[dict[str, Any], ...], document: Any) -> Any:
    if name.startswith("$"):
        return follow(document, segments(name[1:]))
    level = len(name) - len(name.lstrip("^"))
    return follow(around[-level], segments(name[level:])) if level <= len(around) else None


def with_file_columns(
    rows: Iterable[Row | Unreadable], path: Path, root: Path, outer: Collection[str]
) -> Iterator[Row | Unreadable]:
    extra = {name: value for name, value in file_columns(path, root).items() if name in outer}
    counts = ROW in outer
    for number, row in enumerate(rows, 1):
        if isinstance(row, Row) and type(row.data) is dict:
            yield Row({**extra, ROW: number, **row.data} if counts else {**extra, **row.data}, row.ref)
        else:
            yield row


def file_columns(path: Path, root: Path) -> dict[str, str]:
    below = path.relative_to(root) if path != root and path.is_relative_to(root) else Path(path.name)
    return {
        "@file": path.stem,
        "@folder": path.absolute().parent.name,
        "@path": below.with_suffix("").as_posix(),
    }


class WideTable(NamedTuple):
    """A table with columns for each model or each case: each row is several attempts."""

    marker: str
    """`{model}` or `{case}` in the names of columns."""
    label: str
    """The column that gets the name."""
    names: tuple[str, ...]
    templates: tuple[str, ...]
    verdicts: frozenset[str] = frozenset()
    """The templates of verdicts and scores: there, `n/a` and a dash are as good as an empty cell."""

    def rows(self, rows: Iterable[Row | Unreadable], columns: Collection[str]) -> Iterator[Row | Unreadable]:
        getters = {
            name: [(template, getter(self.column_for(template, name), columns)) for template in self.templates]
            for name in self.names
        }
        used = {self.column_for(template, name) for template in self.templates for name in self.names}
        for row in rows:
            if not isinstance(row, Row) or type(row.data) is not dict:
                yield row
                continue
            shared = {name: value for name, value in row.data.items() if name not in used}
            for name, columns_of_name in getters.items():
                own = {template: get(row.data) for template, get in columns_of_name}
                made = {**shared, **own, self.label: name}
                if all(self._is_empty(template, value) for template, value in own.items()):
                    made[NOT_RUN] = True
                yield Row(made, row.ref)

    def _is_empty(self, template: str, value: Any) -> bool:
        if is_empty(value) or (isinstance(value, str) and not value.strip()):
            return True
        if template not in self.verdicts or not isinstance(value, str):
            return False
        return value.strip().lower() in NOTHING or value.strip() in DASHES

    def column_for(self, template: str, name: str) -> str:
        return template.replace(self.marker, name)


@remember_last
def wide_tables(mapping: Mapping) -> tuple[WideTable, ...]:
    return tuple(_wide_tables(mapping))


def _wide_tables(mapping: Mapping) -> Iterator[WideTable]:
    kinds = (mapping.models, mapping.cases, mapping.attempts)
    decisive = (mapping.attempt.passed, mapping.attempt.score, mapping.attempt.status, *mapping.checks.values())
    verdicts = frozenset(as_column(column).column for column in decisive if column)
    for (marker, label), names in zip(WIDE_MARKERS, kinds, strict=True):
        if names:
            asked = dict.fromkeys(column.column for _, column in mapping.columns() if marker in column.column)
            yield WideTable(marker, label, names, tuple(asked), verdicts)
