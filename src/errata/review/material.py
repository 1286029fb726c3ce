"""What a packet is made of: a failure and all that is known around it."""

from typing import Any

import msgspec

from errata.model import Attempt, Attribution, Case, Run


class Material(msgspec.Struct, frozen=True, kw_only=True):
    run: Run
    """With the texts of its context files."""
    handle: str = ""
    """The short name by which people know the run; else the beginning of its id."""
    attempt: Attempt
    """With its transcript and the texts of its files."""
    case: Case | None = None
    attribution: Attribution | None = None
    before: tuple[Attempt, ...] = ()
    """The turns before it, where it is a turn of a conversation, in their order."""
    after: tuple[Attempt, ...] = ()
    """Those that only follow from it."""
    kin: tuple[Attempt, ...] = ()
    """Other attempts at the same case in the same run: parts, earlier sessions, repetitions."""
    history: tuple[dict[str, Any], ...] = ()
    """Earlier verdicts and reports, known gaps, how other runs did."""

    @property
    def case_name(self) -> str:
        """The case as its harness names it."""
        return name_of(self.run, self.attempt.case)

    @property
    def is_turn(self) -> bool:
        """Whether the case is a turn of a conversation."""
        steps = self.attempt.steps
        return self.attempt.position is not None and any(step.actor.role == "user" for step in steps)


def name_of(run: Run, key: str) -> str:
    return key.removeprefix(f"{run.suite}/") if run.suite else key
