"""The facts of one run's report, collected from its view: triage, reviews, buckets, scores and memory."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from errata.compare.comparison import categories_of_run, change_since
from errata.compare.scores import Policy
from errata.model import Attempt, Bucket
from errata.model.attempt import NO_OUTPUT
from errata.model.cells import Cell
from errata.model.counts import holds_only_failures
from errata.model.identity import split_attempt_id
from errata.model.output.report.run import (
    ActionEffect,
    BadResult,
    Bounds,
    CategoryTest,
    EarlierReport,
    Impact,
    ImpactKind,
    Pattern,
    PreviousRun,
    RunFailure,
    RunReport,
    RunSubject,
    RunValues,
    SharedText,
    StepCount,
    StepKind,
)
from errata.model.output.report.shared import ScoreLine
from errata.model.run import case_name
from errata.model.words import NOT_THE_SUBJECTS
from errata.report.run_advice import collect_advice
from errata.report.run_failures import RunFailures, collect_failures
from errata.report.run_prose import is_ours
from errata.report.shared import (
    count_passes,
    day_of,
    finding_facts,
    in_common,
    is_unjudged,
    passes_by_meaning,
    review_coverage,
    score_line,
    score_lines,
    strong_suspicions,
)
from errata.runs.first_page import cases_not_in_log, harness_count
from errata.runs.history import RunHistory
from errata.runs.names import variant_of
from errata.runs.view import RunView
from errata.text.outgoing import short_line

SHARED = 2
NAMED_PATTERNS, PATTERN, TEXT = 4, 160, 120
SKIPPED = 3
WORST = 10


def run_report(view: RunView, *, made: str) -> RunReport:
    """`made` is the day of the analysis, in UTC."""
    summary, history = view.summary, view.history
    survey = _survey(view)
    collected = collect_failures(view)
    failures = collected.failures
    lines = score_lines(summary.scores.scores)
    patterns = _patterns(view, collected)
    odd = strong_suspicions(view)
    return RunReport(
        subject=_subject(view, survey),
        made=made,
        reading=review_coverage(
            (one.attempt_id for one in failures),
            view.standings,
            by_default=sum(one.proof == "presumed" for one in failures),
        ),
        scores=lines,
        steps=tuple(_steps(collected, survey)),
        in_steps=survey.in_steps,
        failures=failures,
        nothing_failed=summary.nothing_failed,
        values=_values(view),
        patterns=patterns,
        shared_texts=tuple(_shared_texts(collected, patterns)),
        categories=tuple(_categories(view)),
        overlap=summary.overlap,
        since=_since(view, view.previous),
        predecessor=_since(view, view.predecessor),
        history=tuple(_history(history)),
        actions=tuple(_actions(view)),
        advice=collect_advice(failures, view.standings, history, broken=view.broken, missing=survey.missing),
        impact=tuple(_impact(failures)),
        bounds=_bounds(lines),
        after_fixes=summary.scores.after_fixes_output(),
        findings=tuple(finding_facts(summary.health.findings)),
        suspicious=passes_by_meaning(odd),
        suspicious_passes=count_passes(odd),
        suspects=summary.suspects,
        fit=summary.health.fit,
        doubts=summary.health.doubts,
        no_estimate=summary.no_estimate,
        skipped_reports=tuple(f"{one.path}: {one.why}" for one in history.report_files.skipped[:SKIPPED]),
    )


def _values(view: RunView) -> RunValues | None:
    scores = view.summary.scores
    policies: tuple[Policy, ...] = ("reviewed", "clean", "strict")
    policy = next((name for name in policies if scores.scores[name].total), policies[-1])
    score = scores.scores[policy]
    if score.mean is None or score.spread is None:
        return None
    parts = {name: every[policy] for name, every in scores.categories.items() if every[policy].mean is not None}
    return RunValues(
        score=score_line(score, policy),
        spread=score.spread,
        categories={name: score_line(part, policy) for name, part in parts.items()},
        lower_is_better=view.run.lower_is_better,
        worst=tuple(_worst(view)),
    )


def _worst(view: RunView) -> Iterator[BadResult]:
    """Cases with the worst results; a failure has a section of its own."""
    sign = -1 if view.run.lower_is_better else 1

    def worth(result: Cell | Attempt) -> float:
        return sign * (result.value or 0.0)

    known = [cell for cell in view.cells if cell.value is not None and not cell.fails]
    for cell in sorted(known, key=worth)[:WORST]:
        tries = [one for one in view.attempts(case=cell.case, counted=True) if one.value is not None]
        worst = min(tries, key=worth, default=None)
        output = worst.output if worst is not None else NO_OUTPUT
        answer = short_line(output.answer or output.text or "", TEXT)
        yield BadResult(case=case_name(view.run, cell.case), value=cell.value or 0.0, answer=answer)


class _Survey(NamedTuple):
    """The steps that the harness knows, whether they are steps at all, and what did not finish or is missing."""

    steps: tuple[str, ...]
    """The steps of the pipeline in their order."""
    in_steps: bool
    pending: tuple[str, ...]
    missing: tuple[str, ...]


def _survey(view: RunView) -> _Survey:
    tally = view.overview.tally
    order = tally.step_order
    return _Survey(
        steps=tuple(sorted(order, key=lambda name: order[name])),
        in_steps=bool(order) and not tally.has_other_checks,
        pending=tuple(case_name(view.run, case) for case in tally.pending),
        missing=tuple(case_name(view.run, case) for case in tally.missing),
    )


def _subject(view: RunView, survey: _Survey) -> RunSubject:
    run, stored, scores = view.run, view.stored, view.summary.scores
    cost, untold = scores.cost, cases_not_in_log(stored)
    passed, total = run.stated_passes or _passed(view)
    return RunSubject(
        native_id=run.native_id,
        run_id=run.id,
        source=run.source.name,
        model=run.subject.model,
        provider=run.subject.provider,
        agent=run.subject.agent,
        experiment=run.variant.get("experiment", ""),
        variant=tuple(variant_of(run, besides="experiment")),
        suite=run.suite,
        date=day_of(run),
        passed=passed,
        total=total,
        unit=scores.unit,
        counted_by="harness" if run.stated_passes else "strict",
        stated=scores.scores["as_reported"].stated,
        judged=not is_unjudged(stored),
        pending=survey.pending,
        missing=survey.missing,
        missing_unnamed=max(0, (run.expected_cases or 0) - stored.counts.cases - untold),
        not_in_log=untold,
        harness=harness_count(run) if untold else None,
        unavailable=bool(scores.unavailable),
        passed_by_nobody=view.summary.passed_by_nobody,
        excluded=run.excluded.reason if run.excluded is not None else "",
        cost=cost.total,
        costed=stored.counts.attempts_in_log - cost.unknown if cost.total is not None else 0,
        cost_of_failures=cost.of_failures,
        cost_per_pass=cost.per_pass,
        cost_of_subject=cost.of_subject,
        cost_of_judge=cost.of_judge,
        cost_of_simulator=cost.of_simulator,
        is_cost_of_simulator=cost.is_simulator_only,
    )


def _passed(view: RunView) -> tuple[int, int]:
    """Every expected case, where the harness does not state a pass rate of all that it ran."""
    strict, stored = view.summary.scores.scores["strict"], view.stored
    return (0, stored.counts.cases) if is_unjudged(stored) else (strict.passed, strict.total)


def _steps(collected: RunFailures, survey: _Survey) -> Iterator[StepCount]:
    """Every step that the harness has, including those at which nothing failed; what no check saw is first."""
    no_check = [""] if survey.in_steps or "" in collected.first_failed else []
    by_step: dict[tuple[StepKind, str], list[str]] = {}
    for name in (*no_check, *survey.steps):
        by_step["check" if name else "unchecked", name] = []
    for failure, first in zip(collected.failures, collected.first_failed, strict=True):
        kind: StepKind = "check" if first else "verdict" if failure.measured else "unchecked"
        by_step.setdefault((kind, first), []).append(failure.attempt_id)
    for (kind, step), attempts in by_step.items():
        if step or attempts or survey.in_steps or kind == "verdict":
            yield StepCount(step=step, kind=kind, count=len(attempts), attempts=tuple(attempts))


def _patterns(view: RunView, collected: RunFailures) -> tuple[Pattern, ...]:
    """Buckets of more than one failure, the largest first; what nobody has reviewed is apart from reviewed members."""
    sizes = Counter(collected.bucket_ids)
    members: dict[tuple[str, bool], list[RunFailure]] = {}
    for failure, bucket_id in zip(collected.failures, collected.bucket_ids, strict=True):
        if bucket_id and sizes[bucket_id] >= SHARED:
            apart = view.buckets[failure.attempt_id].is_apart and not failure.follows
            members.setdefault((bucket_id, apart), []).append(failure)
    known = [
        (bucket, apart, failures)
        for (bucket_id, apart), failures in members.items()
        if (bucket := view.known_buckets.get(bucket_id)) is not None
    ]
    known.sort(key=lambda one: (-len(one[2]), one[0].slug, one[1]))
    return tuple(_pattern(view, bucket, failures, apart=apart) for bucket, apart, failures in known)


def _pattern(view: RunView, bucket: Bucket, failures: Sequence[RunFailure], *, apart: bool) -> Pattern:
    return Pattern(
        title=view.buckets[failures[0].attempt_id].title if apart else bucket.title,
        cases=tuple(dict.fromkeys(one.case for one in failures)),
        rows=len(failures),
        status="assigned" if apart else bucket.status,
        reviewed=sum(one.reviewed and one.doubt != "inherited" for one in failures),
        parameters=in_common(bucket.parameters),
        documented=_documented(failures, view.history),
    )


def _documented(failures: Sequence[RunFailure], history: RunHistory) -> dict[str, int]:
    """Dates of earlier reports that name one of the failures, and how many of them."""
    dates: dict[str, int] = {}
    for failure in failures:
        for mention in history.mentions.cases.get(split_attempt_id(failure.attempt_id).case, ()):
            dates[mention.date] = dates.get(mention.date, 0) + 1
    return dict(sorted(dates.items()))


def _shared_texts(collected: RunFailures, patterns: Sequence[Pattern]) -> Iterator[SharedText]:
    """Texts that failures of different buckets share: a hint, and no cause that anybody has reviewed."""
    shown = {frozenset(one.cases) for one in patterns}
    for error in collected.shared_errors:
        if frozenset(error.cases) not in shown:
            text = f'"{error.text}"' if error.is_verbatim else error.text
            yield SharedText(text=short_line(text, TEXT), count=error.failures, cases=error.cases)


def _categories(view: RunView) -> Iterator[CategoryTest]:
    """Whether some are harder than others, as a comparison tests it; not where passes have no row, or no verdict."""
    clean = view.summary.scores.scores["clean"]
    is_tested = not holds_only_failures(view.stored)
    for category in categories_of_run(view.stored, view.cells, view.categories, clean):
        yield CategoryTest(
            name=category.name,
            cases=category.cases,
            failed=category.failed_rows,
            passed=category.passed,
            tried=category.tried if is_tested else None,
            hard=category.hard,
            p=category.p if is_tested else None,
            adjusted=category.adjusted if is_tested else None,
            harder=category.harder and is_tested,
        )


def _since(view: RunView, before: RunView | None) -> PreviousRun | None:
    """Against an earlier run of the model or of its predecessor; infrastructure failures are not a change."""
    if before is None or holds_only_failures(before.stored) or holds_only_failures(view.stored):
        return None
    clean = [one.scores().scores["clean"] for one in (before, view)]
    cells = [*before.cells, *view.cells]
    change = change_since(before.stored, view.stored, cells, clean, view.edited_since(before))
    same = before.run.subject.model == view.run.subject.model
    return PreviousRun(
        run=before.run.native_id,
        model="" if same else before.run.subject.model,
        date=day_of(before.run),
        failed_in_both=change.still_failing,
        fixed=change.fixed,
        broke=change.broke,
        regressed=tuple(case_name(view.run, case) for case in change.regressed),
        p=change.p,
        differs=change.differs,
        edited=change.edited,
        infrastructure=change.infrastructure,
    )


def _history(history: RunHistory) -> Iterator[EarlierReport]:
    for report in reversed(history.reports.same_model):
        named = () if report.own else report.patterns[:NAMED_PATTERNS]  # its own words prove nothing
        patterns = tuple(short_line(text, PATTERN) for text in named)
        yield EarlierReport(date=report.date, path=report.path, patterns=patterns)


def _actions(view: RunView) -> Iterator[ActionEffect]:
    for result in view.history.effects:
        action = result.action
        yield ActionEffect(
            date=action.date[:10],
            what=action.what,
            path=action.path,
            cases=tuple(case_name(view.run, case) for case in action.addresses),
            worked=result.worked,
            why=result.reason,
            case_effects=result.cases,
        )


def _impact(failures: Sequence[RunFailure]) -> Iterator[Impact]:
    kinds: tuple[tuple[ImpactKind, int], ...] = (
        ("model", sum(one.owner == "model" for one in failures)),
        ("known_gap", sum(one.label == "KNOWN_GAP" for one in failures)),
        ("eval", sum(is_ours(one) for one in failures)),
        ("budget", sum(one.owner == "budget" for one in failures)),
        ("infrastructure", sum(one.owner in NOT_THE_SUBJECTS for one in failures)),
        ("unknown", sum(one.owner == "unknown" for one in failures)),
    )
    yield from (Impact(kind=kind, count=count) for kind, count in kinds if count)


def _bounds(lines: Sequence[ScoreLine]) -> Bounds | None:
    """Of the best policy that was measured; none where it leaves nothing out."""
    by_policy = {one.policy: one for one in lines if one.total}
    best = next((by_policy[name] for name in ("reviewed", "clean") if name in by_policy), None)
    if best is None or best.if_failed is None or best.if_passed is None or not best.left_out:
        return None
    out = sum(best.left_out.values())
    return Bounds(policy=best.policy, low=best.if_failed, high=best.if_passed, left_out=out, total=best.total + out)
