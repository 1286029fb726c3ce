"""Whole stretches of usual turns, packed at once: what `Turns` makes of each row, column by column."""

from collections import deque
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import repeat
from operator import attrgetter, truediv
from typing import Any

import msgspec
from msgspec import UNSET, Raw
from msgspec.structs import astuple

from errata.model import Actor, Check
from errata.model.attempt_rows import AttemptRows, PackedAttempts, PackedRef, PackedStep, PackedText, pack_each
from errata.model.conduct import LOOKED_AT, conduct_of_call
from errata.model.identity import first_attempt_ids
from errata.model.obstacles import conduct_in_steps
from errata.sources.conversation_bench.scores import TurnScores, score_plain_turn
from errata.sources.conversation_bench.steps import Tokens, UsualRow, usual_steps, usual_usage
from errata.sources.conversation_bench.turns import Turns
from errata.sources.line_shares import values_of_lines


class _Row(UsualRow):
    scores: Raw  # type: ignore[assignment]


_decoder = msgspec.json.Decoder(_Row)
_scores_decoder = msgspec.json.Decoder(dict[str, bool | None])
_encode = msgspec.msgpack.Encoder().encode
_USER, _ASSISTANT = Actor(role="user"), Actor(role="assistant")
_columns = attrgetter(*UsualRow.__struct_fields__)  # of `_Row`, they have another order
_NO_TOKENS = Tokens()


class _PackedJudgement(msgspec.Struct, omit_defaults=True, gc=False):
    """The fields of a `Judgement` that a row sets, in their order."""

    judge: str
    model: str = ""
    version: str = ""
    reasoning: str = ""


class _PackedUsage(msgspec.Struct, omit_defaults=True, gc=False):
    input: int | None = None
    output: int | None = None
    total: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None


class _PackedUsageByRole(msgspec.Struct, gc=False):
    subject: _PackedUsage


class _PackedDurations(msgspec.Struct, gc=False):
    ttfb: Any
    latency: Any


class _PackedExtra(msgspec.Struct, gc=False):
    reconnection_count: int


class PackedTurns(Turns):
    """For one file with one judge, which several readers share."""

    file = ""
    """As in a `SourceRef`."""

    def pack(self, data: bytes, before: int) -> AttemptRows | None:
        """The attempts of these lines; None where a line is not usual, or a turn has an attempt."""
        rows = values_of_lines(data, _decoder)
        judge = self._judge
        if not rows or judge is None:
            return None
        count = len(rows)
        (
            times, turns, models, questions, answers, calls, results, verdicts, reasons, tokens, ttfb, latency,
            reconnections,
        ) = zip(*map(_columns, rows), strict=True)  # fmt: skip
        if not self._are_usual(turns, models, answers) or (started := self._times(times)) is None:
            return None
        packed, scores = _packed_steps(rows, questions, answers, calls, results), _scores(verdicts, judge.name)
        if packed is None or scores is None:
            return None
        steps, conduct = packed
        checks, measurements, outcomes, reported = zip(*scores, strict=True)
        cases = [f"{self._case}{turn}" for turn in turns]
        reasoning = map(_PackedJudgement, repeat(judge.name), repeat(judge.model), repeat(judge.version), reasons)
        records = pack_each(
            PackedAttempts(
                extra=[UNSET if value is None else _PackedExtra(value) for value in reconnections],
                ref=map(PackedRef, repeat(self.file), range(before + 1, before + count + 1)),
                id=first_attempt_ids(self._run, cases),
                run=repeat(self._run),
                case=cases,
                position=turns,
                execution=repeat("completed"),
                measurement=measurements,
                outcome=outcomes,
                reported=_unless_none(reported),
                reported_counted=repeat(True),
                output=map(PackedText, answers),
                checks=_packed_checks(checks),
                judgements=zip(reasoning),
                conduct=conduct,
                usage=_packed_usages(tokens),
                started_at=started,
                durations=_packed_durations(ttfb, latency),
            )
        )
        if records is None:
            return None
        self.seen.update(turns)
        return AttemptRows(
            run=self._run,
            cases=cases,
            measurements=list(measurements),
            outcomes=list(outcomes),
            failures=[outcome != "pass" for outcome in outcomes],
            positions=list(turns),
            tokens=_totals(tokens),
            checks=list(checks),
            records=records,
            steps=steps,
        )

    def _are_usual(self, turns: tuple[int, ...], models: tuple[str, ...], answers: tuple[str, ...]) -> bool:
        return (
            len(set(turns)) == len(turns)
            and set(models) == {self._model}
            and self._log_errors.keys().isdisjoint(turns)
            and self.seen.isdisjoint(turns)
            and not any(map(str.startswith, answers, repeat("[")))
        )

    def _times(self, texts: tuple[str, ...]) -> Sequence[str] | None:
        """When each began; None where a text is not a time."""
        if not all(map(str.endswith, texts, repeat("Z"))):
            times = [self._time(text) for text in texts]
            return None if None in times else [time for time in times if time is not None]
        try:
            deque(map(datetime.fromisoformat, texts), maxlen=0)
        except ValueError:
            return None
        # a time in UTC stays as it is
        self._note_times(min(texts), max(texts))
        return texts


