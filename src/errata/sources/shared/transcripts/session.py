"""What reading a session of either agent shares: its lines, its times, how it ended, and the transcript it leaves."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from errata.model import ErrorInfo, Limit, SourceRef, Step, Unreadable, Usage
from errata.model.words import Execution
from errata.sources.base import Row
from errata.sources.shared.steps import Talk
from errata.sources.shared.values import known, moment


class Transcript(NamedTuple):
    """What the session of a coding agent leaves, whichever agent it was. It holds no verdict."""

    agent: str
    session: str = ""
    version: str = ""
    model: str = ""
    execution: Execution = "completed"
    steps: tuple[Step, ...] = ()
    answer: str | None = None
    """What the agent said last."""
    stop_reason: str = ""
    errors: tuple[ErrorInfo, ...] = ()
    limit: Limit | None = None
    usage: Usage = Usage()
    started_at: str | None = None
    finished_at: str | None = None
    extra: dict[str, Any] = {}
    unreadable: tuple[Unreadable, ...] = ()


class Session(ABC):
    """Takes one line after the other; only what came last tells how it ended."""

    def __init__(self) -> None:
        self._talk = Talk()
        self._times: list[str] = []
        self._other: Counter[str] = Counter()
        self._failed: ErrorInfo | None = None
        self._cancelled = False
        self._unreadable: list[Unreadable] = []

    def read(self, rows: Iterable[Row | Unreadable], *, agent: str = "") -> None:
        """`agent` is the subagent whose lines these are."""
        for row in rows:
            if isinstance(row, Unreadable):
                self._unreadable.append(row)
            elif isinstance(row.data, dict):
                self._line(row.data, row.ref, agent)

    @abstractmethod
    def _line(self, line: dict[str, Any], ref: SourceRef, agent: str) -> None: ...

    def _moment(self, line: dict[str, Any]) -> str | None:
        """Of the line; the first and the last are those of the session."""
        at = moment(line.get("timestamp"))
        if at is not None:
            self._times.append(at)
            del self._times[1:-1]
        return at

    def _transcript(self, *, extra: dict[str, Any], **own: Any) -> Transcript:
        steps = self._talk.steps
        told: dict[str, Any] = {
            "execution": self._execution(steps),
            "steps": steps,
            "answer": _last_answer(steps),
            "errors": (self._failed,) if self._failed else (),
            "started_at": self._times[0] if self._times else None,
            "finished_at": self._times[-1] if self._times else None,
            "extra": extra | known(other_lines=dict(self._other), steps_left_out=self._talk.left_out or None),
            "unreadable": tuple(self._unreadable),
        }
        return Transcript(**told | own)

    def _execution(self, steps: tuple[Step, ...]) -> Execution:
        if self._failed is not None:
            return "error"
        if self._cancelled:
            return "cancelled"
        return "unfinished" if _is_waiting(steps) or not steps else "completed"


def _last_answer(steps: tuple[Step, ...]) -> str | None:
    """Of the agent itself: what a subagent says is part of a call."""
    own = (step.text for step in reversed(steps) if step.actor.role == "assistant" and step.parent is None)
    return next((text for text in own if text), None)


def _is_waiting(steps: tuple[Step, ...]) -> bool:
    """Whether the last thing that happened is a call without a result."""
    own = [step for step in steps if step.parent is None]
    last = own[-1].tool_calls if own else ()
    return any(call.result is None and call.error is None for call in last)
