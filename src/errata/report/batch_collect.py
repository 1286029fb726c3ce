"""The facts of a batch: every test with its counted result, earlier sessions, categories and fixes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median
from string import ascii_uppercase
from typing import NamedTuple

from errata.model import Attempt, Run, Verdict
from errata.model.output.report.batch import (
    BatchCategory,
    BatchFix,
    BatchLimits,
    BatchReport,
    BatchTest,
    EarlierResult,
    Seconds,
    Share,
    Spread,
    SpreadGroup,
)
from errata.model.run import case_name
from errata.model.words import NOT_THE_SUBJECTS
from errata.render.files import unique_keys
from errata.report.batch_failures import BatchAttempts, collect_failures, exact, fix_of_verdict, hits_of
from errata.report.batch_prose import PERIOD
from errata.report.shared import (
    count_passes,
    day_of,
    finding_facts,
    passes_by_meaning,
    review_coverage,
    score_lines,
    strong_suspicions,
)
from errata.runs.explanation import BY_DEFAULT
from errata.runs.first_page import best_of, doubts_of, why_no_estimate
from errata.runs.view import RunView
from errata.text.mask import mask
from errata.text.outgoing import for_others, outgoing_line

RESERVED = ("epic", "links", "analysis")
"""Names of pages that do not belong to a test."""
WHOLE = 1.0
ROUNDED = 0.0006
"""Scores are written with three digits."""
USUAL_SUBTESTS, MOST_SUBTESTS = 3, 10


def batch_report(view: RunView, *, made: str) -> BatchReport:
    """`made` is the day of the analysis."""
    scores, timeline = view.scores(), view.timeline
    batch = collect_batch(view)
    tests = tuple(sorted(batch.tests.values(), key=lambda one: one.id))
    categories = collect_categories(batch)
    failures = tuple(collect_failures(batch, categories))
    odd = strong_suspicions(view)
    findings, best = view.health.findings, best_of(scores.scores)
    doubts = doubts_of(findings, count_passes(odd), best)
    cost = scores.cost
    priced = cost.cost_of_pass
    names = {one.case: batch.tests[one.case].id for one in timeline.changes}
    return BatchReport(
        name=view.run.name or view.run.native_id,
        run_id=view.run.id,
        handle=view.handle,
        date=day_of(view.run),
        model=view.run.subject.model,
        made=made,
        reading=review_coverage(
            (one.id for one in batch.failing.values()),
            view.standings,
            by_default=sum(one.proof == "presumed" for one in failures),
        ),
        scores=score_lines(scores.scores),
        fit=view.health.fit,
        no_estimate=why_no_estimate(view.stored, best, findings=findings, doubts=doubts),
        config=tuple(_config(view.run)),
        tests=tests,
        cost=cost.total,
        cost_of_passes=cost.of_passes,
        cost_of_failures=cost.of_failures,
        unknown_costs=cost.unknown,
        mean_cost_of_pass=priced.mean if priced else None,
        median_cost_of_pass=priced.median if priced else None,
        priced_passes=priced.priced if priced else 0,
        sessions=view.timeline.sessions,
        resumed=len(view.run.sessions) > 1,
        hidden_passes=tuple(names[one.case] for one in timeline.hidden_passes),
        hidden_passes_cost=_sum(one.cost for one in timeline.hidden_passes),
        hidden_fails=tuple(names[one.case] for one in timeline.hidden_fails),
        never_measured=tuple(batch.tests[case].id for case in timeline.never_measured),
        costs=tuple(_costs(tests, categories)),
        durations=tuple(_durations(tests, categories)),
        categories=categories,
        failures=failures,
        limits=_limits(batch),
        findings=tuple(one for one in finding_facts(findings) if one.severity == "error"),
        suspicious=passes_by_meaning(odd),
        suspicious_passes=count_passes(odd),
    )


def collect_batch(view: RunView) -> BatchAttempts:
    """Where a case was tried several times, a failed attempt represents it."""
    counted: dict[str, Attempt] = {}
    earlier: dict[str, list[Attempt]] = {}
    children: dict[str, list[Attempt]] = {}
    for attempt in view.attempts():
        if attempt.parent is not None:
            children.setdefault(attempt.case, []).append(attempt)
        elif not attempt.counted:
            earlier.setdefault(attempt.case, []).append(attempt)
        elif attempt.case not in counted or not counted[attempt.case].is_failure:
            counted[attempt.case] = attempt
    tests: dict[str, BatchTest] = {}
    batch = BatchAttempts(
        view=view,
        tests=tests,
        counted=counted,
        failing={case: attempt for case, attempt in counted.items() if attempt.is_failure},
        earlier=earlier,
        children=children,
        cases=view.case_book(),
    )
    names = {case: case_name(view.run, case) for case in sorted(counted)}
    hidden = _hidden(batch)
    keys = unique_keys(map(outgoing_line, names.values()), reserved=RESERVED)
    for (case, name), key in zip(names.items(), keys, strict=True):
        tests[case] = _test(batch, counted[case], key, name, hidden.get(case))
    return batch


def _test(batch: BatchAttempts, attempt: Attempt, key: str, name: str, hidden: EarlierResult | None) -> BatchTest:
    best = next((one for one in attempt.checks if one.is_primary), None)
    case, passed, spent = batch.cases.of(attempt), attempt.outcome == "pass", attempt.usage.cost
    return BatchTest(
        key=key,
        id=name,
        name=case.name if case is not None and not name.endswith(case.name) else "",
        status=for_others(attempt.native_status or attempt.outcome).upper(),
        passed=passed,
        part=_part(attempt.reported, _subtests(batch.view.run)) if passed else None,
        tier=best.name if best is not None else _best_tier(attempt),
        score=attempt.reported,
        cost_of_pass=attempt.cost_of_pass,
        nothing_passed=attempt.outcome == "fail" and bool(spent) and attempt.cost_of_pass is None,
        cost=spent,
        seconds=attempt.duration,
        exit_code=attempt.exit_code,
        owner="" if passed else batch.owner(attempt.id),
        earlier=hidden,
    )


def _best_tier(attempt: Attempt) -> str:
    return next((part.path for part in attempt.parts if part.is_best and "/" not in part.path), "")


def _part(score: float | None, subtests: int) -> Share | None:
    """Where a score is a share of the subtests, such as 0.667 of three, and not a judge's mark of a whole pass."""
    if score is None or score >= WHOLE:
        return None
    shares = (Share(count=round(score * of), of=of) for of in range(2, subtests + 1))
    return next((one for one in shares if abs(score * one.of - one.count) < ROUNDED * one.of), None)


