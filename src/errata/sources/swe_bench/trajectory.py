"""What an agent did about one instance, whichever agent it was."""

from typing import Any, NamedTuple

from errata.model import Artefact, ErrorInfo, Limit, SourceRef, Step, Usage
from errata.model.words import Execution, Phase


class Ending(NamedTuple):
    """What an agent's word for how it ended says."""

    execution: Execution
    phase: Phase = "subject"
    limit: str = ""


class Trajectory(NamedTuple):
    agent: str
    ref: SourceRef
    execution: Execution = "completed"
    instance: str = ""
    """As the trajectory itself names it; most are named by their file alone."""
    version: str = ""
    model: str = ""
    status: str = ""
    """The agent's own word for how it ended."""
    task: Any = None
    reference: tuple[Artefact, ...] = ()
    """The right patch and the tests, where the agent's log repeats the dataset."""
    steps: tuple[Step, ...] = ()
    submission: str | None = None
    errors: tuple[ErrorInfo, ...] = ()
    limit: Limit | None = None
    usage: Usage = Usage()
    extra: dict[str, Any] = {}


def error_of(status: str, message: str, ending: Ending, ref: SourceRef) -> tuple[ErrorInfo, ...]:
    """An ending that is no error has none."""
    if ending.execution != "error":
        return ()
    return (ErrorInfo(type=status, message=message or status, phase=ending.phase, ref=ref),)
