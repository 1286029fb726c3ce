"""The steps of a transcript that matter: where something went wrong, what speaks of the failure, the end."""

from collections.abc import Iterable

from errata.model import Attempt, Check, Step
from errata.review.calls import call_lines, went_wrong

LAST = 3
FIRST = 4
"""Of those that went wrong: what came later may only follow."""
NEAR = 1
"""Steps before and after one that matters."""
ALL = 40
"""A transcript of so few steps is shown whole, as far as there is room."""
LOOKED_FOR = 4
MATTERING = 24
"""Steps that matter, at most: those near the end come first."""


def step_text(step: Step, before: Step | None = None) -> str:
    """Who did what, and what came back. Reasoning that the step before had already is not repeated."""
    who = step.actor.role + (f" {step.actor.name}" if step.actor.name else "")
    parts = [f"{who}: {step.text}".rstrip()] if step.text or not step.tool_calls else [f"{who}:"]
    if step.reasoning.strip() and (before is None or before.reasoning != step.reasoning):
        parts.append(f"(reasoning) {step.reasoning}")
    parts += [call_lines(call) for call in step.tool_calls]
    if step.error is not None:
        parts.append(f"{step.error.type}: {step.error.message}")
    return "\n".join(parts)


def says_more(step: Step, told: frozenset[str]) -> bool:
    """Whether there is more to a step than what is shown elsewhere."""
    return bool(step.tool_calls or step.error or step.reasoning.strip()) or step.text.strip() not in told


def is_broken(step: Step) -> bool:
    return step.error is not None or any(went_wrong(call) for call in step.tool_calls)


def decisive(attempt: Attempt, needles: Iterable[str]) -> list[int]:
    """Where in the list of steps the failure shows, in order."""
    steps = attempt.steps
    named = {check.step for check in attempt.checks if _counts_against(check)} - {None}
    wanted = list(needles)[:LOOKED_FOR]
    last = range(max(len(steps) - LAST, 0), len(steps))
    broken = [at for at, step in enumerate(steps) if is_broken(step) or step.index in named]
    speaking = [at for at, step in enumerate(steps) if _speaks_of(step, wanted)]
    chosen = dict.fromkeys([*last, *broken[:FIRST], *reversed(broken), *reversed(speaking)])
    return sorted(list(chosen)[:MATTERING])


def around(places: Iterable[int], count: int) -> list[int]:
    """The steps beside those that matter; all others too where there are few."""
    mattering = set(places)
    if count <= ALL:
        return [at for at in range(count) if at not in mattering]
    near = {at + off for at in mattering for off in range(-NEAR, NEAR + 1)} | {0}
    return sorted(at for at in near - mattering if 0 <= at < count)


def _counts_against(check: Check) -> bool:
    return check.status in ("fail", "error") and check.step is not None


def _speaks_of(step: Step, needles: list[str]) -> bool:
    texts = [step.text, *(call.result.text for call in step.tool_calls if call.result is not None)]
    return any(needle in text for needle in needles for text in texts)
