"""Rows → runs, cases and attempts. The mapping is compiled once for a file; a row only follows it."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from errata.model import Attempt, Case, Item, case_key
from errata.model.identity import attempt_id, case_key_of_input
from errata.sources.base import Row
from errata.sources.generic.attempts import Attempts
from errata.sources.generic.columns import getter, rest, spoken_for
from errata.sources.generic.fields import Field, take
from errata.sources.generic.mapping import CaseMap, Mapping, as_column
from errata.sources.generic.runs import Runs, RunState
from errata.sources.generic.sessions import Sessions
from errata.sources.generic.values import bounded, is_empty, text, whole, words
from errata.sources.shared.values import plain

_CASE: dict[str, Callable[[Any], Any]] = {
    "category": text,
    "input": plain,
    "expected": plain,
    "tags": words,
    "choices": words,
    "difficulty": text,
}


class Rows:
    """Called with each row of a file in turn."""

    def __init__(
        self, mapping: Mapping, runs: Runs, columns: Collection[str], sample: list[Any], folder: Path = Path()
    ) -> None:
        """`folder` is that of the file."""
        self._runs = runs
        self._sessions = Sessions(mapping, columns, folder) if mapping.attempt.transcript else None
        self._cases = Cases(mapping.case, columns)
        self._attempts = Attempts(mapping, columns)
        self._numbers = Numbers(mapping, columns, sample)
        self._taken = spoken_for((column for _, column in mapping.columns()), columns)

    def __call__(self, row: Row) -> list[Item]:
        data = row.data
        if type(data) is not dict:
            raise ValueError(f"a row is an object, not {type(data).__name__}")
        state = self._runs.state_of(data)
        items: list[Item] = [] if state.announced else [state.run]
        name = self._cases.name_of(data)
        key = case_key(state.run.suite, name)
        if not state.knows(key):
            case = self._cases.record(state, name, row)
            items += [case] if case else []
        values = self._attempts.values(row)
        values.update(self._numbers.own(state, key, values.get("session"), data))
        unread = self._sessions.join(data, values) if self._sessions else ()
        left = self._left(data)
        if left:
            values.setdefault("extra", {})["columns"] = left
        attempt = Attempt(run=state.run.id, case=key, ref=row.ref, **values)
        # noted last, so that a row which can't be read takes neither the number nor the case of another
        state.note(attempt)
        items.append(attempt)
        items += [replace(item, run=state.run.id) for item in unread]
        return items

    def _left(self, data: dict[str, Any]) -> dict[str, Any]:
        """The columns that the mapping does not name."""
        taken = self._taken
        left = {}
        for name, value in data.items():
            if name not in taken:
                left[name] = bounded(name, value)
            elif (tree := taken[name]) is not None and (kept := rest(value, tree)):
                left[name] = bounded(name, kept)
        return left


class Cases:
    def __init__(self, mapping: CaseMap, columns: Collection[str]) -> None:
        self._name = getter(as_column(mapping.name).column, columns) if mapping.name else None
        self._input = getter(as_column(mapping.input).column, columns) if mapping.input else None
        self._fields = tuple(
            Field(name, getter(as_column(asked).column, columns), convert)
            for name, convert in _CASE.items()
            if (asked := getattr(mapping, name))
        )

    def name_of(self, data: dict[str, Any]) -> str:
        name = self._name(data) if self._name else None
        if not is_empty(name):
            return text(name)
        asked = self._input(data) if self._input else None
        if is_empty(asked):
            raise ValueError("the row names no case")
        return case_key_of_input("", plain(asked))

    def record(self, state: RunState, name: str, row: Row) -> Case | None:
        """None where there is nothing to say but the name."""
        values: dict[str, Any] = {}
        take(self._fields, row.data, values, {})
        return Case(run=state.run.id, suite=state.run.suite, native_id=name, ref=row.ref, **values) if values else None


class Numbers:
    """Which attempt at its case a row is: as the log numbers them, else in the order of the rows."""

    def __init__(self, mapping: Mapping, columns: Collection[str], sample: list[Any]) -> None:
        asked = mapping.attempt.index
        self._get = getter(as_column(asked).column, columns) if asked else None
        # attempts count from 1; a log that counts from 0 shows it in its first rows
        self._shift = int(any(self._native(row) == 0 for row in sample))

    def own(self, state: RunState, case: str, session: int | None, data: dict[str, Any]) -> dict[str, Any]:
        native, free = self._native(data), state.free(case, session)
        if native is None:
            return {"index": free}
        index = max(native + self._shift, 1)
        if not state.is_taken(case, session, index):
            return {"index": index}
        repeated = attempt_id(state.run.id, case, session=session, index=index)
        return {"index": free, "duplicate_of": repeated}

    def _native(self, data: dict[str, Any]) -> int | None:
        try:
            return whole(self._get(data)) if self._get else None
        except ValueError:
            return None
