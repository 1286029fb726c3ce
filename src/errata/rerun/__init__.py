"""The rerun plan: how a harness repeats what failed for reasons that are not the subject's. It runs nothing.

Commands are argument lists built from ids that were let in one by one (`fit.py`). A command line that stands in a log
is never reused.
"""

from collections.abc import Callable

from errata.rerun import conversation_bench, convex_evals, harbor, inspect_ai, promptfoo, scylla
from errata.rerun.fit import UnfitError
from errata.rerun.plan import ByHand, Command, Others, Plan, Request, Wanted, all_by_hand
from errata.rerun.wanting import Choice, Said, want
from errata.text.redact import redact

Planner = Callable[[Request], Plan]

SECRET = "the command would look as if it held a secret"  # noqa: S105

PLANNERS: dict[str, Planner] = {
    "conversation-bench": conversation_bench.plan,
    "convex-evals": convex_evals.plan,
    "harbor": harbor.plan,
    "inspect-ai": inspect_ai.plan,
    "promptfoo": promptfoo.plan,
    "scylla": scylla.plan,
}


def plan_for(request: Request) -> Plan:
    """What can't be put into a command is left to the user, with the reason."""
    source = request.run.source.name
    if source not in PLANNERS:
        return all_by_hand(request.wanted, f"no command is known that repeats a case of a `{source}` log")
    try:
        return _as_shown(PLANNERS[source](request))
    except UnfitError as problem:
        return all_by_hand(request.wanted, str(problem))


def _as_shown(plan: Plan) -> Plan:
    """Without commands that redaction would change on their way to the user: they would not do what they say."""
    changed = [command for command in plan.commands if redact(command.line) != command.line]
    if not changed:
        return plan
    left = tuple(ByHand(one, SECRET) for command in changed for one in command.wanted)
    kept = tuple(command for command in plan.commands if command not in changed)
    return Plan(commands=kept, by_hand=(*plan.by_hand, *left), notes=plan.notes if kept else ())


__all__ = [
    "PLANNERS",
    "ByHand",
    "Choice",
    "Command",
    "Others",
    "Plan",
    "Planner",
    "Request",
    "Said",
    "Wanted",
    "plan_for",
    "want",
]
