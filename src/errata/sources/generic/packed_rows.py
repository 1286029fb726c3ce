"""Whole turns of usual rows, packed at once: what `UsualRows` makes of each row, column by column."""

from itertools import repeat
from typing import Annotated, Any

import msgspec
from msgspec import UNSET

from errata.model.attempt_rows import AttemptRows, PackedAttempts, PackedRef, PackedText, pack_each
from errata.model.identity import case_key, first_attempt_ids
from errata.model.words import Outcome
from errata.sources.generic.places import NOT_RUN, RUN_OBJECT
from errata.sources.generic.runs import MappedRun
from errata.sources.generic.values import CELL_CAP
from errata.sources.line_shares import values_of_lines

_Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_decoder = msgspec.json.Decoder(dict[str, str | _Whole | float | bool | None])
_TEXT, _VERDICT = {str}, {bool}
_OURS = frozenset((NOT_RUN, RUN_OBJECT))
_OUTCOMES: dict[bool, Outcome] = {True: "pass", False: "fail"}
_REPORTED = {True: 1.0, False: 0.0}


class _Unmapped(msgspec.Struct, gc=False):
    columns: dict[str, Any]


class UsualColumns:
    """For rows with a name, a verdict, an answer, and flat values that the mapping does not name."""

    def __init__(self, state: MappedRun, file: str, *, name: str, passed: str, output: str) -> None:
        self._state, self._file = state, file
        self._name, self._passed, self._output = name, passed, output
        self._prefix = case_key(state.run.suite, "")

    @property
    def names(self) -> set[str]:
        """The columns that the mapping names."""
        return {self._name, self._passed, self._output} - {""}

    def pack(self, data: bytes, before: int) -> AttemptRows | None:
        """The attempts of these lines; None where a line is not usual, or a case has an attempt."""
        rows: list[dict[str, Any]] | None = values_of_lines(data, _decoder)
        if not rows or max(map(len, data.splitlines())) > CELL_CAP:
            return None
        try:
            # what is left of the rows is what the mapping does not name
            names = [row.pop(self._name) for row in rows]
            passed = [row.pop(self._passed) for row in rows]
            texts = [row.pop(self._output) for row in rows] if self._output else []
        except KeyError:
            return None
        if set(map(type, names)) != _TEXT or "" in names or set(map(type, passed)) != _VERDICT:
            return None
        if (texts and set(map(type, texts)) != _TEXT) or not _OURS.isdisjoint(set().union(*rows)):
            return None
        cases = [f"{self._prefix}{name}" for name in names]
        marks = self._state.marks_of_new(cases)
        made = self._rows(rows, cases, passed, texts, before) if marks else None
        if made is not None:
            self._state.note_firsts(marks, sum(passed))
        return made

    def _rows(
        self, rows: list[dict[str, Any]], cases: list[str], passed: list[bool], texts: list[str], before: int
    ) -> AttemptRows | None:
        run = self._state.run.id
        outcomes = [_OUTCOMES[verdict] for verdict in passed]
        count = len(rows)
        records = pack_each(
            PackedAttempts(
                extra=[_Unmapped(row) if row else UNSET for row in rows],
                ref=map(PackedRef, repeat(self._file), range(before + 1, before + count + 1)),
                id=first_attempt_ids(run, cases),
                run=repeat(run, count),
                case=cases,
                execution=repeat("completed"),
                measurement=repeat("scored"),
                outcome=outcomes,
                reported=[_REPORTED[verdict] for verdict in passed],
                output=map(PackedText, texts) if texts else repeat(UNSET),
            )
        )
        if records is None:
            return None
        return AttemptRows(
            run=run, cases=cases, outcomes=outcomes, failures=[not verdict for verdict in passed], records=records
        )
