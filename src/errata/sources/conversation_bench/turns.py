"""One row of a conversation → one attempt. This is a hot path: values that rows share are made once."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from errata.model import Attempt, Check, ErrorInfo, Judgement, Output, Run, Scorer, SourceRef
from errata.model.identity import attempt_id, case_key
from errata.model.times import from_iso
from errata.model.words import ErrorText, Execution, Measurement
from errata.sources.base import Row
from errata.sources.conversation_bench.layout import count
from errata.sources.conversation_bench.run_log import recovered
from errata.sources.conversation_bench.scores import NOT_JUDGED, TurnScores, score_turn
from errata.sources.conversation_bench.steps import MEASURED, durations_of, steps_of, usage_of
from errata.sources.shared import values
from errata.sources.shared.values import plain, sequence

LARGEST_TURN = 2**31 - 1
PAGE = 1 << 16
_FULL = b"\xff" * (PAGE // 8)
ENDED = "[MODEL_ENDED_SESSION]"
ENDED_EARLIER = "[MODEL_ENDED_SESSION_EARLY]"
EMPTY = "[EMPTY_RESPONSE"
_TYPED = {
    "user_text": str,
    "assistant_text": str,
    "tool_calls": list,
    "tool_results": list,
    "tokens": dict,
    "scores": dict,
    "judge_reasoning": str,
}
_NAMED = frozenset(("ts", "turn", "model_name", "ttfb_ms", "latency_ms", *_TYPED))
_JUDGED = frozenset(("scores", "judge_reasoning"))
_NO_MARKER: tuple[str, Execution] = ("", "completed")
_MARKERS: dict[str, tuple[str, Execution]] = {
    ENDED: ("MODEL_ENDED_SESSION", "completed"),
    ENDED_EARLIER: ("MODEL_ENDED_SESSION_EARLY", "cancelled"),
    EMPTY: ("EMPTY_RESPONSE", "error"),
}


class TurnSet:
    """A set of turn numbers that takes a bit for each, in pages."""

    def __init__(self) -> None:
        self._pages: dict[int, bytearray] = {}

    def __contains__(self, turn: int) -> bool:
        page = self._pages.get(turn >> 16)
        return page is not None and bool(page[turn >> 3 & 0x1FFF] >> (turn & 7) & 1)

    def add(self, turn: int) -> None:
        page = self._pages.get(turn >> 16)
        if page is None:
            page = self._pages[turn >> 16] = bytearray(PAGE // 8)
        page[turn >> 3 & 0x1FFF] |= 1 << (turn & 7)

    def absent_below(self, end: int) -> Iterator[int]:
        """The turns from 0 to the end that are not in the set; turns in a page that begins full are not looked up."""
        for start in range(0, end, PAGE):
            stop = min(start + PAGE, end)
            size = (stop - start) // 8
            page = self._pages.get(start >> 16, bytearray())
            first = start + 8 * size if page[:size] == _FULL[:size] else start
            yield from (turn for turn in range(first, stop) if turn not in self)


class SecondOpinion(msgspec.Struct, frozen=True):
    """A second judge, kept beside the deciding one."""

    judge: Scorer
    row: Callable[[int, int], Row | None]
    """By turn and index."""


class Turns:
    """Makes the attempts of one conversation; rows may come in any order."""

    def __init__(
        self,
        run: Run,
        *,
        judge: Scorer | None = None,
        second: SecondOpinion | None = None,
        endings: list[int],
        log_errors: dict[int, tuple[ErrorInfo, ...]],
        log_lines: dict[int, tuple[ErrorInfo, ...]],
    ) -> None:
        self._run = run.id
        self._model = run.subject.model
        self._case = case_key(run.suite, "turn-")
        self._judge = judge
        self._second = second
        self._endings = endings
        self._log_errors = log_errors
        self._log_lines = log_lines
        self.seen = TurnSet()
        self._repeated: dict[int, int] = {}
        self.started_at: str | None = None
        self.finished_at: str | None = None

    def judged(self, row: Row) -> Attempt:
        assert self._judge is not None
        scores = score_turn(row.data.get("scores"), self._judge.name)
        return self._attempt(row, scores, scores.measurement, _judgements(row.data, self._judge))

    def without_judge(self, row: Row) -> Attempt:
        return self._attempt(row, NOT_JUDGED, "not_run", ())

    def skipped_by_judge(self, row: Row) -> Attempt:
        """A turn that the judge of the others has no row for."""
        attempt = self._attempt(row, NOT_JUDGED, "unscored", ())
        return msgspec.structs.replace(attempt, extra=attempt.extra | {"judged": False})

    def missing(self, turn: int, errors: tuple[ErrorInfo, ...], plan: SourceRef | None) -> Attempt:
        """A planned turn without a row."""
        return Attempt(
            run=self._run,
            case=f"{self._case}{turn}",
            position=turn,
            execution="missing",
            measurement="not_run",
            outcome="none",
            errors=errors,
            ref=errors[0].ref if errors else plan,
        )

    def _attempt(
        self, row: Row, scores: TurnScores, measurement: Measurement, judgements: tuple[Judgement, ...]
    ) -> Attempt:
        data = row.data
        turn = turn_of(data)
        text = data.get("assistant_text")
        marker, execution = _MARKERS.get(marker_of(text), _NO_MARKER)
        case = f"{self._case}{turn}"
        index = self._index(turn)
        started_at = self._time(data.get("ts"))
        durations = durations_of(data)
        checks = scores.checks
        if "turn_taking_issues" in data:
            checks = _with_issues(checks, data["turn_taking_issues"])
        if self._second is not None:
            checks, judgements = self._with_second(self._second.row(turn, index), data, checks, judgements)
        return Attempt(
            run=self._run,
            case=case,
            index=index,
            position=turn,
            duplicate_of=attempt_id(self._run, case) if index > 1 else None,
            follows=self._ending_before(turn) if execution == "cancelled" else None,
            execution=execution,
            measurement=measurement,
            outcome=scores.outcome if execution == "completed" else "none",
            native_status=marker,
            reported=scores.reported,
            reported_counted=None if scores is NOT_JUDGED else True,
            output=Output(text=text if type(text) is str else None),
            stop_reason="end_session" if marker == "MODEL_ENDED_SESSION" else "",
            errors=self._errors(turn, text, execution),
            checks=checks,
            judgements=judgements,
            steps=steps_of(data),
            usage=usage_of(data.get("tokens")),
            started_at=started_at,
            durations=durations,
            extra=self._extra(data, started_at, durations),
            ref=row.ref,
        )

    def _with_second(
        self, row: Row | None, data: dict[str, Any], checks: tuple[Check, ...], judgements: tuple[Judgement, ...]
    ) -> tuple[tuple[Check, ...], tuple[Judgement, ...]]:
        assert self._second is not None
        if row is None:
            return checks, judgements
        also = score_turn(row.data.get("scores"), self._second.judge.name, counts=False).checks
        if "turn_taking_issues" in row.data:
            also = _with_issues(also, row.data["turn_taking_issues"])
        verdicts = _judgements(row.data, self._second.judge)
        saw = {key: plain(row.data[key]) for key in row.data if key not in _JUDGED and row.data[key] != data.get(key)}
        return checks + also, judgements + tuple(
            msgspec.structs.replace(verdict, extra=saw, ref=row.ref) for verdict in verdicts
        )

    def times_read(self, turn: int) -> int:
        """How many rows of a turn were read so far."""
        return self._repeated.get(turn, 1 if turn in self.seen else 0)

    def _index(self, turn: int) -> int:
        if turn not in self.seen:
            self.seen.add(turn)
            return 1
        self._repeated[turn] = self._repeated.get(turn, 1) + 1
        return self._repeated[turn]

    def _ending_before(self, turn: int) -> str | None:
        place = bisect_left(self._endings, turn)
        return attempt_id(self._run, f"{self._case}{self._endings[place - 1]}") if place else None

    def _errors(self, turn: int, text: Any, execution: Execution) -> tuple[ErrorInfo, ...]:
        logged = self._log_errors.get(turn, ())
        if execution == "error":
            return (*_empty_response(text, logged), *self._log_lines.get(turn, ()))
        return recovered(logged) if logged else ()

    def _time(self, ts: Any) -> str | None:
        moment = time_or_none(ts)
        if moment is not None and moment.endswith("Z"):
            if self.started_at is None or moment < self.started_at:
                self.started_at = moment
            if self.finished_at is None or moment > self.finished_at:
                self.finished_at = moment
        return moment

    def _extra(self, data: dict[str, Any], started_at: str | None, durations: dict[str, float]) -> dict[str, Any]:
        """Unknown fields, and values that did not fit their field."""
        odd = [key for key in data if key not in _NAMED]
        odd += [key for key, kind in _TYPED.items() if type(data.get(key)) is not kind]
        odd += [key for key in ("tool_calls", "tool_results") if not _are_records(data.get(key))]
        odd += [key for name, key in MEASURED if name not in durations]
        if data.get("model_name") != self._model:
            odd.append("model_name")
        if started_at is None:
            odd.append("ts")
        return {key: plain(data[key]) for key in odd if data.get(key) is not None}


def turn_of(row: Any) -> int:
    """A row's turn number; `ValueError` if it has none."""
    turn = row["turn"]
    if type(turn) is not int:
        number = count(turn) if type(turn) is not bool else None
        if number is None:
            raise ValueError(f"`turn` is not a number: {turn!r:.50}")
        turn = number
    if not 0 <= turn <= LARGEST_TURN:
        raise ValueError("`turn` is out of range")
    return turn


