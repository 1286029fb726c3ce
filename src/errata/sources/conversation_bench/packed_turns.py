"""Whole stretches of usual turns, packed at once: what `Turns` makes of each row, without a record for each."""

from itertools import repeat
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from errata.model import Actor, Check, Step
from errata.model.attempt_rows import AttemptRows, PackedAttempts, PackedRef, PackedText, pack_each
from errata.model.codec import pack
from errata.model.conduct import LOOKED_AT
from errata.model.identity import first_attempt_ids
from errata.model.obstacles import conduct_in_steps
from errata.sources.conversation_bench.scores import TurnScores, score_plain_turn
from errata.sources.conversation_bench.steps import Tokens, UsualRow, usual_steps, usual_usage
from errata.sources.conversation_bench.turns import Turns
from errata.sources.line_shares import values_of_lines

_decoder = msgspec.json.Decoder(UsualRow)
_encode = msgspec.msgpack.Encoder().encode
_TWO = b"\x92"
_ONE_LETTER = len(_encode("x"))


def _before_text(index: int, actor: Actor) -> bytes:
    """How a step with a text is packed, up to the text."""
    return pack(Step(index=index, actor=actor, text="x"))[:-_ONE_LETTER]


_USER = _before_text(0, Actor(role="user"))
_ASSISTANT = _before_text(1, Actor(role="assistant"))


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


class PackedTurns(Turns):
    """For one file with one judge, which several readers share."""

    file = ""
    """As in a `SourceRef`."""

    def pack(self, data: bytes, before: int) -> AttemptRows | None:
        """The attempts of these lines; None where a line is not usual, or a turn has an attempt."""
        rows = values_of_lines(data, _decoder)
        judge = self._judge
        if not rows or judge is None or not self._are_usual(rows):
            return None
        packed = [_steps_and_conduct(row) for row in rows]
        times = [self._time(row.ts) for row in rows]
        if None in packed or None in times:
            return None
        scores = [score_plain_turn(row.scores, judge.name) for row in rows]
        turns = [row.turn for row in rows]
        cases = [f"{self._case}{turn}" for turn in turns]
        fields = PackedAttempts(
            extra=[UNSET if row.reconnection_count is None else _reconnections(row) for row in rows],
            ref=map(PackedRef, repeat(self.file), range(before + 1, before + len(rows) + 1)),
            id=first_attempt_ids(self._run, cases),
            run=repeat(self._run, len(rows)),
            case=cases,
            position=turns,
            execution=repeat("completed"),
            measurement=[score.measurement for score in scores],
            outcome=[score.outcome for score in scores],
            reported=[UNSET if score.reported is None else score.reported for score in scores],
            reported_counted=repeat(True),
            output=[PackedText(row.assistant_text) for row in rows],
            checks=_packed_checks(scores),
            judgements=[
                (_PackedJudgement(judge.name, judge.model, judge.version, row.judge_reasoning),) for row in rows
            ],
            conduct=[UNSET if each is None or each[1] is None else each[1] for each in packed],
            usage=[_packed_usage(row.tokens) for row in rows],
            started_at=[moment or UNSET for moment in times],
            durations=[_durations(row) or UNSET for row in rows],
        )
        records = pack_each(fields)
        if records is None:
            return None
        for turn in turns:
            self.seen.add(turn)
        return AttemptRows(
            run=self._run,
            cases=cases,
            measurements=[score.measurement for score in scores],
            outcomes=[score.outcome for score in scores],
            failures=[score.outcome != "pass" for score in scores],
            positions=turns,
            tokens=[_tokens(row.tokens) for row in rows],
            checks=[score.checks for score in scores],
            records=records,
            steps=[each[0] for each in packed if each is not None],
        )

    def _are_usual(self, rows: list[UsualRow]) -> bool:
        turns = {row.turn for row in rows}
        return (
            len(turns) == len(rows)
            and {row.model_name for row in rows} == {self._model}
            and self._log_errors.keys().isdisjoint(turns)
            and not any(turn in self.seen for turn in turns)
            and not any(row.assistant_text.startswith("[") for row in rows)
        )


def _steps_and_conduct(row: UsualRow) -> tuple[bytes, Any] | None:
    """None where the results do not follow the calls."""
    text = row.assistant_text
    is_plain = not row.tool_calls and not row.tool_results and row.user_text and text and len(text) <= LOOKED_AT
    if is_plain and "<" not in text and "{" not in text and "[" not in text:
        return b"".join((_TWO, _USER, _encode(row.user_text), _ASSISTANT, _encode(text))), None
    steps = usual_steps(row)
    return None if steps is None else (_encode(steps), conduct_in_steps(steps))


def _packed_checks(scores: list[TurnScores]) -> list[Any]:
    """Rows with equal scores share their checks, which are packed once."""
    known: dict[int, Any] = {}
    packed = []
    for score in scores:
        mark = id(score.checks)
        if mark not in known:
            known[mark] = _raw(score.checks)
        packed.append(known[mark])
    return packed


def _raw(checks: tuple[Check, ...]) -> Any:
    return Raw(_encode(checks)) if checks else UNSET


def _packed_usage(tokens: Tokens | None) -> Any:
    if tokens is None or tokens == _NO_TOKENS:
        return UNSET
    return _PackedUsageByRole(
        _PackedUsage(
            tokens.prompt_tokens,
            tokens.completion_tokens,
            tokens.total_tokens,
            tokens.cache_read_input_tokens,
            tokens.cache_creation_input_tokens,
        )
    )


_NO_TOKENS = Tokens()


def _tokens(tokens: Tokens | None) -> int | None:
    """Most rows have a total."""
    if tokens is not None and tokens.total_tokens is not None:
        return tokens.total_tokens
    return usual_usage(tokens).subject.tokens


def _reconnections(row: UsualRow) -> dict[str, int | None]:
    return {"reconnection_count": row.reconnection_count}


def _durations(row: UsualRow) -> dict[str, float]:
    durations = {}
    if row.ttfb_ms is not None:
        durations["ttfb"] = row.ttfb_ms / 1000
    if row.latency_ms is not None:
        durations["latency"] = row.latency_ms / 1000
    return durations
