"""Dialogues with a simulated user: what the subject changed beside what it was expected to change.

A simulated user may ask for something else in each attempt, so that another attempt's pass shows little. What the
subject wrote shows more: a change that the reference does not have is its own doing.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.model import Attempt, Case
from errata.transcript.actions import ActionComparison, ArgumentDifference, compare_actions, unmatched_actions
from errata.transcript.calls import CalledFunction
from errata.transcript.mentions import folded_text
from errata.transcript.simulated_user import has_simulated_user, is_user
from errata.transcript.wording import in_brief
from errata.triage.observed import Observed, signal

CHANGES = ("wrote_too_much", "wrote_otherwise", "never_wrote")
"""Signals about what the model changed. They name the cause where only a failed check decides the owner."""
TELLING = 4
"""Characters of a value that a user may have stated."""


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
    """The subject changed what should not have changed, made an expected change otherwise, or did not make it."""
    if attempt.outcome not in ("fail", "partial") or not has_simulated_user(attempt):
        return
    if attempt.execution != "completed":
        return  # it may have gone on to what was expected
    writes = writes_of(attempt, case)
    if writes is None or not (writes.unexpected or writes.missing):
        return
    if not writes.unexpected:
        ref = case.ref if case else None
        seen = signal("never_wrote", "likely", "case.expected", "", ref, stated=_call(writes.missing[0]))
        yield Observed(signal=seen, owner="model")
    elif not writes.missing:
        seen = signal("wrote_too_much", "likely", "tool calls", "", attempt.ref, stated=_call(writes.unexpected[0]))
        yield Observed(signal=seen, owner="model", is_self_evident=True)
    else:
        compared = compare_actions(attempt, case)
        stated = _mistakes(compared) if compared is not None else ""
        seen = signal("wrote_otherwise", "likely", "tool calls", "", attempt.ref, stated=stated)
        is_contrary = compared is not None and _contradicts_user(attempt, compared)
        yield Observed(signal=seen, owner="model", contradicts_user=is_contrary)


def _contradicts_user(attempt: Attempt, compared: ActionComparison) -> bool:
    """The user stated the expected value of an argument and never the one that the subject used."""
    users_text = folded_text("\n".join(step.text for step in attempt.steps if is_user(step)))
    return any(
        _is_in(users_text, difference.wanted) and not _is_in(users_text, difference.made)
        for pair in compared.differing
        for difference in pair.differences
    )


def _is_in(users_text: str, value: Any) -> bool:
    """Short values and small numbers occur in any text."""
    words = (
        folded_text(str(value)).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    )
    return len(words) >= TELLING and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", users_text) is not None


def _mistakes(compared: ActionComparison) -> str:
    """The first call with wrong arguments or that is missing, then the first that should not have been made."""
    parts = [
        f"{pair.made.use.name} with {', '.join(map(_difference, pair.differences))}" for pair in compared.differing[:1]
    ]
    parts = parts or [f"{_call(call)} never made" for call in compared.missing[:1]]
    parts += [f"{_call(action.call)} not expected" for action in compared.unexpected[:1]]
    return "; ".join(parts)


def _call(call: CalledFunction) -> str:
    return f"{call.name}({', '.join(f'{name}={in_brief(value)}' for name, value in call.arguments.items())})"


def _difference(difference: ArgumentDifference) -> str:
    made = "missing" if difference.made is None else in_brief(difference.made)
    wanted = "none" if difference.wanted is None else in_brief(difference.wanted)
    return f"{difference.argument} {made} (expected {wanted})"
