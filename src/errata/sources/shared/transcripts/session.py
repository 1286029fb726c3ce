"""What the sessions of both agents share: their lines, times, how they ended, and the resulting transcript."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from errata.model import ErrorInfo, Limit, SourceRef, Step, Unreadable, Usage
from errata.model.words import Execution
from errata.sources.base import Row
from errata.sources.shared.steps import TranscriptBuilder
from errata.sources.shared.values import moment, non_empty


class SessionTranscript(NamedTuple):
    """The session of a coding agent, whichever it was. It holds no verdict."""

    agent: str
    session: str = ""
    version: str = ""
    model: str = ""
    execution: Execution = "completed"
    steps: tuple[Step, ...] = ()
    answer: str | None = None
    """The agent's last message."""
    stop_reason: str = ""
    errors: tuple[ErrorInfo, ...] = ()
    limit: Limit | None = None
    usage: Usage = Usage()
    started_at: str | None = None
    finished_at: str | None = None
    extra: dict[str, Any] = {}
    unreadable: tuple[Unreadable, ...] = ()


class SessionReader(ABC):
    """Reads line by line; only the last lines show how the session ended."""

    def __init__(self) -> None:
        self._builder = TranscriptBuilder()
        self._times: list[str] = []
        self._other: Counter[str] = Counter()
        self._failed: ErrorInfo | None = None
        self._cancelled = False
        self._unreadable: list[Unreadable] = []

    def read(self, rows: Iterable[Row | Unreadable], *, agent: str = "") -> None:
        """`agent` is the subagent that wrote these lines."""
        for row in rows:
            if isinstance(row, Unreadable):
                self._unreadable.append(row)
            elif isinstance(row.data, dict):
                self._line(row.data, row.ref, agent)

    @abstractmethod
    def _line(self, line: dict[str, Any], ref: SourceRef, agent: str) -> None: ...

    def _moment(self, line: dict[str, Any]) -> str | None:
        """The time of a line; the first and the last are those of the session."""
        at = moment(line.get("timestamp"))
        if at is not None:
            self._times.append(at)
            del self._times[1:-1]
        return at

    def _transcript(self, *, extra: dict[str, Any], **own: Any) -> SessionTranscript:
        steps = self._builder.steps
        fields: dict[str, Any] = {
            "execution": self._execution(steps),
            "steps": steps,
            "answer": _last_answer(steps),
            "errors": (self._failed,) if self._failed else (),
            "started_at": self._times[0] if self._times else None,
            "finished_at": self._times[-1] if self._times else None,
            "extra": extra | non_empty(other_lines=dict(self._other), steps_left_out=self._builder.left_out or None),
            "unreadable": tuple(self._unreadable),
        }
        return SessionTranscript(**fields | own)

    def _execution(self, steps: tuple[Step, ...]) -> Execution:
        if self._failed is not None:
            return "error"
        if self._cancelled:
            return "cancelled"
        return "unfinished" if _is_waiting(steps) or not steps else "completed"


def _last_answer(steps: tuple[Step, ...]) -> str | None:
    """The agent's own: a subagent's messages are part of a call."""
    own = (step.text for step in reversed(steps) if step.actor.role == "assistant" and step.parent is None)
    return next((text for text in own if text), None)


def _is_waiting(steps: tuple[Step, ...]) -> bool:
    own = [step for step in steps if step.parent is None]
    last = own[-1].tool_calls if own else ()
    return any(call.result is None and call.error is None for call in last)