def _packed_steps(
    rows: list[_Row],
    questions: tuple[str, ...],
    answers: tuple[str, ...],
    calls: tuple[list[Any], ...],
    results: tuple[list[Any], ...],
) -> tuple[list[bytes], list[Any]] | None:
    """The steps of each, and the conduct that they show; None where results do not follow their calls."""
    user = map(PackedStep, repeat(0), repeat(_USER), questions)
    assistant = map(PackedStep, repeat(1), repeat(_ASSISTANT), answers)
    steps = list(map(_encode, zip(user, assistant, strict=True)))
    conduct: list[Any] = [UNSET] * len(rows)
    for at, (question, answer) in enumerate(zip(questions, answers, strict=True)):
        if calls[at] or results[at] or not (question and answer) or not _is_plain(answer):
            made = usual_steps(rows[at])
            if made is None:
                return None
            steps[at] = _encode(made)
            # an answer with one call
            usual = conduct_of_call(answer, made[1].tool_calls[0]) if len(calls[at]) == 1 else None
            conduct[at] = usual or conduct_in_steps(made) or UNSET
    return steps, conduct


def _is_plain(answer: str) -> bool:
    return "<" not in answer and "{" not in answer and "[" not in answer and len(answer) <= LOOKED_AT


def _scores(verdicts: Iterable[Raw], judge: str) -> list[TurnScores] | None:
    try:
        return list(map(_score, map(bytes, verdicts), repeat(judge)))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


@lru_cache(maxsize=4096)
def _score(verdict: bytes, judge: str) -> TurnScores:
    """Most rows have equal scores, written in the same way."""
    return score_plain_turn(_scores_decoder.decode(verdict), judge)


def _packed_checks(checks: Sequence[tuple[Check, ...]]) -> list[Any]:
    """Rows with equal scores share their checks, which are packed once."""
    marks = list(map(id, checks))
    known = dict(zip(marks, checks, strict=True))
    packed = {mark: Raw(_encode(shared)) if shared else UNSET for mark, shared in known.items()}
    return [packed[mark] for mark in marks]


def _packed_usages(tokens: Sequence[Tokens | None]) -> Iterable[Any]:
    given = [each for each in tokens if each is not None and each != _NO_TOKENS]
    usages = map(_PackedUsageByRole, map(_PackedUsage, *zip(*map(astuple, given), strict=True))) if given else iter(())
    if len(given) == len(tokens):
        return usages
    return [UNSET if each is None or each == _NO_TOKENS else next(usages) for each in tokens]


def _totals(tokens: Sequence[Tokens | None]) -> list[int | None]:
    """Most rows have a total."""
    totals = [None if each is None else each.total_tokens for each in tokens]
    if None not in totals:
        return totals
    return [
        usual_usage(each).subject.tokens if total is None else total for each, total in zip(tokens, totals, strict=True)
    ]


def _packed_durations(ttfb: Sequence[int | None], latency: Sequence[int | None]) -> Iterable[Any]:
    if None not in ttfb and None not in latency:
        return map(_PackedDurations, map(truediv, ttfb, repeat(1000)), map(truediv, latency, repeat(1000)))
    pairs = zip(_in_seconds(ttfb), _in_seconds(latency), strict=True)
    return [UNSET if pair == (UNSET, UNSET) else _PackedDurations(*pair) for pair in pairs]


def _in_seconds(values: Iterable[int | None]) -> list[Any]:
    return [UNSET if value is None else value / 1000 for value in values]


def _unless_none(values: Iterable[Any]) -> list[Any]:
    return [UNSET if value is None else value for value in values]
