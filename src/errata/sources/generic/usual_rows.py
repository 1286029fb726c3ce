"""The short way for rows with a name, a verdict and an answer: the same attempt, made without any other question."""

from collections.abc import Collection
from typing import Any

from errata.model import Attempt, Output, SourceRef
from errata.model.attempt import NO_OUTPUT
from errata.model.identity import attempt_id, case_key
from errata.model.words import Outcome
from errata.sources.generic.mapping import AttemptMap, Mapping, as_column, segments
from errata.sources.generic.measures import executions
from errata.sources.generic.packed_rows import ColumnNames, UsualColumns
from errata.sources.generic.places import NOT_RUN, RUN_OBJECT
from errata.sources.generic.runs import MappedRun, Runs

_KNOWN = frozenset(("passed", "output", "answer", "messages"))
_RESULTS: dict[bool, tuple[Outcome, float]] = {True: ("pass", 1.0), False: ("fail", 0.0)}


class UsualRows:
    """For a mapping that asks for nothing else of an attempt but its messages, and a table of one run."""

    def __init__(self, mapping: Mapping, runs: Runs) -> None:
        name, passed, output = mapping.case.name, mapping.attempt.passed, mapping.attempt.output
        assert name and passed
        self._name, self._passed = as_column(name).column, as_column(passed).column
        self._output = as_column(output).column if output else ""
        messages, answer = mapping.attempt.messages, mapping.attempt.answer
        self._answer = as_column(answer).column if answer else ""
        self._messages = as_column(messages).column if messages else ""
        self._state: MappedRun = runs.state_of({})
        self._run = self._state.run
        self._suite = self._run.suite

    def key_of(self, data: dict[str, Any]) -> str | None:
        """The case of a row that can go the short way."""
        if self._messages:
            return None  # the short way is only for whole turns of them
        name = data.get(self._name)
        if type(name) is not str or not name or type(data.get(self._passed)) is not bool:
            return None
        if self._output and type(data.get(self._output)) is not str:
            return None
        if self._answer and (type(answer := data.get(self._answer)) is not str or not answer):
            return None
        if NOT_RUN in data or RUN_OBJECT in data or not self._state.announced:
            return None
        key = case_key(self._suite, name)
        return None if self._state.has_attempt(key) else key

    def attempt(self, data: dict[str, Any], key: str, left: dict[str, Any], ref: SourceRef) -> Attempt:
        outcome, reported = _RESULTS[data[self._passed]]
        run = self._run.id
        return Attempt(
            id=attempt_id(run, key),
            run=run,
            case=key,
            execution="completed",
            measurement="scored",
            outcome=outcome,
            reported=reported,
            output=self._output_of(data),
            extra={"columns": left} if left else {},
            ref=ref,
        )

    def _output_of(self, data: dict[str, Any]) -> Output:
        if not self._output and not self._answer:
            return NO_OUTPUT
        answer = data[self._answer] if self._answer else None
        return Output(text=data[self._output], answer=answer) if self._output else Output(answer=answer)

    def columns(self, file: str) -> UsualColumns | None:
        """For whole turns of such rows; None where they have an answer beside the output."""
        if self._answer:
            return None
        columns = ColumnNames(self._name, self._passed, self._output, self._messages)
        return UsualColumns(self._state, file, columns)

    def note(self, key: str, facts: int, attempt: Attempt) -> None:
        self._state.note_first(key, facts, attempt.reported or 0.0)


def usual_rows(mapping: Mapping, runs: Runs, columns: Collection[str]) -> UsualRows | None:
    """None for a mapping or a table that needs the long way."""
    asked, usual = mapping.attempt, AttemptMap()
    others = (name for name in AttemptMap.__struct_fields__ if name not in _KNOWN)
    is_usual = (
        runs.is_one
        and asked.passed
        and mapping.case.name
        and all(getattr(asked, name) == getattr(usual, name) for name in others)
        and not (mapping.checks or mapping.has_judges or mapping.models or mapping.cases or mapping.attempts)
        and mapping.run.headline is None
        and "" not in executions(mapping.status_words)
    )
    if not is_usual:
        return None
    named = (mapping.case.name, asked.passed, asked.output, asked.answer, asked.messages)
    plain = [as_column(column).column for column in named if column]
    return UsualRows(mapping, runs) if all(name in columns or len(segments(name)) < 2 for name in plain) else None
