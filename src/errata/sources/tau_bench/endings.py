"""How a simulation of tau2-bench ended, and what that says about it."""

from typing import NamedTuple

from errata.model.words import Execution, Phase


class Ending(NamedTuple):
    """`answered` is false where the agent is not to blame: then a reward of 0 says nothing about it."""

    execution: Execution
    phase: Phase = "subject"
    limit: str = ""
    answered: bool = True
    counted: bool = True
    """tau2-bench leaves out of its metrics what it calls not evaluable."""


_ENDINGS: dict[str, Ending] = {
    "user_stop": Ending("completed"),
    "agent_stop": Ending("completed"),
    "max_steps": Ending("limit", limit="turn"),
    "timeout": Ending("limit", limit="time"),
    "context_window_exceeded": Ending("limit", limit="context", counted=False),
    # the agent broke the rules of the conversation, or one tool after the other refused its calls
    "agent_error": Ending("error"),
    "too_many_errors": Ending("error"),
    "user_error": Ending("error", "simulator", answered=False),
    # mostly a provider that was out of reach: its words tell
    "infrastructure_error": Ending("error", answered=False, counted=False),
    "unexpected_error": Ending("error", answered=False),
}


def ending_of(reason: str) -> Ending:
    if not reason:
        return Ending("unfinished", answered=False)
    return _ENDINGS.get(reason.rpartition(".")[2].lower(), Ending("error", answered=False))
