"""The failures of a batch in categories: one for each cause that a rule names, one for what the model did not solve."""

from collections.abc import Sequence
from string import ascii_uppercase

from errata.model import Attempt, Attribution
from errata.pipeline.explaining import BY_DEFAULT, meaning_of
from errata.pipeline.reporting.batch_failures import Batch
from errata.pipeline.reporting.shared import MACHINERY
from errata.pipeline.rules import rules_in_use
from errata.report.facts.batch import Category
from errata.text.mask import mask

MODEL = "The model did not solve the task"


def categorised(batch: Batch) -> tuple[Category, ...]:
    """The framework's first, the largest first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for case, attempt in sorted(batch.failing.items(), key=lambda pair: batch.tests[pair[0]].id):
        groups.setdefault(_group(batch.attributed.get(attempt.id)), []).append(case)
    ordered = sorted(groups.items(), key=lambda pair: (pair[0][0] not in MACHINERY, -len(pair[1]), pair[0]))
    letters = [*ascii_uppercase, *(f"{first}{second}" for first in ascii_uppercase for second in ascii_uppercase)]
    return tuple(_category(letter, *key, cases, batch) for letter, (key, cases) in zip(letters, ordered, strict=False))


def _group(said: Attribution | None) -> tuple[str, str]:
    if said is None:
        return "unknown", ""
    return said.owner, "" if said.decided_by in BY_DEFAULT else said.decided_by


def _category(letter: str, owner: str, rule: str, cases: Sequence[str], batch: Batch) -> Category:
    attempts = [batch.failing[case] for case in cases]
    costs = [one.usage.cost for one in attempts if one.usage.cost is not None]
    said = [batch.attributed[one.id] for one in attempts if one.id in batch.attributed]
    weakest = max((one.confidence for one in said), key=("certain", "likely", "weak").index, default="weak")
    return Category(
        letter=letter,
        title=_title(owner, rule),
        owner=owner,
        confidence=weakest,
        tests=tuple(batch.tests[case].id for case in cases),
        cost=sum(costs) if costs else None,
        evidence=_evidence(attempts, owner),
        advice=_advice(owner, rule),
        error=_shared_error(attempts),
        framework=owner in MACHINERY,
        provisional=not all(batch.is_read(one.id) for one in attempts),
    )


def _title(owner: str, rule: str) -> str:
    if rule:
        told = meaning_of(rule)
        return told[:1].upper() + told[1:]
    return MODEL if owner == "model" else f"Failed, owner {owner}"


def _evidence(attempts: Sequence[Attempt], owner: str) -> str:
    error = _shared_error(attempts)
    if error:
        struck = sum(bool(one.errors and one.errors[0].hits) for one in attempts)
        several = f", in several subtests of {struck} of them" if struck else ""
        return f"the same {attempts[0].errors[0].type or 'error'} in all {len(attempts)}{several}"
    spent = sum(bool(one.usage.cost) for one in attempts)
    scores = [one.reported for one in attempts if one.reported is not None]
    if owner == "model" and scores:
        lost = sum(not one for one in scores)
        return f"{spent} of {len(attempts)} spent money; {lost} score 0, the best {max(scores):.3f}"
    return f"{spent} of {len(attempts)} spent money"


def _shared_error(attempts: Sequence[Attempt]) -> str:
    """Where all have the same error but for numbers and names."""
    if not all(one.errors for one in attempts) or not attempts:
        return ""
    shapes = {(one.errors[0].type, mask(one.errors[0].message)) for one in attempts}
    if len(shapes) != 1:
        return ""
    first = attempts[0].errors[0]
    return first.message if not first.type or first.type in first.message else f"{first.type}: {first.message}"


def _advice(owner: str, rule: str) -> str:
    book = rules_in_use().book.rules
    fix = book[rule].fix if rule in book else None
    if fix is not None:
        return f"{fix.cause}: mend it, then repeat what was not measured"
    return {
        "model": "nothing to fix in the framework",
        "collateral": "mend the root; these follow from it",
        "harness": "mend the harness, then repeat them",
        "environment": "mend the environment, then repeat them",
        "provider": "repeat them",
        "budget": "look at the limits; repeat with larger ones if they were meant to be enough",
        "grader": "look at the grader before the score is used",
        "task": "look at the task before the score is used",
    }.get(owner, "read them: no rule knows what happened")
