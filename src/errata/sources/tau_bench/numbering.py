"""Which trial of a task an attempt is."""

from typing import Any, NamedTuple

from errata.model import Run, attempt_id, case_key
from errata.sources.shared.values import count


class Number(NamedTuple):
    case: str
    trial: int
    """Counted from 1."""
    duplicate_of: str | None = None


class Numbers:
    """Trials count from 0 in the log and from 1 here; a trial that comes again takes the next free number."""

    def __init__(self) -> None:
        self._taken: dict[str, set[int]] = {}

    def next(self, run: Run, task: str, trial: Any) -> Number:
        told, taken = count(trial), self._taken.get(task, set())
        index = told + 1 if told is not None else 1
        if index not in taken:
            return Number(task, index)
        first = attempt_id(run.id, case_key(run.suite, task), index=index) if told is not None else None
        while index in taken:
            index += 1
        return Number(task, index, first)

    def take(self, number: Number) -> None:
        self._taken.setdefault(number.case, set()).add(number.trial)

    def is_taken(self, task: str, index: int) -> bool:
        return index in self._taken.get(task, ())

    def is_first(self, task: str) -> bool:
        return task not in self._taken
