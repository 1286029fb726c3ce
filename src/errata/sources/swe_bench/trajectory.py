"""The trajectory of an agent on one instance, for all agents."""

from typing import Any, NamedTuple

from errata.model import Artefact, ErrorInfo, Limit, SourceRef, Step, Usage
from errata.model.words import Execution, Phase


class AgentEnding(NamedTuple):
    """The meaning of an agent's exit status."""

    execution: Execution
    phase: Phase = ""
    limit: str = ""


class AgentTrajectory(NamedTuple):
    agent: str
    ref: SourceRef
    execution: Execution = "completed"
    instance: str = ""
    """The instance named in the trajectory; most are only named by their file."""
    version: str = ""
    model: str = ""
    status: str = ""
    """The agent's own exit status."""
    task: Any = None
    reference: tuple[Artefact, ...] = ()
    """The reference patch and the tests, if the agent's log repeats the dataset."""
    steps: tuple[Step, ...] = ()
    submission: str | None = None
    errors: tuple[ErrorInfo, ...] = ()
    limit: Limit | None = None
    usage: Usage = Usage()
    extra: dict[str, Any] = {}


def error_of(status: str, message: str, ending: AgentEnding, ref: SourceRef) -> tuple[ErrorInfo, ...]:
    """Empty if the ending is not an error."""
    if ending.execution != "error":
        return ()
    return (ErrorInfo(type=status, message=message or status, phase=ending.phase, ref=ref),)
