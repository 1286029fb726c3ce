"""One large file of JSON lines among several readers: possible where every case has one row, and all are of one run."""

from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec

from errata.errors import ReadAloneError
from errata.model import Item
from errata.model.attempt_rows import AttemptRows
from errata.model.record import TurnBegins
from errata.sources.base import ReaderShare, convert_each
from errata.sources.generic import NAME
from errata.sources.generic.mapping import Mapping, load, refuse_missing
from errata.sources.generic.rows import RowConverter
from errata.sources.generic.runs import MappedRun, Runs, file_of
from errata.sources.generic.tables import RowTable, open_table
from errata.sources.line_shares import can_share_lines, shared_json_lines


class _Share(msgspec.Struct):
    """What one reader learnt of its rows."""

    cases: bytes
    """Hashes of 8 bytes each."""
    started_at: str | None
    finished_at: str | None
    currencies: list[str]


def rows_of_file(path: Path, map_path: Path, share: ReaderShare) -> Iterator[Item | TurnBegins | AttemptRows] | None:
    return rows_of_table(path, load(map_path), share) if path.is_file() else None


def rows_of_table(path: Path, mapping: Mapping, share: ReaderShare) -> Iterator[Item | TurnBegins | AttemptRows] | None:
    """None if a row may depend on another one."""
    opened = table_of_lines(path, mapping)
    if opened is None:
        return None
    table, runs = opened
    return _items(path, share, runs, RowConverter(mapping, runs, table.columns, table.sample, path.parent))


def table_of_lines(path: Path, mapping: Mapping) -> tuple[RowTable, Runs] | None:
    """The table of a file of JSON lines with one run; None if a row may depend on another one."""
    attempt = mapping.attempt
    needs_order = attempt.index or attempt.session or attempt.transcript or mapping.run.headline is not None
    if needs_order or mapping.files or not can_share_lines(path):
        return None
    table = open_table(path, source=NAME, root=path, mapping=mapping)
    if not table.is_lines:
        return None
    refuse_missing(mapping, path.name, table.columns, table.sample, fixed=table.fixed)
    runs = Runs(mapping, table, file_of(path, table, in_folder=False))
    return (table, runs) if runs.is_one else None


def _items(
    path: Path, share: ReaderShare, runs: Runs, convert: RowConverter
) -> Iterator[Item | TurnBegins | AttemptRows]:
    run = runs.announce({})
    if share.number == 0:
        yield run
    state = runs.state_of({})
    lines = shared_json_lines(path, share, source=NAME, root=path, pack=convert.packing(path.name))
    items: Iterator[Item | TurnBegins | AttemptRows] = convert_each(lines, convert, source=NAME, owner=runs.owner)
    for item in items:
        if type(item) is TurnBegins:
            _refuse_order(state, path)
        yield item
    _refuse_order(state, path)
    if share.number > 0:
        share.send(msgspec.msgpack.encode(_summary(state)))
        return
    for message in share.receive():
        _join(state, msgspec.msgpack.decode(message, type=_Share), path)
    yield from runs.finished()


def _refuse_order(state: MappedRun, path: Path) -> None:
    if state.needs_order:
        raise ReadAloneError(f"rows of `{path.name}` depend on earlier ones")


def _summary(state: MappedRun) -> _Share:
    return _Share(array("q", state.cases).tobytes(), state.started_at, state.finished_at, sorted(state.currencies))


def _join(state: MappedRun, other: _Share, path: Path) -> None:
    hashes = array("q")
    hashes.frombytes(other.cases)
    if not state.cases.isdisjoint(hashes):
        raise ReadAloneError(f"`{path.name}` has several rows of one case")
    state.join(hashes, (other.started_at, other.finished_at), other.currencies)
