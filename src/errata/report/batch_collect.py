"""The facts of a batch: every test as it counts now, what earlier sessions had found, categories and what to do."""

from collections.abc import Iterable, Sequence
from statistics import fmean, median

from errata.compare.sessions import Timeline
from errata.issues.manifest import keys_for
from errata.model import Attempt, StoredRun
from errata.model.output.report.batch import BatchReport, Category, Session, Spread, Test
from errata.model.run import case_name
from errata.report.batch_categories import categorised
from errata.report.batch_failures import Batch, failure_facts
from errata.report.batch_prose import advice_of, answer_of, limits_of, quiet_exits, warning_of
from errata.report.shared import day_of, review_coverage, score_lines
from errata.runs.names import handle_of
from errata.runs.scores import score_run
from errata.runs.standings import standing_now
from errata.runs.timeline import timeline_of
from errata.store.attempts import attempts_of, cases_of
from errata.store.attributions import attributions_of
from errata.store.database import Store
from errata.text.outgoing import washed

PASSED = "passed"
WHOLE = 1.0
ROUNDED = 0.0006
"""Scores are written with three digits."""
USUAL_SUBTESTS, MOST_SUBTESTS = 3, 10


def batch_report(stored: StoredRun, store: Store, *, made: str) -> BatchReport:
    """`made` is the day of the analysis."""
    scores = score_run(stored, store)
    timeline = timeline_of(stored, store)
    batch = collect(stored, store, timeline)
    tests = tuple(sorted(batch.tests.values(), key=lambda one: one.id))
    categories = categorised(batch)
    failures = tuple(failure_facts(batch, categories))
    said = standing_now(stored, store)
    cost = scores.cost
    priced = cost.cost_of_pass
    names = {one.case: batch.tests[one.case].id for one in timeline.changes}
    return BatchReport(
        name=stored.run.name or stored.run.native_id,
        run_id=stored.run.id,
        handle=handle_of(stored, store),
        date=day_of(stored.run),
        model=stored.run.subject.model or "unknown model",
        made=made,
        answer=answer_of(tests, categories, timeline),
        warning=warning_of(scores),
        reading=review_coverage((one.id for one in batch.failing.values()), said),
        scores=score_lines(scores.scores),
        config=tuple(_config(stored)),
        tests=tests,
        cost=cost.total,
        cost_of_passes=cost.of_passes,
        cost_of_failures=cost.of_failures,
        unknown_costs=cost.unknown,
        mean_cost_of_pass=priced.mean if priced else None,
        median_cost_of_pass=priced.median if priced else None,
        priced_passes=priced.priced if priced else 0,
        sessions=tuple(_sessions(timeline)),
        hidden_passes=tuple(names[one.case] for one in timeline.hidden_passes),
        hidden_passes_cost=_sum(one.cost for one in timeline.hidden_passes),
        hidden_fails=tuple(names[one.case] for one in timeline.hidden_fails),
        never_measured=tuple(batch.tests[case].id for case in timeline.never_measured),
        costs=tuple(_costs(tests, categories)),
        durations=tuple(_durations(tests, categories)),
        categories=categories,
        failures=failures,
        advice=(*advice_of(categories, timeline, stored), *quiet_exits(failures, categories)),
        limits=tuple(limits_of(batch, stored)),
    )


def collect(stored: StoredRun, store: Store, timeline: Timeline) -> Batch:
    """Of a case that was tried several times, a try that failed stands for it."""
    counted: dict[str, Attempt] = {}
    earlier: dict[str, list[Attempt]] = {}
    children: dict[str, list[Attempt]] = {}
    for attempt in attempts_of(store, stored.pk):
        if attempt.parent is not None:
            children.setdefault(attempt.case, []).append(attempt)
        elif not attempt.counted:
            earlier.setdefault(attempt.case, []).append(attempt)
        elif attempt.case not in counted or not counted[attempt.case].is_failure:
            counted[attempt.case] = attempt
    tests: dict[str, Test] = {}
    batch = Batch(
        stored=stored,
        store=store,
        tests=tests,
        counted=counted,
        failing={case: attempt for case, attempt in counted.items() if attempt.is_failure},
        earlier=earlier,
        children=children,
        cases={one.key: one for one in cases_of(store, stored.pk)},
        attributed=attributions_of(store, stored.pk),
        timeline=timeline,
    )
    names = {case: case_name(stored.run, case) for case in sorted(counted)}
    hidden = _hidden(batch)
    for (case, name), key in zip(names.items(), keys_for(map(washed, names.values())), strict=True):
        tests[case] = _test(batch, counted[case], key, name, hidden.get(case, ""))
    return batch


