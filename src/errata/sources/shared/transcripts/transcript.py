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
