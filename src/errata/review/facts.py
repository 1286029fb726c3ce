"""What is known of a failure without reading a text: its three facts, its checks, what it used, what it belongs to."""

from typing import Any

from errata.model import Attempt, Check, Run, Usage
from errata.review.clues import Clues, gist, readable
from errata.review.material import Material, name_of
from errata.review.seams import Tell, in_short

REASON = 300
CHECKS = 24
OTHERS = 20


def run_facts(run: Run, *, blind: bool) -> dict[str, Any]:
    subject = run.subject
    told: dict[str, Any] = {
        "id": run.id if blind else run.native_id,
        "run_id": run.id,
        "harness": run.source.name,
        "model": None if blind else subject.model or None,
        "experiment": run.variant.get("experiment"),
        "date": (run.started_at or "")[:10] or None,
    }
    others = {name: value for name, value in run.variant.items() if name != "experiment"}
    more: dict[str, Any] = {"suite": run.suite, "variant": others}
    if not blind:
        more |= {"provider": subject.provider, "agent": subject.agent}
    return told | {name: value for name, value in more.items() if value}


def facts_of(material: Material, clues: Clues, tell: Tell) -> dict[str, Any]:
    """The first six always; the others where there is something to say."""
    attempt = material.attempt
    judges = len({check.judge for check in attempt.checks}) > 1
    told: dict[str, Any] = {
        "execution": attempt.execution,
        "measurement": attempt.measurement,
        "outcome": attempt.outcome,
        "native_status": attempt.native_status or None,
        "checks": [_check(check, tell, judges=judges) for check in _shown(attempt)],
        "usage": _usage(attempt.usage.subject),
    }
    more = _more(material, clues, tell) | _relations(material)
    return told | {name: value for name, value in more.items() if value not in (None, "", [])}


def _more(material: Material, clues: Clues, tell: Tell) -> dict[str, Any]:
    attempt, case = material.attempt, material.case
    return {
        "category": case.category if case else "",
        "failed_step": next(iter(attempt.failed_checks), ""),
        "error_line": clues.error_line,
        "checks_in_all": len(attempt.checks) if len(attempt.checks) > CHECKS else None,
        "output": _about_output(attempt),
        "answer": in_short(attempt.output.answer or "", REASON, tell),
        "score": attempt.reported,
        "threshold": attempt.threshold,
        "turn": attempt.position,
        "session": attempt.session,
        "steps": {"count": len(attempt.steps), "last": attempt.steps[-1].index} if attempt.steps else None,
        "duration_seconds": attempt.duration,
        "exit_code": attempt.exit_code,
    }


def _relations(material: Material) -> dict[str, Any]:
    attempt, run = material.attempt, material.run
    root = next((one for one in material.before if one.id == attempt.follows), None)
    others = [one for one in material.kin if one.counted and one.duplicate_of is None]
    return {
        "follows": name_of(run, root.case) if root else attempt.follows,
        "followed_by": [name_of(run, one.case) for one in material.after][:OTHERS],
        "other_attempts": [{"attempt": one.index, "outcome": one.outcome} for one in others][:OTHERS],
    }


def _shown(attempt: Attempt) -> list[Check]:
    """All of them, or those that did not pass where there are many."""
    if len(attempt.checks) <= CHECKS:
        return list(attempt.checks)
    return [check for check in attempt.checks if check.status != "pass"][:CHECKS]


def _check(check: Check, tell: Tell, *, judges: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"name": in_short(check.name, REASON, tell), "status": check.status}
    told["reason"] = in_short(gist(readable(check.explanation, tell)), REASON, tell) or None
    if check.value is not None and not isinstance(check.value, bool):
        told["value"] = in_short(check.value, REASON, tell) if isinstance(check.value, str) else check.value
    if judges and check.judge:
        told["judge"] = check.judge
    if not check.counts:
        told["counts"] = False
    return told


def _about_output(attempt: Attempt) -> str:
    """That there was none is a fact, too."""
    if attempt.output.text is None:
        return "" if attempt.output.structured is not None or attempt.artefacts else "none is kept in the log"
    return "" if attempt.output.text.strip() else "empty"


def _usage(usage: Usage) -> dict[str, Any] | None:
    cost = "cost_usd" if usage.currency == "USD" else f"cost_{usage.currency.lower()}"
    told = {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "total_tokens": usage.total if usage.input is None or usage.output is None else None,
        "reasoning_tokens": usage.reasoning,
        cost: usage.cost,
        "cost_source": usage.cost_source if usage.cost is not None else None,
    }
    return {name: value for name, value in told.items() if value is not None} or None