def _test(batch: Batch, attempt: Attempt, key: str, name: str, hidden: str) -> Test:
    best = next((one for one in attempt.checks if one.is_primary), None)
    case, passed, spent = batch.cases.get(attempt.case), attempt.outcome == "pass", attempt.usage.cost
    return Test(
        key=key,
        id=name,
        name=case.name if case is not None and not name.endswith(case.name) else "",
        status=(attempt.native_status or attempt.outcome).upper(),
        passed=passed,
        part=_part(attempt.reported, _subtests(batch.stored)) if passed else "",
        tier=best.name if best is not None else "",
        score=attempt.reported,
        cost_of_pass=attempt.cost_of_pass,
        nothing_passed=attempt.outcome == "fail" and bool(spent) and attempt.cost_of_pass is None,
        cost=spent,
        seconds=attempt.duration,
        exit_code=attempt.exit_code,
        owner="" if passed else batch.owner(attempt.id),
        earlier=hidden,
    )


def _part(score: float | None, subtests: int) -> str:
    """Where a score is a share of the subtests, such as 0.667 of three, and not a judge's mark of a whole pass."""
    if score is None or score >= WHOLE:
        return ""
    shares = ((of, round(score * of)) for of in range(2, subtests + 1))
    fitting = (f"{part} of {of} subtests" for of, part in shares if abs(score * of - part) < ROUNDED * of)
    return next(fitting, "")


def _subtests(stored: StoredRun) -> int:
    told = stored.run.environment.get("config")
    most = told.get("max_subtests") if isinstance(told, dict) else None
    return most if isinstance(most, int) and 2 <= most <= MOST_SUBTESTS else USUAL_SUBTESTS


def _hidden(batch: Batch) -> dict[str, str]:
    """Case → what an earlier session had found, where the one that counts hides it."""
    found = dict.fromkeys(batch.timeline.never_measured, "not run")
    for change in batch.timeline.changes:
        tries = batch.earlier.get(change.case, ())
        tried = next((one for one in tries if (one.session or 0) == change.session), None)
        score = f" {tried.reported:.3f}" if tried is not None and tried.reported is not None else ""
        cost = f" ${change.cost:.4f}" if change.cost is not None else ""
        found.setdefault(change.case, f"{change.was.upper()}{score}{cost} in session {change.session}")
    return found


def _config(stored: StoredRun) -> Iterable[tuple[str, str]]:
    run = stored.run
    yield "model", run.subject.model or "unknown"
    yield from run.roles.items()
    told = run.environment.get("config")
    for name, value in (told if isinstance(told, dict) else {}).items():
        if name not in ("model", "judge_model"):
            yield name.replace("_", " "), ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    if run.started_at and run.finished_at:
        yield "from, to (UTC)", f"{run.started_at[:19].replace('T', ' ')} – {run.finished_at[:19].replace('T', ' ')}"


def _sessions(timeline: Timeline) -> Iterable[Session]:
    for one in timeline.sessions:
        start, end = ((moment or "–")[:19].replace("T", " ") for moment in (one.started_at, one.finished_at))
        yield Session(
            number=one.number,
            when=f"{start} – {end[11:] if end[:10] == start[:10] else end}",
            tried=one.tried,
            passed=one.passed,
            failed=one.failed,
            not_measured=one.not_measured,
            cost=one.cost,
            exit_codes=", ".join(f"{code} for {often}" for code, often in one.exit_codes.items()),
            pattern=one.pattern,
        )


def _groups(tests: Sequence[Test], categories: Sequence[Category]) -> Iterable[tuple[str, list[Test]]]:
    framework = {test for one in categories if one.framework for test in one.tests}
    yield PASSED, [one for one in tests if one.passed]
    yield "failed, model", [one for one in tests if not one.passed and one.id not in framework]
    yield "failed, framework", [one for one in tests if not one.passed and one.id in framework]


def _costs(tests: Sequence[Test], categories: Sequence[Category]) -> Iterable[Spread]:
    for group, members in (*_groups(tests, categories), ("all", list(tests))):
        costs = [one.cost for one in members if one.cost is not None]
        if members:
            prices = [one.cost_of_pass for one in members if one.passed and one.cost_of_pass is not None]
            yield Spread(
                group=group,
                tests=len(members),
                total=_sum(costs),
                mean=fmean(costs) if costs else None,
                pass_mean=fmean(prices) if prices and group == PASSED else None,
                pass_median=median(prices) if prices and group == PASSED else None,
            )


def _durations(tests: Sequence[Test], categories: Sequence[Category]) -> Iterable[Spread]:
    for group, members in _groups(tests, categories):
        seconds = [one.seconds for one in members if one.seconds is not None]
        if seconds:
            yield Spread(group=group, tests=len(seconds), least=min(seconds), median=median(seconds), most=max(seconds))


def _sum(values: Iterable[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return sum(known) if known else None
