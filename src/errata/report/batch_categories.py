"""The failures of a batch in categories: one for each cause that a rule names, one for what the model did not solve."""

from collections.abc import Iterator, Sequence
from string import ascii_uppercase

from errata.model import Attempt
from errata.model.output.report.batch import Category
from errata.report.batch_failures import Batch, exact, hits_of
from errata.report.parts import named
from errata.report.shared import MACHINERY
from errata.runs.explanation import BY_DEFAULT
from errata.text.mask import mask

MODEL = "The model did not solve the task"
AT_ONCE = 60
"""Seconds."""


def categorised(batch: Batch) -> tuple[Category, ...]:
    """The framework's first, the largest first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for case, attempt in sorted(batch.failing.items(), key=lambda pair: batch.tests[pair[0]].id):
        groups.setdefault(_group(batch, attempt.id), []).append(case)
    ordered = sorted(groups.items(), key=lambda pair: (pair[0][0] not in MACHINERY, -len(pair[1]), pair[0]))
    letters = [*ascii_uppercase, *(f"{first}{second}" for first in ascii_uppercase for second in ascii_uppercase)]
    return tuple(_category(letter, *key, cases, batch) for letter, (key, cases) in zip(letters, ordered, strict=False))


def _group(batch: Batch, attempt: str) -> tuple[str, str]:
    """Owner, and the rule that names the cause; a rule that a reader contradicts names none."""
    said, owner = batch.attributed.get(attempt), batch.owner(attempt) or "unknown"
    if said is None or said.decided_by in BY_DEFAULT or said.owner != owner:
        return owner, ""
    return owner, said.decided_by


def _category(letter: str, owner: str, rule: str, cases: Sequence[str], batch: Batch) -> Category:
    attempts = [batch.failing[case] for case in cases]
    costs = [one.usage.cost for one in attempts if one.usage.cost is not None]
    said = [batch.attributed[one.id] for one in attempts if one.id in batch.attributed]
    weakest = max((one.confidence for one in said), key=("certain", "likely", "weak").index, default="weak")
    return Category(
        letter=letter,
        title=_title(batch, owner, rule),
        owner=owner,
        confidence=weakest,
        tests=tuple(batch.tests[case].id for case in cases),
        cost=sum(costs) if costs else None,
        evidence=_evidence(attempts, owner),
        advice=_advice(batch, owner, rule),
        shows=tuple(_shows(attempts, owner, batch)),
        error=_shared_error(attempts),
        framework=owner in MACHINERY,
        provisional=not all(batch.is_read(one.id) for one in attempts),
    )


def _title(batch: Batch, owner: str, rule: str) -> str:
    if rule:
        told = batch.means(rule)
        return told[:1].upper() + told[1:]
    return MODEL if owner == "model" else f"Failed, owner {owner}"


def _evidence(attempts: Sequence[Attempt], owner: str) -> str:
    error = _shared_error(attempts)
    if error:
        hits = {f"{one.struck} of {one.of}" for one in map(hits_of, attempts) if one}
        several = f", {hits.pop()} subtests in each" if len(hits) == 1 else ""
        return f"the same {attempts[0].errors[0].type or 'error'} in all {len(attempts)}{several}"
    spent = sum(bool(one.usage.cost) for one in attempts)
    scores = [one.reported for one in attempts if one.reported is not None]
    if owner == "model" and scores:
        lost = sum(not one for one in scores)
        return f"{spent} of {len(attempts)} spent money; {lost} score 0, the best {max(scores):.3f}"
    return f"{spent} of {len(attempts)} spent money"


def _shows(attempts: Sequence[Attempt], owner: str, batch: Batch) -> Iterator[str]:
    """Whether all subtests fail together, what was spent, and how long it took."""
    if owner in MACHINERY:
        yield from _together(attempts)
        yield from _spent(attempts)
        yield from _took(attempts)
    elif owner == "model":
        bars = {one.threshold for one in attempts if one.threshold is not None}
        if len(bars) == 1:
            yield f"A pass needs a score above {bars.pop():g}"
        kept = [batch.tests[one.case].id for one in attempts if batch.children.get(one.case)]
        rest = len(attempts) - len(kept)
        if kept and rest:
            told = f"Runs and the words of their judges are stored for {named(kept)} only"
            yield f"{told}; of the other {rest}, cost and score are all that is known"


def _together(attempts: Sequence[Attempt]) -> Iterator[str]:
    hits = [hits_of(one) for one in attempts]
    if all(hits):
        whole = sum(one.struck == one.of for one in hits if one)
        yield f"All subtests fail together in {whole} of {len(attempts)}" if whole else "Some subtests of each fail"


def _spent(attempts: Sequence[Attempt]) -> Iterator[str]:
    costs = [one.usage.cost for one in attempts if one.usage.cost is not None]
    tokens = [one.usage.subject.total for one in attempts if one.usage.subject.total is not None]
    if costs:
        used = f", {sum(tokens):,} tokens" if tokens else ""
        yield f"${sum(costs):.2f} spent by {len(costs)}{used}: {'no answer was paid for' if not sum(costs) else 'paid'}"


def _took(attempts: Sequence[Attempt]) -> Iterator[str]:
    """Those that end at once never reached the model; those that take minutes had set up a part of it before."""
    seconds = sorted(one.duration for one in attempts if one.duration is not None)
    for told, some in (
        ("end at once", [one for one in seconds if one < AT_ONCE]),
        ("end after a part of the set-up, such as a clone", [one for one in seconds if one >= AT_ONCE]),
    ):
        if some:
            ends = dict.fromkeys(f"{one:.1f}" for one in (some[0], some[-1]))
            yield f"{len(some)} {told}: {' to '.join(ends)} s"


def _shared_error(attempts: Sequence[Attempt]) -> str:
    """Where all have the same error but for numbers and names."""
    if not all(one.errors for one in attempts) or not attempts:
        return ""
    shapes = {(one.errors[0].type, mask(one.errors[0].message)) for one in attempts}
    if len(shapes) != 1:
        return ""
    return exact(attempts[0].errors[0].message, attempts[0].errors[0])


def _advice(batch: Batch, owner: str, rule: str) -> str:
    fix = batch.rules[rule].fix if rule in batch.rules else None
    if fix is not None and fix.after:
        return f"Write `{fix.after}` instead of `{fix.before}`, then repeat what was not measured"
    if fix is not None:
        return f"{fix.cause[:1].upper()}{fix.cause[1:]}: mend it, then repeat what was not measured"
    return {
        "model": "Nothing to fix in the framework",
        "collateral": "Mend what stopped them, if anything has to be; these only follow from it",
        "harness": "Mend the harness, then repeat them",
        "environment": "Mend the environment, then repeat them",
        "provider": "Repeat them",
        "budget": "Look at the limits; repeat with larger ones if they were meant to be enough",
        "grader": "Look at the grader before the score is used",
        "task": "Look at the task before the score is used",
    }.get(owner, "Read them: no rule knows what happened")
