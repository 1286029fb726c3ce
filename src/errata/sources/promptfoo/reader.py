"""Reads an evaluation of promptfoo, and finds the document that repeats a file of rows."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from errata.model import Item, Run, Unreadable
from errata.sources.base import Row, children, convert_each, head_of, json_lines, unreadable
from errata.sources.promptfoo import HEAD, NAME, is_document
from errata.sources.promptfoo.attempts import RowPlace, attempt_of
from errata.sources.promptfoo.cases import case_of
from errata.sources.promptfoo.columns import Graders, Key, PromptfooColumns
from errata.sources.promptfoo.evaluation import PromptfooEvaluation, open_evaluation, rows_alone
from errata.sources.promptfoo.runs import run_of
from errata.sources.shared.cases import CaseNumbering
from errata.sources.shared.runs import by_neighbours

LOOKS = 200
WHOLE = 64 * 1024 * 1024


def read_evaluation(path: Path) -> Iterator[Item]:
    evaluation = open_evaluation(path, source=NAME)
    if isinstance(evaluation, Unreadable):
        yield evaluation
        return
    columns = PromptfooColumns(evaluation, rows_alone(evaluation.rows()))
    runs = {key: run_of(evaluation, column, len(columns.by_key), path) for key, column in columns.by_key.items()}
    yield from runs.values()
    rows = PromptfooRows(columns, runs, Graders(evaluation.config))
    yield from by_neighbours(convert_each(evaluation.rows(), rows.items_of, source=NAME, owner=rows.owner))
    yield from _nothing(evaluation, runs)


def _nothing(evaluation: PromptfooEvaluation, runs: dict[Key, Run]) -> Iterator[Unreadable]:
    if not runs and not any(evaluation.rows()):
        yield unreadable(NAME, evaluation.ref, "no results")


class PromptfooRows:
    """Converts rows: counts the attempts at each case, and remembers promptfoo's own numbers."""

    def __init__(self, columns: PromptfooColumns, runs: dict[Key, Run], graders: Graders) -> None:
        self._columns = columns
        self._runs = runs
        self._graders = graders
        self._numbering = CaseNumbering()
        self._numbers: dict[tuple[Key, Any], tuple[str, int]] = {}

    def items_of(self, row: Row) -> Iterator[Item]:
        data = row.data
        if not isinstance(data, dict):
            raise TypeError("not a result")
        key, name = self._columns.key_of(data), self._columns.naming.name(data)
        run = self._runs[key]
        index = self._numbering.next((key, name))
        case = case_of(run, name, data, row.ref)
        if self._numbering.is_news(case):
            yield case
        yield attempt_of(data, row.ref, self._place(key, name, index, data.get("testIdx")), self._graders)

    def owner(self, row: Row) -> str:
        return self._runs[self._columns.key_of(row.data)].id

    def _place(self, key: Key, name: str, index: int, number: Any) -> RowPlace:
        """Repeats have numbers of their own; a row whose number occurred before is the same row twice."""
        first = self._numbers.setdefault((key, number), (name, index)) if isinstance(number, int) else (name, index)
        twice = first[0] == name and first[1] != index
        return RowPlace(self._runs[key], name, index, first[1] if twice else None)


class _RowId(msgspec.Struct):
    id: str


def document_of_rows(path: Path) -> Path | None:
    """The document of the same evaluation in the folder of a file of rows, found by the ids of the rows."""
    if not _fits(path):
        return None
    ids = _ids(path)
    for beside in islice(children(path.parent), LOOKS) if ids else ():
        if beside != path and is_document(head_of(beside, HEAD)) and _fits(beside):
            document = beside.read_bytes()
            if all(ident in document for ident in ids):
                return beside
    return None


def _ids(path: Path) -> list[bytes]:
    """Empty if a row has no id."""
    rows = [row for row in json_lines(path, source=NAME, root=path, usual=_RowId) if isinstance(row, Row)]
    ids = [row.data.id for row in rows if isinstance(row.data, _RowId) and row.data.id]
    return [f'"{ident}"'.encode() for ident in ids] if len(ids) == len(rows) else []


def _fits(path: Path) -> bool:
    try:
        return path.stat().st_size <= WHOLE
    except OSError:
        return False