def marker_of(text: Any) -> str:
    if type(text) is not str or not text.startswith("["):
        return ""
    return next((marker for marker in _MARKERS if text.startswith(marker)), "")


def time_or_none(ts: Any) -> str | None:
    if type(ts) is not str:
        return None
    try:
        return from_iso(ts)
    except (ValueError, OverflowError):
        return None


def _judgements(data: dict[str, Any], judge: Scorer) -> tuple[Judgement, ...]:
    return (
        Judgement(
            judge=judge.name,
            model=judge.model,
            version=judge.version,
            reasoning=values.text(data.get("judge_reasoning")),
        ),
    )


def _are_records(value: Any) -> bool:
    return all(type(item) is dict for item in sequence(value))


def _with_issues(checks: tuple[Check, ...], issues: Any) -> tuple[Check, ...]:
    explanation = "; ".join(issue for issue in sequence(issues) if type(issue) is str)
    return tuple(
        msgspec.structs.replace(check, explanation=explanation)
        if check.name == "turn_taking" and explanation
        else check
        for check in checks
    )


def _empty_response(text: str, logged: tuple[ErrorInfo, ...]) -> tuple[ErrorInfo, ...]:
    """The message is that of the row; what the log has about it stays as it is, with its own place."""
    message = text.removeprefix(EMPTY).lstrip(": ").rstrip().removesuffix("]")
    derived: tuple[ErrorText, ...] = () if message else ("message",)
    at = next((error.at for error in logged if error.type == "EMPTY_RESPONSE"), None)
    message = message or "empty response"
    return (ErrorInfo(type="EMPTY_RESPONSE", message=message, derived=derived, phase="subject", at=at), *logged)
