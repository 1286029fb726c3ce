"""promptfoo: the results of an evaluation as JSON, in any version of its export, or its rows as JSON lines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errata.model import Item, Run, Unreadable
from errata.sources.base import Numbering, Row, convert_each, unreadable
from errata.sources.promptfoo.assertions import Graders
from errata.sources.promptfoo.attempts import Place, attempt_of
from errata.sources.promptfoo.cases import case_of
from errata.sources.promptfoo.columns import Columns, Key
from errata.sources.promptfoo.document import Evaluation, open_evaluation, rows_alone
from errata.sources.promptfoo.recognition import explain, recognise
from errata.sources.promptfoo.retelling import fuller
from errata.sources.promptfoo.runs import NAME, run_of
from errata.sources.shared.runs import by_neighbours

__all__ = ["NAME", "TITLE", "explain", "fuller", "read", "recognise"]

TITLE = "promptfoo: `--output` as JSON or JSON lines, old exports with a table, shared evaluations"


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    evaluation = open_evaluation(path, source=NAME)
    if isinstance(evaluation, Unreadable):
        yield evaluation
        return
    columns = Columns(evaluation, rows_alone(evaluation.rows()))
    runs = {key: run_of(evaluation, column, len(columns.by_key), path) for key, column in columns.by_key.items()}
    yield from runs.values()
    reading = Reading(columns, runs, Graders(evaluation.config))
    yield from by_neighbours(convert_each(evaluation.rows(), reading.items_of, source=NAME, owner=reading.owner))
    yield from _nothing(evaluation, runs)


def _nothing(evaluation: Evaluation, runs: dict[Key, Run]) -> Iterator[Unreadable]:
    if not runs and not any(evaluation.rows()):
        yield unreadable(NAME, evaluation.ref, "no results")


class Reading:
    """What has been seen of each run: tries at its cases, and promptfoo's own numbers of them."""

    def __init__(self, columns: Columns, runs: dict[Key, Run], graders: Graders) -> None:
        self._columns = columns
        self._runs = runs
        self._graders = graders
        self._numbering = Numbering()
        self._numbers: dict[tuple[Key, Any], tuple[str, int]] = {}

    def items_of(self, row: Row) -> Iterator[Item]:
        data = row.data
        if not isinstance(data, dict):
            raise TypeError("not a result")
        key, name = self._columns.key_of(data), self._columns.naming.name(data)
        run = self._runs[key]
        index = self._numbering.next((key, name))
        if index == 1:
            yield case_of(run, name, data, row.ref)
        yield attempt_of(data, row.ref, self._place(key, name, index, data.get("testIdx")), self._graders)

    def owner(self, row: Row) -> str:
        return self._runs[self._columns.key_of(row.data)].id

    def _place(self, key: Key, name: str, index: int, number: Any) -> Place:
        """Repeats have numbers of their own; a row with one that was there already is the same row twice."""
        first = self._numbers.setdefault((key, number), (name, index)) if isinstance(number, int) else (name, index)
        twice = first[0] == name and first[1] != index
        return Place(self._runs[key], name, index, first[1] if twice else None)
