"""The facts of a report about several runs: failed rows by cause, what is shared, what sets each apart."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from errata.compare.comparison import Comparison
from errata.compare.sets import Uniques
from errata.model import Attempt, StoredRun
from errata.model.output.act import WhyNoCommand
from errata.model.output.report.comparison import (
    CaseApart,
    CaseGrid,
    CategoryRows,
    ComparisonReport,
    Dimension,
    LeftOutRun,
    ModelMode,
    PairTest,
    QuotedLine,
    RepeatedCases,
    ReportedModel,
    ReportedRun,
    RowDoubt,
    SuiteDifference,
    Unique,
    UnmeasuredCase,
    UnmeasuredWhy,
)
from errata.model.output.report.shared import FindingFact, ReviewCoverage, SuspiciousPasses
from errata.report.comparison_differences import model_comparison, run_changes
from errata.report.comparison_modes import FoundMode, collect_modes, collect_reviewer_advice, mistake_of
from errata.report.comparison_rows import (
    NO_VERDICT,
    ComparedRun,
    ReportedCaseNames,
    called,
    collect_rows,
    compared_cases,
    owner_of,
    proofs_of,
    sureness_of,
)
from errata.report.shared import count_passes, finding_facts, review_coverage, score_lines, strong_suspicions
from errata.rerun.selection import Rerun
from errata.runs.first_page import best_of, doubts_of, why_no_estimate
from errata.runs.names import are_judged_turns
from errata.runs.suspicions import SuspiciousPass
from errata.runs.view import RunView
from errata.text.outgoing import short_line

GRID = 200
APART = 10
"""Cases that fit into a grid."""


def comparison_report(
    views: Sequence[RunView], comparison: Comparison, *, made: str, reruns: Mapping[int, Rerun] | None = None
) -> ComparisonReport:
    """`comparison` is of these runs, or of some of them; `made` is the day of the analysis.

    `reruns`: by a run's number, how to make up for what was not measured.
    """
    names = ReportedCaseNames(comparison)
    by_pk = {view.stored.pk: view for view in views}
    cases = compared_cases(comparison)
    runs = [collect_rows(one.label, by_pk[one.runs[0].pk], names, cases) for one in comparison.runs]
    modes = collect_modes(runs)
    odd = [strong_suspicions(run.view, cases) for run in runs]
    sets, first = comparison.sets, runs[0].view.run
    return ComparisonReport(
        suite=first.suite or first.source.name,
        cases=len(comparison.matrix.rows),
        case_word="turn" if names.are_turns else "case",
        conversations=are_judged_turns([one.view.stored for one in runs]),
        made=made,
        reading=_coverage(runs),
        runs=tuple(
            _run(
                run,
                at,
                comparison,
                repeat=_repeat(run.view.stored, names, reruns or {}),
                suspicious=count_passes(odd[at]),
            )
            for at, run in enumerate(runs)
        ),
        models=tuple(_models(runs, comparison, modes, names)),
        dimensions=tuple(_dimensions(runs)),
        modes=tuple(one.mode for one in modes),
        failed_by_all_runs=names.of(sets.failed_by_all.runs),
        failed_by_all_models=names.of(sets.failed_by_all.subjects_in_some_run),
        knock_on_in=_knock_on_in(comparison, names),
        uniques=tuple(_uniques(comparison, names)),
        asks={names.name_of(case): asked for case, asked in comparison.asks.items()},
        pairs=tuple(_pairs(comparison)),
        differences_by_model=model_comparison(comparison),
        changes=run_changes(comparison, names),
        categories=tuple(_categories(comparison)),
        overlap=comparison.overlap,
        grid=None if comparison.matrix.has_only_numbers else _grid(comparison, names, runs),
        apart=tuple(_apart(comparison, names)),
        advice=tuple(collect_reviewer_advice(runs, modes)),
        doubts=tuple(_doubts(runs)),
        suspicious=tuple(_suspicious(runs, odd)),
        suspects=comparison.suspects,
        findings=tuple(_findings(runs)),
        not_included=tuple(_left_out(comparison, names, reruns or {})),
        differences=tuple(
            SuiteDifference(what=difference.what, values=difference.values, cases=difference.cases)
            for difference in comparison.differences
        ),
    )


def _left_out(comparison: Comparison, names: ReportedCaseNames, reruns: Mapping[int, Rerun]) -> Iterator[LeftOutRun]:
    for stored, why in comparison.left_out:
        repeat = _repeat(stored, names, reruns) if why.code == "not_scored" else ()
        yield LeftOutRun(run=stored.run.native_id, why=why.code, excluded=why.detail, repeat=repeat)


def _repeat(stored: StoredRun, names: ReportedCaseNames, reruns: Mapping[int, Rerun]) -> tuple[RepeatedCases, ...]:
    rerun = reruns.get(stored.pk)
    return tuple(repeated_cases(rerun, names)) if rerun is not None else ()


def _knock_on_in(comparison: Comparison, names: ReportedCaseNames) -> dict[str, tuple[str, ...]]:
    """Of the cases that all fail: the runs where it is only a consequence."""
    by_all = comparison.sets.failed_by_all
    listed = {}
    for case in dict.fromkeys((*by_all.runs, *by_all.subjects_in_some_run)):
        where = [one.label for one in comparison.matrix.columns if (one.pk, case) in comparison.root_of]
        if where:
            listed[names.name_of(case)] = tuple(map(called, where))
    return listed


def _run(
    run: ComparedRun, at: int, comparison: Comparison, *, repeat: tuple[RepeatedCases, ...], suspicious: int
) -> ReportedRun:
    patterns = {each.name: each.by_run[at] for each in comparison.patterns}
    supported, presumed = proofs_of(run)
    health, best = run.view.health, best_of(comparison.runs[at].scores)
    doubts = doubts_of(health.findings, suspicious, best)
    return ReportedRun(
        label=run.label,
        handle=run.view.handle,
        native_id=run.view.run.native_id,
        model=run.view.run.subject.model,
        rows=run.made,
        judged=run.judged,
        passed=run.passed,
        failed=len(run.rows),
        no_verdict=tuple(run.no_verdict),
        missing=tuple(run.missing),
        patterns=patterns,
        dimensions=_tally(name for row in run.rows for name in row.failed),
        scores=score_lines(comparison.runs[at].scores),
        fit=health.fit,
        doubts=doubts,
        no_estimate=why_no_estimate(run.view.stored, best, findings=health.findings, doubts=doubts),
        unmeasured=tuple(unmeasured_cases(run)),
        repeat=repeat,
        owners=_tally(owner_of(row, run) for row in run.rows),
        how_sure=_how_sure(run),
        suspicious=suspicious,
        supported=supported,
        presumed=dict(presumed.most_common()),
    )


def _how_sure(run: ComparedRun) -> dict[str, dict[str, int]]:
    words: dict[str, Counter[str]] = {}
    for row in run.rows:
        words.setdefault(owner_of(row, run), Counter())[sureness_of(row, run)] += 1
    return {owner: dict(counts.most_common()) for owner, counts in sorted(words.items())}


def _tally(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items(), key=lambda pair: (-pair[1], pair[0])))


def _dimensions(runs: Sequence[ComparedRun]) -> Iterator[Dimension]:
    order: dict[str, int] = {}
    for run in runs:
        for name, place in run.order.items():
            order[name] = min(order.get(name, place), place)
    for name in sorted(order, key=lambda each: (order[each], each)):
        failed = tuple(sum(name in row.failed for row in one.rows) for one in runs)
        yield Dimension(name=name, failed=failed, applicable=tuple(one.applicable[name] for one in runs))


def _coverage(runs: Sequence[ComparedRun]) -> ReviewCoverage:
    standings = {attempt: found for one in runs for attempt, found in one.view.standings.items()}
    by_default = sum(proofs_of(one)[1].total() for one in runs)
    return review_coverage((row.attempt.id for one in runs for row in one.rows), standings, by_default=by_default)


def _models(
    runs: Sequence[ComparedRun], comparison: Comparison, modes: Sequence[FoundMode], names: ReportedCaseNames
) -> Iterator[ReportedModel]:
    for subject, places in comparison.matrix.subjects.items():
        mine = [runs[at] for at in places]
        steady = comparison.sets.instability.get(subject)
        rows = [row for one in mine for row in one.rows]
        shown = [_of_model(one, places, runs) for one in modes]
        patterns = {one.name: sum(one.by_run[at] for at in places) for one in comparison.patterns}
        yield ReportedModel(
            name=subject,
            runs=tuple(one.label for one in mine),
            failed=len(rows),
            followers=sum(row.follows for row in rows),
            modes=tuple(
                sorted((one for one in shown if one is not None), key=lambda one: -len(one.cases + one.following))
            ),
            dimensions=_tally(name for row in rows for name in row.failed),
            patterns={name: often for name, often in patterns.items() if often},
            unstable=names.of(steady.unstable) if steady else (),
            failed_in_every_run=names.of(steady.failed_in_every_run) if steady else (),
        )


def _of_model(found_mode: FoundMode, places: Sequence[int], runs: Sequence[ComparedRun]) -> ModelMode | None:
    members = [(at, row) for at, row in found_mode.members if at in places]
    if not members:
        return None
    return ModelMode(
        title=found_mode.mode.title,
        label=found_mode.mode.label,
        mistake=mistake_of(members, runs),
        cases=tuple(row.name for _, row in members if not row.follows),
        following=tuple(row.name for _, row in members if row.follows),
        dimensions=_tally(name for _, row in members for name in row.failed),
    )


def _uniques(comparison: Comparison, names: ReportedCaseNames) -> Iterator[Unique]:
    """What sets every run apart; and every model, where one of them has several."""
    matrix = comparison.matrix
    if len(matrix.columns) < 2:
        return
    runs = {column.label: [column.pk] for column in matrix.columns}
    yield from _uniques_of(comparison.sets.of_runs, runs, comparison, names, whole_model=False)
    if len(matrix.subjects) < len(matrix.columns):
        models = {name: [matrix.columns[at].pk for at in places] for name, places in matrix.subjects.items()}
        yield from _uniques_of(comparison.sets.of_subjects, models, comparison, names, whole_model=True)


def _uniques_of(
    uniques: Uniques,
    members: dict[str, list[int]],
    comparison: Comparison,
    names: ReportedCaseNames,
    *,
    whole_model: bool,
) -> Iterator[Unique]:
    for name, pks in members.items():
        fails = uniques.fails.get(name, ())
        yield Unique(
            name=called(name),
            whole_model=whole_model,
            fails=names.of(fails),
            following=names.of([case for case in fails if any((pk, case) in comparison.root_of for pk in pks)]),
            passes=names.of(uniques.passes.get(name, ())),
        )


def _pairs(comparison: Comparison) -> Iterator[PairTest]:
    for pairing in comparison.pairings:
        yield PairTest(
            first=called(pairing.first),
            second=called(pairing.second),
            shared=pairing.all.shared,
            only_first_fails=pairing.all.only_first_fails,
            only_second_fails=pairing.all.only_second_fails,
            p=pairing.all.p,
            adjusted=pairing.all.adjusted,
            differs=pairing.all.differs,
            clean_only_first_fails=pairing.clean.only_first_fails,
            clean_only_second_fails=pairing.clean.only_second_fails,
            clean_difference=pairing.clean.difference,
            clean_interval=pairing.clean.interval,
            clean_p=pairing.clean.p,
            clean_adjusted=pairing.clean.adjusted,
            clean_differs=pairing.clean.differs,
        )


def _categories(comparison: Comparison) -> Iterator[CategoryRows]:
    labels = [called(run.label) for run in comparison.runs]
    for category in comparison.categories:
        yield CategoryRows(
            name=category.name,
            cases=category.cases,
            failed_rows=category.failed_rows,
            adjusted=category.adjusted,
            harder=category.harder,
            means=dict(zip(labels, category.means, strict=True)) if category.means else {},
        )


def _apart(comparison: Comparison, names: ReportedCaseNames) -> Iterator[CaseApart]:
    """The cases of runs of numbers with the largest differences first."""
    rows = comparison.matrix.rows if comparison.matrix.has_numbers else {}
    values = {case: tuple(cell.result if cell is not None else None for cell in row) for case, row in rows.items()}
    spread = {
        case: max(known) - min(known)
        for case, each in values.items()
        if len(known := [value for value in each if value is not None]) > 1
    }
    for case in sorted(spread, key=lambda case: -spread[case])[:APART]:
        yield CaseApart(case=names.name_of(case), values=values[case])


def _grid(comparison: Comparison, names: ReportedCaseNames, runs: Sequence[ComparedRun]) -> CaseGrid | None:
    matrix = comparison.matrix
    passed = frozenset(matrix.passed_everywhere)
    shown = [case for case in matrix.rows if case not in passed]
    if not shown or len(shown) > GRID:
        return None
    cells = [tuple(comparison.state_of(matrix.rows[case][at]) for case in shown) for at in range(len(matrix.columns))]
    states = dict.fromkeys(comparison.state_of(cell) for row in matrix.rows.values() for cell in row)
    named = names.of(shown)
    owners = [{row.name: owner_of(row, run) for row in run.rows} for run in runs]
    return CaseGrid(
        cases=named,
        cells=tuple(cells),
        states=tuple(states),
        owners=tuple(tuple(found.get(name, "") for name in named) for found in owners),
    )


def _doubts(runs: Sequence[ComparedRun]) -> Iterator[RowDoubt]:
    for run in runs:
        for row in run.rows:
            review = run.view.standings.get(row.attempt.id)
            for doubt in review.standing.verdict.doubts if review is not None else ():
                yield RowDoubt(run=run.label, case=row.name, text=doubt)


def _suspicious(runs: Sequence[ComparedRun], odd: Sequence[Sequence[SuspiciousPass]]) -> Iterator[SuspiciousPasses]:
    counts: dict[str, Counter[str]] = {}
    names: dict[str, str] = {}
    for run, listed in zip(runs, odd, strict=True):
        for seen in listed:
            counts.setdefault(seen.means, Counter())[run.label] += 1
            names.setdefault(seen.means, seen.suspicion.signal.name)
    for means, often in counts.items():
        yield SuspiciousPasses(name=names[means], means=means, by_run=dict(often))


def _findings(runs: Sequence[ComparedRun]) -> Iterator[FindingFact]:
    for run in runs:
        yield from finding_facts(run.view.health.findings, run=run.label)


# --- cases of a comparison without a verdict: what the log has about each, and how to make up for them


LINES = 3
LINE = 200


def unmeasured_cases(run: ComparedRun) -> Iterator[UnmeasuredCase]:
    in_order = sorted(run.unmeasured, key=lambda pair: (pair[0].position is None, pair[0].position or 0, pair[1]))
    for attempt, name in in_order:
        why = _why(attempt)
        if why is not None:
            yield UnmeasuredCase(case=name, why=why, log=tuple(_lines(attempt)))


def _why(attempt: Attempt) -> UnmeasuredWhy | None:
    if attempt.execution == "missing":
        return "missing"
    if attempt.execution == "error":
        return "no_answer"
    is_unjudged = attempt.measurement in (*NO_VERDICT, "not_run")
    return "not_judged" if attempt.execution == "completed" and is_unjudged else None


def _lines(attempt: Attempt) -> Iterator[QuotedLine]:
    """Lines that the log has about it; of the marker of an empty answer only the place: the row has the words."""
    logged = [error for error in attempt.errors if error.ref is not None and not error.recovered]
    for error in logged[:LINES]:
        text = "" if error.type == attempt.native_status else short_line(error.message, LINE)
        yield QuotedLine(where=str(error.ref), text=text)


def repeated_cases(rerun: Rerun, names: ReportedCaseNames) -> Iterator[RepeatedCases]:
    """Cases that one command repeats, then those that none does."""
    for command in rerun.plan.commands:
        yield RepeatedCases(how=command.purpose, cases=_short_names(command.cases, names), command=command.line)
    by_hand: dict[tuple[WhyNoCommand, str], list[str]] = {}
    for item in rerun.plan.by_hand:
        by_hand.setdefault((item.why_not, item.about), []).append(item.attempt.case)
    for (why_not, about), cases in by_hand.items():
        yield RepeatedCases(how="by_hand", cases=_short_names(cases, names), why_not=why_not, about=about)


def _short_names(cases: Sequence[str], names: ReportedCaseNames) -> tuple[str, ...]:
    return tuple(sorted((names.short(case) for case in dict.fromkeys(cases)), key=_in_order))


def _in_order(name: str) -> tuple[int, str]:
    return int(name) if name.isdecimal() else 0, name
