"""Whole turns of usual rows, packed at once: what the rows become one by one, column by column."""

from itertools import repeat
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET

from errata.model.attempt_rows import AttemptRows, PackedAttempts, PackedRef, PackedStep, PackedText, pack_each
from errata.model.conduct import conduct_of_talk
from errata.model.identity import case_key, first_attempt_ids
from errata.model.obstacles import PLAIN, conduct_in_steps
from errata.model.words import Outcome
from errata.sources.generic.attempts import LAST_MESSAGE
from errata.sources.generic.places import NOT_RUN, RUN_OBJECT
from errata.sources.generic.runs import MappedRun
from errata.sources.generic.values import CELL_CAP
from errata.sources.line_shares import values_of_lines
from errata.sources.shared.chat import TALKERS, steps_of_chat
from errata.text.line_feeds import has_line_over

_Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_TEXT, _VERDICT, _LIST = {str}, {bool}, {list}
_OURS = frozenset((NOT_RUN, RUN_OBJECT))
_OUTCOMES: dict[bool, Outcome] = {True: "pass", False: "fail"}
_REPORTED = {True: 1.0, False: 0.0}
_encode = msgspec.msgpack.Encoder().encode


class _Unmapped(msgspec.Struct, gc=False):
    columns: dict[str, Any]


class _Message(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    role: str
    content: str


class _LastMessage(msgspec.Struct, gc=False):
    """An `Output` that is the last message."""

    text: str
    extraction: str = LAST_MESSAGE


_decoder = msgspec.json.Decoder(dict[str, str | _Whole | float | bool | None])
_transcript_decoder = msgspec.json.Decoder(dict[str, str | _Whole | float | bool | list[_Message] | None])
_parts = attrgetter("role", "content")


class ColumnNames(NamedTuple):
    name: str
    passed: str
    output: str
    messages: str


class _Transcripts(NamedTuple):
    """Of each row."""

    steps: list[bytes] = []
    conduct: list[Any] = []
    last: list[str | None] = []
    """The last text of the assistant."""


class UsualColumns:
    """For rows with a name, a verdict, an answer or messages, and flat values that the mapping does not name."""

    def __init__(self, state: MappedRun, file: str, columns: ColumnNames) -> None:
        self._state, self._file, self._columns = state, file, columns
        self._prefix = case_key(state.run.suite, "")
        self._decoder = _transcript_decoder if columns.messages else _decoder

    @property
    def names(self) -> set[str]:
        """The columns that the mapping names."""
        return set(self._columns) - {""}

    def pack(self, data: bytes, before: int) -> AttemptRows | None:
        """The attempts of these lines; None where a line is not usual, or a case has an attempt."""
        rows: list[dict[str, Any]] | None = values_of_lines(data, self._decoder)
        if not rows:
            return None
        columns = self._columns
        try:
            # what is left of the rows is what the mapping does not name
            names = [row.pop(columns.name) for row in rows]
            passed = [row.pop(columns.passed) for row in rows]
            texts = [row.pop(columns.output) for row in rows] if columns.output else []
            messages = [row.pop(columns.messages) for row in rows] if columns.messages else []
        except KeyError:
            return None
        if set(map(type, names)) != _TEXT or "" in names or set(map(type, passed)) != _VERDICT:
            return None
        if (texts and set(map(type, texts)) != _TEXT) or not _OURS.isdisjoint(set().union(*rows)):
            return None
        if has_line_over(data, CELL_CAP) and not _are_short(rows):
            return None
        transcripts = _packed_transcripts(messages, rows) if columns.messages else _Transcripts()
        if transcripts is None:
            return None
        cases = [f"{self._prefix}{name}" for name in names]
        marks = self._state.marks_of_new(cases)
        outputs = list(map(PackedText, texts)) if columns.output else _last_messages(transcripts.last)
        made = self._rows(rows, cases, passed, outputs, transcripts, before) if marks else None
        if made is not None:
            self._state.note_firsts(marks, sum(passed))
        return made

    def _rows(
        self,
        rows: list[dict[str, Any]],
        cases: list[str],
        passed: list[bool],
        outputs: list[Any],
        transcripts: _Transcripts,
        before: int,
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
                output=outputs or repeat(UNSET),
                conduct=transcripts.conduct or repeat(UNSET),
            )
        )
        if records is None:
            return None
        return AttemptRows(
            run=run,
            cases=cases,
            outcomes=outcomes,
            failures=[not verdict for verdict in passed],
            records=records,
            steps=transcripts.steps,
        )


def _are_short(rows: list[dict[str, Any]]) -> bool:
    """Whether every value is kept as it is."""
    return all(len(value) <= CELL_CAP for row in rows for value in row.values() if type(value) is str)


def _packed_transcripts(messages: list[Any], rows: list[dict[str, Any]]) -> _Transcripts | None:
    """None where a message is more than a text of a speaker, or another value is a list."""
    if set(map(type, messages)) != _LIST or [] in messages or any(list in map(type, row.values()) for row in rows):
        return None
    made = _Transcripts([], [], [])
    for chat in messages:
        names, texts = zip(*map(_parts, chat), strict=True)
        try:
            actors = [TALKERS[name] for name in names]
        except KeyError:
            return None
        roles = [actor.role for actor in actors]
        made.steps.append(_encode(list(map(PackedStep, range(len(chat)), actors, texts))))
        conduct = conduct_of_talk(roles, texts) if len(chat) > PLAIN else None
        made.conduct.append(conduct or conduct_in_steps(steps_of_chat(msgspec.to_builtins(chat))) or UNSET)
        answers = [text for role, text in zip(roles, texts, strict=True) if role == "assistant"]
        made.last.append(answers[-1] if answers else None)
    return made


def _last_messages(texts: list[str | None]) -> list[Any]:
    return [UNSET if text is None else _LastMessage(text) for text in texts]
