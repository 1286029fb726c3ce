"""The rerun plan: how to repeat attempts that failed for reasons other than the model. It runs nothing.

Commands are argument lists built from ids that were each checked (`fit.py`). A command line found in a log is never
reused.
"""

from collections.abc import Callable

from errata.rerun import conversation_bench, convex_evals, harbor, inspect_ai, promptfoo, scylla
from errata.rerun.plan import (
    ByHand,
    Command,
    Others,
    RerunAttempt,
    RerunPlan,
    RerunRequest,
    UnfitError,
    all_by_hand,
)
from errata.text.outgoing import for_user

Planner = Callable[[RerunRequest], RerunPlan]

PLANNERS: dict[str, Planner] = {
    "conversation-bench": conversation_bench.plan,
    "convex-evals": convex_evals.plan,
    "harbor": harbor.plan,
    "inspect-ai": inspect_ai.plan,
    "promptfoo": promptfoo.plan,
    "scylla": scylla.plan,
}


def plan_for(request: RerunRequest) -> RerunPlan:
    """Attempts without a command are listed as `by_hand`, with the reason."""
    source = request.run.source.name
    if source not in PLANNERS:
        return all_by_hand(request.attempts, UnfitError("no_planner", source))
    try:
        return _without_secrets(PLANNERS[source](request))
    except UnfitError as problem:
        return all_by_hand(request.attempts, problem)


def _without_secrets(plan: RerunPlan) -> RerunPlan:
    """Drop commands that redaction would change before they are shown: they would no longer work."""
    changed = [
        command for command in plan.commands if any(for_user(text) != text for text in (command.line, *command.words))
    ]
    if not changed:
        return plan
    by_hand = tuple(ByHand(one, "command_like_secret") for command in changed for one in command.attempts)
    commands = tuple(command for command in plan.commands if command not in changed)
    return RerunPlan(commands=commands, by_hand=(*plan.by_hand, *by_hand), notes=plan.notes if commands else ())


__all__ = [
    "PLANNERS",
    "ByHand",
    "Command",
    "Others",
    "Planner",
    "RerunAttempt",
    "RerunPlan",
    "RerunRequest",
    "plan_for",
]
