"""One line of an evidence log: what a step shows by itself, without anybody's judgement."""

from errata.model.record import Record
from errata.model.words import ObservationKind, Strength


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
