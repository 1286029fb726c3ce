"""One event of an attempt's transcript, and what it shows by itself."""

from typing import Any

from errata.model.check import ErrorInfo
from errata.model.record import Record
from errata.model.usage import Usage
from errata.model.words import ActorRole, ObservationKind, StepKind, Strength


class Actor(Record):
    role: ActorRole
    name: str = ""


class ToolResult(Record):
    text: str = ""
    structured: Any = None
    exit_code: int | None = None
    is_error: bool | None = None


class ToolError(Record):
    type: str
    message: str


class ToolCall(Record):
    name: str
    id: str = ""
    arguments: Any = None
    arguments_raw: str = ""
    """As written, where it could not be parsed."""
    requestor: str = ""
    parse_error: str = ""
    is_duplicate: bool = False
    result: ToolResult | None = None
    error: ToolError | None = None
    duration: float | None = None


class Step(Record):
    index: int
    actor: Actor
    kind: StepKind = "message"
    parent: int | None = None
    try_: int = 1
    """Which retry this step belongs to."""
    text: str = ""
    parts: tuple[dict[str, Any], ...] = ()
    """Content that is not plain text: images, audio, documents, as the log holds it."""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    error: ErrorInfo | None = None
    usage: Usage | None = None
    started_at: str | None = None
    ended_at: str | None = None
    model: str = ""
    span_id: str = ""

    @property
    def speaker(self) -> str:
        """Role and name: `assistant Planner`."""
        return f"{self.actor.role} {self.actor.name}".rstrip()


# --- one line of an evidence log: what a step shows by itself, without anybody's judgement


class Observation(Record):
    kind: ObservationKind
    step: int
    """The index of the step."""
    speaker: str
    """The agent's name where the log has one, else the role."""
    text: str
    """One sentence."""
    quote: str = ""
    """Verbatim from that step: its text, the arguments of a call as JSON, or a result."""
    related_step: int | None = None
    """The result of a call, the earlier equal call, or the step that first named a value."""
    tool: str = ""
    argument: str = ""
    """The argument of the call that differs."""
    strength: Strength
    steps: tuple[int, ...] = ()
    """Every step with the same observation, where there are several; `step` is the first."""
