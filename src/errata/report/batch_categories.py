"""The failures of a batch in categories: by the cause that reviewers name, else by the rule that names one."""

from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple

from errata.model import Attempt, Verdict
from errata.model.output.report.batch import BatchCategory, BatchFix, Seconds
from errata.model.words import NOT_THE_SUBJECTS
from errata.report.batch_failures import BatchAttempts, exact, fix_of_verdict, hits_of
from errata.runs.explanation import BY_DEFAULT
from errata.text.mask import mask

AT_ONCE = 60
"""Seconds."""
FRAMEWORK = NOT_THE_SUBJECTS | {"grader"}
"""Owners of failures that a rerun may turn into a result of the model."""


class _CategoryKey(NamedTuple):
    owner: str
    rule: str
    """The rule that names the cause; empty where a bucket does."""
    bucket: str = ""


def collect_categories(batch: BatchAttempts) -> tuple[BatchCategory, ...]:
    """The largest first; of equally large ones the framework's first."""
    groups: dict[_CategoryKey, list[str]] = {}
    for case, attempt in sorted(batch.failing.items(), key=lambda pair: batch.tests[pair[0]].id):
        groups.setdefault(_key(batch, attempt.id), []).append(case)
    ordered = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0].owner not in FRAMEWORK, pair[0]))
    letters = [*ascii_uppercase, *(f"{first}{second}" for first in ascii_uppercase for second in ascii_uppercase)]
    return tuple(_category(letter, key, cases, batch) for letter, (key, cases) in zip(letters, ordered, strict=False))


def _key(batch: BatchAttempts, attempt: str) -> _CategoryKey:
    """A bucket that a reviewer names comes before the rule."""
    owner, verdict = batch.owner(attempt) or "unknown", batch.verdict(attempt)
    if verdict is not None and verdict.bucket:
        return _CategoryKey(owner, "", verdict.bucket)
    return _CategoryKey(owner, _rule(batch, attempt))


def _rule(batch: BatchAttempts, attempt: str) -> str:
    """The rule that names the cause; a rule that a reviewer contradicts names none."""
    rule = batch.agreeing_rule(attempt)
    return "" if rule in BY_DEFAULT else rule


def _category(letter: str, key: _CategoryKey, cases: Sequence[str], batch: BatchAttempts) -> BatchCategory:
    attempts = [batch.failing[case] for case in cases]
    rules = {_rule(batch, one.id) for one in attempts}
    rule = rules.pop() if len(rules) == 1 else ""
    verdicts = [batch.verdict(one.id) for one in attempts]
    causes = {one.cause if one is not None else "" for one in verdicts}
    confidences = [batch.confidence(one.id) for one in attempts]
    costs = [one.usage.cost for one in attempts if one.usage.cost is not None]
    tokens = [one.usage.subject.total for one in attempts if one.usage.subject.total is not None]
    scores = [one.reported for one in attempts if one.reported is not None]
    bars = {one.threshold for one in attempts if one.threshold is not None}
    hits = [hits_of(one) for one in attempts]
    same_hits = {(one.count, one.of): one for one in hits if one is not None}
    error = _shared_error(attempts)
    return BatchCategory(
        letter=letter,
        owner=key.owner,
        bucket=key.bucket,
        cause=causes.pop() if len(causes) == 1 else "",
        rule=rule,
        rule_means=batch.means(rule) if rule else "",
        fix=_fix([one for one in verdicts if one is not None]) or (batch.rule_fix(rule) if rule else None),
        confidence=max(confidences, key=("certain", "likely", "weak").index),
        weak=confidences.count("weak"),
        tests=tuple(batch.tests[case].id for case in cases),
        cost=sum(costs) if costs else None,
        error=error,
        error_type=_error_type(attempts[0]) if error else "",
        hits=next(iter(same_hits.values())) if len(same_hits) == 1 else None,
        struck_whole=sum(one.count == one.of for one in hits if one) if all(hits) else None,
        spent=sum(bool(one.usage.cost) for one in attempts),
        priced=len(costs),
        tokens=sum(tokens) if tokens else None,
        zero_scores=sum(not one for one in scores),
        best_score=max(scores) if scores else None,
        ended_at_once=_seconds(attempts, at_once=True),
        ended_later=_seconds(attempts, at_once=False),
        threshold=bars.pop() if len(bars) == 1 else None,
        stored=tuple(batch.tests[case].id for case in cases if batch.children.get(case)),
        framework=key.owner in FRAMEWORK,
        provisional=not all(batch.is_final(one.id) for one in attempts),
    )


def _fix(verdicts: Sequence[Verdict]) -> BatchFix | None:
    """What reviewers name for most of its failures."""
    fixes = Counter(fix for fix in map(fix_of_verdict, verdicts) if fix is not None)
    return fixes.most_common(1)[0][0] if fixes else None


def _seconds(attempts: Sequence[Attempt], *, at_once: bool) -> Seconds | None:
    known = (one.duration for one in attempts if one.duration is not None and not one.usage.cost)
    some = sorted(one for one in known if (one < AT_ONCE) == at_once)
    return Seconds(tests=len(some), least=some[0], most=some[-1]) if some else None


def _error_type(attempt: Attempt) -> str:
    return attempt.lasting_error.type if attempt.lasting_error is not None else ""


def _shared_error(attempts: Sequence[Attempt]) -> str:
    """Where all have the same error but for numbers and names."""
    errors = [one.lasting_error for one in attempts]
    shapes = {(one.type, mask(one.message)) if one is not None else None for one in errors}
    if len(shapes) != 1 or errors[0] is None:
        return ""
    return exact(errors[0].message, errors[0])
