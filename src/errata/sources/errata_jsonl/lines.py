"""Read and write errata's own format."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from errata.model import Attempt, Case, Item, Record, Run, Unreadable, attempt_id
from errata.model.codec import to_json
from errata.sources.base import Row, convert_each, json_lines
from errata.sources.errata_jsonl import NAME

VERSION = 1
_LARGEST = 2**63 - 1


class _RecordLine(msgspec.Struct, frozen=True, tag_field="kind"):
    errata: Literal[1]


class _RunLine(_RecordLine, frozen=True, tag="run"):
    record: Run


class _CaseLine(_RecordLine, frozen=True, tag="case"):
    record: Case


class _AttemptLine(_RecordLine, frozen=True, tag="attempt"):
    record: Attempt


class _UnreadableLine(_RecordLine, frozen=True, tag="unreadable"):
    record: Unreadable


_AnyLine = _RunLine | _CaseLine | _AttemptLine | _UnreadableLine
_KINDS: dict[type[Record], bytes] = {Run: b"run", Case: b"case", Attempt: b"attempt", Unreadable: b"unreadable"}


def read_lines(path: Path) -> Iterator[Item]:
    rows, seen = json_lines(path, source=NAME, root=path), _KnownIds()
    return convert_each(rows, partial(_item, seen, str(path.parent.absolute())), source=NAME, owner=seen.owner)


def write_lines(items: Iterable[Item]) -> Iterator[bytes]:
    """One line per item. `origin` is removed: it is a path on this machine."""
    for item in items:
        record = msgspec.structs.replace(item, origin="") if isinstance(item, Run) else item
        yield b'{"errata":%d,"kind":"%b","record":%b}\n' % (VERSION, _KINDS[type(item)], to_json(record))


class _KnownIds:
    """The ids so far: a record must belong to a run above it, and attempt ids must be unique."""

    def __init__(self) -> None:
        self.runs: set[str] = set()
        self.attempts: set[str] = set()
        self.latest = ""

    def owner(self, row: Row) -> str:
        named = row.data["record"].get("run", self.latest)
        return named if named in self.runs else ""


def _item(seen: _KnownIds, folder: str, row: Row) -> Item:
    line: _AnyLine = msgspec.convert(_with_run(seen, _finite(row.data)), type=_AnyLine)
    record = line.record
    if isinstance(record, Unreadable):
        return record
    if isinstance(record, Run):
        seen.latest = record.id
        seen.runs.add(record.id)
        # refs into this file can be reopened from its folder; a path in the file itself is never trusted
        return msgspec.structs.replace(record, ref=record.ref or row.ref, origin="" if record.ref else folder)
    if record.run not in seen.runs:
        raise ValueError(f"no `run` line above has the id `{record.run}`")
    if isinstance(record, Attempt):
        record = _with_own_id(seen, record)
    return record if record.ref else msgspec.structs.replace(record, ref=row.ref)


def _finite(value: Any) -> Any:
    """`NaN` and infinities, which Python's json writes, become null; integers beyond 64 bits become text."""
    if type(value) is float:
        return value if value - value == 0 else None
    if type(value) is int:
        return value if -_LARGEST <= value <= _LARGEST else str(value)
    if type(value) is dict:
        return {key: _finite(child) for key, child in value.items()}
    if type(value) is list:
        return [_finite(child) for child in value]
    return value


def _with_run(seen: _KnownIds, line: Any) -> Any:
    """A case or an attempt without a run belongs to the latest run above it."""
    record = line.get("record") if isinstance(line, dict) else None
    if seen.latest and isinstance(record, dict) and line.get("kind") in ("case", "attempt"):
        record.setdefault("run", seen.latest)
    return line


def _with_own_id(seen: _KnownIds, attempt: Attempt) -> Attempt:
    """An attempt with a repeated id gets the next free index and a `duplicate_of`."""
    made = attempt.id
    index = attempt.index
    while made in seen.attempts:
        index += 1
        made = attempt_id(attempt.run, attempt.case, session=attempt.session, index=index, path=attempt.path)
    seen.attempts.add(made)
    if made == attempt.id:
        return attempt
    return msgspec.structs.replace(attempt, id=made, index=index, duplicate_of=attempt.duplicate_of or attempt.id)
