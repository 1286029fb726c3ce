"""The facts of a batch: every test with its counted result, earlier sessions, categories and fixes."""

from collections.abc import Iterable, Sequence
from statistics import fmean, median

from errata.model import Attempt, Run
from errata.model.output.report.batch import (
    BatchCategory,
    BatchLimits,
    BatchReport,
    BatchSession,
    BatchTest,
    EarlierResult,
    Share,
    Spread,
    SpreadGroup,
)
from errata.model.run import case_name
from errata.render.files import unique_keys
from errata.report.batch_categories import collect_categories
from errata.report.batch_failures import BatchAttempts, collect_failures
from errata.report.shared import day_of, review_coverage, score_lines
from errata.runs.view import RunView
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
        reading=review_coverage((one.id for one in batch.failing.values()), view.standings),
        scores=score_lines(scores.scores),
        fit=view.health.fit,
        config=tuple(_config(view.run)),
        tests=tests,
        cost=cost.total,
        cost_of_passes=cost.of_passes,
        cost_of_failures=cost.of_failures,
        unknown_costs=cost.unknown,
        mean_cost_of_pass=priced.mean if priced else None,
        median_cost_of_pass=priced.median if priced else None,
        priced_passes=priced.priced if priced else 0,
        sessions=tuple(_sessions(view)),
        resumed=len(view.run.sessions) > 1,
        hidden_passes=tuple(names[one.case] for one in timeline.hidden_passes),
        hidden_passes_cost=_sum(one.cost for one in timeline.hidden_passes),
        hidden_fails=tuple(names[one.case] for one in timeline.hidden_fails),
        never_measured=tuple(batch.tests[case].id for case in timeline.never_measured),
        costs=tuple(_costs(tests, categories)),
        durations=tuple(_durations(tests, categories)),
        categories=categories,
        failures=tuple(collect_failures(batch, categories)),
        limits=_limits(batch),
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
        yield "from, to (UTC)", f"{run.started_at[:19].replace('T', ' ')} – {run.finished_at[:19].replace('T', ' ')}"


def _sessions(view: RunView) -> Iterable[BatchSession]:
    for session in view.timeline.sessions:
        yield BatchSession(
            number=session.number,
            started_at=session.started_at,
            finished_at=session.finished_at,
            tried=session.tried,
            passed=session.passed,
            failed=session.failed,
            not_measured=session.not_measured,
            cost=session.cost,
            exit_codes=session.exit_codes,
            pattern=session.pattern,
        )


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