def _subtests(run: Run) -> int:
    config = run.environment.get("config")
    most = config.get("max_subtests") if isinstance(config, dict) else None
    return most if isinstance(most, int) and 2 <= most <= MOST_SUBTESTS else USUAL_SUBTESTS


def _hidden(batch: BatchAttempts) -> dict[str, EarlierResult]:
    """Case → the result of an earlier session that the counted session hides."""
    timeline = batch.view.timeline
    results = {case: EarlierResult(was="not_measured") for case in timeline.never_measured}
    for change in timeline.changes:
        tries = batch.earlier.get(change.case, ())
        tried = next((one for one in tries if (one.session or 0) == change.session), None)
        result = EarlierResult(
            was="pass" if change.was == "pass" else "fail",
            session=change.session,
            score=tried.reported if tried is not None else None,
            cost=change.cost,
        )
        results.setdefault(change.case, result)
    return results


def _limits(batch: BatchAttempts) -> BatchLimits:
    models = [case for case, one in batch.failing.items() if batch.owner(one.id) == "model"]
    counts = batch.view.stored.counts
    return BatchLimits(
        stored_tests=tuple(batch.tests[case].id for case in sorted(batch.children) if case in batch.tests),
        more_tries=counts.counted - len(batch.counted),
        unreadable=counts.unreadable,
        model_failures=len(models),
        model_failures_without_runs=sum(not batch.children.get(case) for case in models),
    )


def _config(run: Run) -> Iterable[tuple[str, str]]:
    yield "model", run.subject.model or "unknown"
    yield from run.roles.items()
    config = run.environment.get("config")
    for name, value in (config if isinstance(config, dict) else {}).items():
        if name not in ("model", "judge_model"):
            yield name.replace("_", " "), ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    if run.started_at and run.finished_at:
        yield PERIOD, f"{run.started_at[:19].replace('T', ' ')} – {run.finished_at[:19].replace('T', ' ')}"


def _groups(
    tests: Sequence[BatchTest], categories: Sequence[BatchCategory]
) -> Iterable[tuple[SpreadGroup, list[BatchTest]]]:
    framework = {test for one in categories if one.framework for test in one.tests}
    yield "passed", [one for one in tests if one.passed]
    listed = {test for one in categories for test in one.tests}
    failed = [one for one in tests if one.id in listed]
    yield "failed_model", [one for one in failed if one.owner == "model"]
    yield "failed_framework", [one for one in failed if one.id in framework]
    yield "failed_other", [one for one in failed if one.owner != "model" and one.id not in framework]


def _costs(tests: Sequence[BatchTest], categories: Sequence[BatchCategory]) -> Iterable[Spread]:
    groups: list[tuple[SpreadGroup, list[BatchTest]]] = [*_groups(tests, categories), ("all", list(tests))]
    for group, members in groups:
        costs = [one.cost for one in members if one.cost is not None]
        if members:
            prices = [one.cost_of_pass for one in members if one.passed and one.cost_of_pass is not None]
            yield Spread(
                group=group,
                tests=len(members),
                total=_sum(costs),
                mean=fmean(costs) if costs else None,
                pass_mean=fmean(prices) if prices and group == "passed" else None,
                pass_median=median(prices) if prices and group == "passed" else None,
            )


def _durations(tests: Sequence[BatchTest], categories: Sequence[BatchCategory]) -> Iterable[Spread]:
    for group, members in _groups(tests, categories):
        seconds = [one.seconds for one in members if one.seconds is not None]
        if seconds:
            yield Spread(group=group, tests=len(seconds), least=min(seconds), median=median(seconds), most=max(seconds))


def _sum(values: Iterable[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return sum(known) if known else None


# --- the failures of a batch in categories: by the cause that reviewers name, else by the rule that names one


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
        error_type=attempts[0].lasting_error.type if error and attempts[0].lasting_error else "",
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


def _shared_error(attempts: Sequence[Attempt]) -> str:
    """Where all have the same error but for numbers and names."""
    errors = [one.lasting_error for one in attempts]
    shapes = {(one.type, mask(one.message)) if one is not None else None for one in errors}
    if len(shapes) != 1 or errors[0] is None:
        return ""
    return exact(errors[0].message, errors[0])
