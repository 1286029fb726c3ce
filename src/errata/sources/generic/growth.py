"""One file of JSON lines that has grown: possible where every case has one row, and all are of one run."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from errata.errors import ReadAloneError
from errata.model import Item
from errata.model.attempt_rows import AttemptRows
from errata.sources.base import convert_each, head_of
from errata.sources.generic import NAME, tables
from errata.sources.generic.mapping import Mapping, load
from errata.sources.generic.rows import RowConverter
from errata.sources.generic.runs import Runs
from errata.sources.generic.shares import table_of_lines
from errata.sources.generic.tables import RowTable
from errata.sources.line_growth import GrowingLog, LineTail, signature_of, tail_json_lines

_OF_ALL_ROWS = ("not_understood", "repeated_rows", "currency")
"""Facts in a run's `extra` that are counted over all rows."""


def log_of_file(path: Path, map_path: Path) -> GrowingLog | None:
    return log_of_table(path, load(map_path)) if path.is_file() else None


def log_of_table(path: Path, mapping: Mapping) -> GrowingLog | None:
    opened = table_of_lines(path, mapping)
    if opened is None:
        return None
    table, runs = opened
    # a full sample is part of the rows that were imported before; a shorter one may change with the opening of the file
    opening = b"" if len(table.sample) >= tables.SAMPLE else head_of(path, tables.OPENING)
    signature = signature_of(path.name, mapping, table.columns, sha256(opening).digest())
    return GrowingLog(path, signature, lambda tail: _added(path, tail, mapping, (table, runs)))


def _added(path: Path, tail: LineTail, mapping: Mapping, opened: tuple[RowTable, Runs]) -> Iterator[Item | AttemptRows]:
    table, runs = opened
    earlier = tail.earlier.run
    if any(fact in earlier.extra for fact in _OF_ALL_ROWS):
        raise ReadAloneError(f"`{path.name}` has facts that are counted over all rows")
    yield runs.announce({})
    state = runs.state_of({})
    convert = RowConverter(mapping, runs, table.columns, table.sample, path.parent)
    lines = tail_json_lines(tail, path, source=NAME, root=path, pack=convert.packing(path.name))
    yield from convert_each(lines, convert, source=NAME, owner=runs.owner)
    if state.needs_order or state.currencies - {"USD"}:
        raise ReadAloneError(f"rows of `{path.name}` depend on earlier ones")
    state.join((), (earlier.started_at, earlier.finished_at), ())
    yield from runs.finished()
