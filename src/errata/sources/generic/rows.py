"""One row of a mapped table → its items: the case where it is new, and the attempt. Compiled once for a file."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from errata.model import Attempt, Case, Item, case_key
from errata.model.case_versions import FACTS
from errata.model.identity import attempt_id, case_key_of_input
from errata.sources.base import Row
from errata.sources.generic.attempts import Attempts, MappedField, take
from errata.sources.generic.mapping import CaseMap, Mapping, as_column, getter, rest, spoken_for
from errata.sources.generic.places import NOT_RUN, RUN_OBJECT
from errata.sources.generic.runs import MappedRun, Runs
from errata.sources.generic.sessions import Sessions
from errata.sources.generic.values import CELL_CAP, NOT_UNDERSTOOD, bounded, is_empty, text, whole, words
from errata.sources.shared.values import plain

_CASE: dict[str, Callable[[Any], Any]] = {
    "category": text,
    "input": plain,
    "expected": plain,
    "tags": words,
    "choices": words,
    "difficulty": text,
}


_HASHABLE = (str, int, float, bool)
_encode = msgspec.json.Encoder(order="deterministic", enc_hook=repr).encode


class RowConverter:
    """Converts each row of a file to its items."""

    def __init__(
        self, mapping: Mapping, runs: Runs, columns: Collection[str], sample: list[Any], folder: Path = Path()
    ) -> None:
        """`folder` contains the file."""
        self._runs = runs
        self._sessions = Sessions(mapping, columns, folder) if mapping.attempt.transcript else None
        self._cases = Cases(mapping.case, columns)
        self._attempts = Attempts(mapping, columns, sample)
        self._numbers = AttemptNumbers(mapping, columns, sample)
        self._session_numbers = SessionNumbers(mapping, columns, sample) if mapping.attempt.session else None
        self._taken = {
            **spoken_for((column for _, column in mapping.columns()), columns),
            NOT_RUN: None,
            RUN_OBJECT: None,
        }

    def __call__(self, row: Row) -> list[Item]:
        data = row.data
        if data is None:
            raise ValueError("there are no rows here")
        if type(data) is not dict:
            raise ValueError(f"expected an object, found {type(data).__name__}")
        state = self._runs.state_of(data)
        items: list[Item] = [] if state.announced else [state.run]
        name = self._cases.name_of(data)
        key = case_key(state.run.suite, name)
        facts = self._cases.facts(data)
        if state.is_news(key, facts):
            case = self._cases.record(state, name, row)
            items += [case] if case else []
        values = self._attempts.values(row)
        if self._session_numbers:
            self._session_numbers.fill(state.run.id, data, values)
        values.update(self._numbers.own(state, key, values.get("session"), data))
        unread = self._sessions.join(data, values) if self._sessions else ()
        left = self._unmapped(data)
        if left:
            values.setdefault("extra", {})["columns"] = left
        attempt = Attempt(run=state.run.id, case=key, ref=row.ref, **values)
        # noted last, so that an unreadable row uses up neither a number nor a case
        self._runs.note(state, data, attempt, facts)
        items.append(attempt)
        items += [replace(item, run=state.run.id) for item in unread]
        return items

    def _unmapped(self, data: dict[str, Any]) -> dict[str, Any]:
        """The columns that the mapping does not name."""
        taken = self._taken
        left = {}
        for name, value in data.items():
            if name not in taken:
                is_short = type(value) is str and len(value) <= CELL_CAP
                left[name] = value if is_short else bounded(name, value)
            elif (tree := taken[name]) is not None and (kept := rest(value, tree)):
                left[name] = bounded(name, kept)
        return left


class Cases:
    def __init__(self, mapping: CaseMap, columns: Collection[str]) -> None:
        self._name = getter(as_column(mapping.name).column, columns) if mapping.name else None
        self._input = getter(as_column(mapping.input).column, columns) if mapping.input else None
        self._fields = tuple(
            MappedField(name, getter(as_column(asked).column, columns), convert)
            for name, convert in _CASE.items()
            if (asked := getattr(mapping, name))
        )
        self._facts = tuple(field.get for field in self._fields if field.name in FACTS)

    def facts(self, data: dict[str, Any]) -> int:
        """A hash of what the row asks and expects."""
        return hash(tuple([_fact(get(data)) for get in self._facts])) if self._facts else 0

    def name_of(self, data: dict[str, Any]) -> str:
        name = self._name(data) if self._name else None
        if not is_empty(name):
            return text(name)
        asked = self._input(data) if self._input else None
        if is_empty(asked):
            raise ValueError("the row has no case name and no input")
        return case_key_of_input("", plain(asked))

    def record(self, state: MappedRun, name: str, row: Row) -> Case | None:
        """None if the table has only names of cases."""
        values: dict[str, Any] = {}
        take(self._fields, row.data, values, {})
        if not values and not self._facts:
            return None
        return Case(run=state.run.id, suite=state.run.suite, native_id=name, ref=row.ref, **values)


def _fact(value: Any) -> Any:
    """A value that equals itself and can be hashed."""
    if value is None or value == "" or value != value:
        return None
    return value if type(value) in _HASHABLE else _encode(value)


class SessionNumbers:
    """The session of a row. If the first rows have names in place of numbers, names are numbered as they appear."""

    def __init__(self, mapping: Mapping, columns: Collection[str], sample: list[Any]) -> None:
        asked = mapping.attempt.session
        self._get = getter(as_column(asked).column, columns) if asked else lambda _: None
        values = (self._get(row) for row in sample)
        self._has_names = any(not is_empty(value) and _whole_or_none(value) is None for value in values)
        self._numbers: dict[str, dict[str, int]] = {}
        """Run → name → number."""

    def fill(self, run: str, data: dict[str, Any], values: dict[str, Any]) -> None:
        value = self._get(data)
        if is_empty(value):
            return
        if self._has_names:
            known = self._numbers.setdefault(run, {})
            values["session"] = known.setdefault(text(value), len(known) + 1)
            values.setdefault("extra", {})["session_name"] = text(value)
        elif (number := _whole_or_none(value)) is not None:
            values["session"] = number
        else:
            extra = values.setdefault("extra", {})
            extra.setdefault("not_understood", {})["session"] = plain(value)


class AttemptNumbers:
    """The attempt number of a row: from the log, else by the order of the rows."""

    def __init__(self, mapping: Mapping, columns: Collection[str], sample: list[Any]) -> None:
        asked = mapping.attempt.index
        self._get = getter(as_column(asked).column, columns) if asked else None
        # attempts count from 1; a log that counts from 0 has a 0 in its first rows
        self._shift = int(any(self._native(row) == 0 for row in sample))

    def own(self, state: MappedRun, case: str, session: int | None, data: dict[str, Any]) -> dict[str, Any]:
        native, free = self._native(data), state.free(case, session)
        if native is None:
            return {"index": free}
        index = max(native + self._shift, 1)
        if not state.is_taken(case, session, index):
            return {"index": index}
        repeated = attempt_id(state.run.id, case, session=session, index=index)
        return {"index": free, "duplicate_of": repeated}

    def _native(self, data: dict[str, Any]) -> int | None:
        return _whole_or_none(self._get(data)) if self._get else None


def _whole_or_none(value: Any) -> int | None:
    try:
        return whole(value)
    except NOT_UNDERSTOOD:
        return None
