"""What the session of a coding agent leaves, whichever agent it was. It holds no verdict."""

from typing import Any, NamedTuple

from errata.model import ErrorInfo, Limit, Step, Unreadable, Usage
from errata.model.words import Execution


class Transcript(NamedTuple):
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


def last_answer(steps: tuple[Step, ...]) -> str | None:
    """Of the agent itself: what a subagent says is part of a call."""
    own = (step.text for step in reversed(steps) if step.actor.role == "assistant" and step.parent is None)
    return next((text for text in own if text), None)


def is_waiting(steps: tuple[Step, ...]) -> bool:
    """Whether the last thing that happened is a call without a result."""
    own = [step for step in steps if step.parent is None]
    last = own[-1].tool_calls if own else ()
    return bool(last) and any(call.result is None and call.error is None for call in last)
