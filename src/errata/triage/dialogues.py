"""Dialogues with a simulated user: what the subject changed beside what it was expected to change.

A simulated user may ask for something else in each attempt, so that another attempt's pass shows little. What the
subject wrote shows more: a change that the reference does not have is its own doing.
"""

from collections.abc import Iterator
from typing import NamedTuple

from errata.model import Attempt, Case
from errata.transcript.actions import unmatched_actions
from errata.transcript.calls import CalledFunction
from errata.transcript.simulated_user import has_simulated_user
from errata.triage.observed import Observed, signal


class Writes(NamedTuple):
    unexpected: tuple[CalledFunction, ...]
    """Made, and not in the reference."""
    missing: tuple[CalledFunction, ...]
    """In the reference, and not made."""


def compares_writes(attempt: Attempt, case: Case | None) -> bool:
    """Whether the transcript is worth looking at."""
    return case is not None and isinstance(case.expected, dict) and has_simulated_user(attempt)


def writes_of(attempt: Attempt, case: Case | None) -> Writes | None:
    """None where the log does not list the expected actions of a dialogue, or has no transcript."""
    if case is None or not isinstance(case.expected, dict) or not isinstance(case.expected.get("actions"), list):
        return None
    rest = unmatched_actions(attempt, case)
    return None if rest is None else Writes(tuple(action.call for action in rest.unexpected), rest.missing)


def wrote_something_else(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The subject changed what should not have changed, and did all that was expected of it besides."""
    if attempt.outcome not in ("fail", "partial") or not has_simulated_user(attempt):
        return
    if attempt.execution != "completed":
        return  # it may have gone on to what was expected
    writes = writes_of(attempt, case)
    if writes is None or not writes.unexpected:
        return
    first = writes.unexpected[0]
    quote = f"{first.name}({', '.join(f'{name}={value}' for name, value in first.arguments.items())})"
    name = "wrote_otherwise" if writes.missing else "wrote_too_much"
    seen = signal(name, "likely", "tool calls", quote, attempt.ref)
    yield Observed(signal=seen, owner="model", is_self_evident=not writes.missing)
