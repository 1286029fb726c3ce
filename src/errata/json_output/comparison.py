"""A comparison and a gate."""

from collections.abc import Iterable, Sequence

import msgspec

from errata.compare.categories import CategoryCount
from errata.compare.comparability import Difference
from errata.compare.comparison import Compared, Comparison, ModelDifferences
from errata.compare.gate import CaseChange, Gate
from errata.compare.matrix import Row
from errata.compare.pairs import Ranked
from errata.compare.scores import Policy
from errata.compare.sets import FailedByAll, Flips, Instability, Uniques
from errata.compare.summaries import CountByRun
from errata.json_output.scores import json_score
from errata.model import StoredRun
from errata.model.output.compare import (
    Cases,
    CategoryOutput,
    ColumnOutput,
    ComparedRunOutput,
    ComparisonOutput,
    CountsOutput,
    DifferenceOutput,
    FailedByAllOutput,
    FlipsOutput,
    InstabilityOutput,
    LeftOutRunOutput,
    ModelDifferencesOutput,
    RankedOutput,
    RowOutput,
    ScorerRunsOutput,
    UniqueOutput,
    UniquesOutput,
)
from errata.model.output.gate import CaseChangeOutput, GateChangesOutput, GateOutput, StaleEntryOutput
from errata.model.output.score import ScoreOutput
from errata.model.run import WhyLeftOut, case_name


def json_comparison(comparison: Comparison) -> ComparisonOutput:
    matrix, sets = comparison.matrix, comparison.sets
    called = _Names(comparison)
    labels = [column.label for column in matrix.columns]
    return ComparisonOutput(
        suites=tuple(dict.fromkeys(column.run.suite for column in matrix.columns)),
        cases=len(matrix.rows),
        common=comparison.options.common,
        by_model=comparison.options.by_model,
        category=comparison.options.category or None,
        runs=tuple(_run(one, comparison, at) for at, one in enumerate(comparison.runs)),
        left_out_runs=left_out_runs(comparison.left_out),
        differences=tuple(_difference(one, called) for one in comparison.differences),
        columns=tuple(_column(one) for one in comparison.columns),
        matrix=tuple(_row(case, row, comparison) for case, row in comparison.shown.rows.items()),
        suspects=comparison.suspects,
        failed_by_all=_failed_by_all(sets.failed_by_all, called),
        unique=UniqueOutput(runs=_uniques(sets.of_runs, called), models=_uniques(sets.of_subjects, called)),
        instability={subject: _instability(one, called) for subject, one in sets.instability.items()},
        flips=_flips(sets.flips, called) if sets.flips else None,
        pairs=comparison.pairings,
        models=_models(comparison.models),
        failed_checks=tuple(_counts(one, labels) for one in comparison.checks),
        other_checks=tuple(
            ScorerRunsOutput(name=check.name, runs=dict(zip(labels, check.by_run, strict=True)), all=check.all)
            for check in comparison.other_checks
        ),
        patterns=tuple(_counts(one, labels) for one in comparison.patterns),
        categories=tuple(_category(one, labels) for one in comparison.categories),
        overlap=comparison.overlap,
    )


class _Names:
    """Case names as the harness writes them."""

    def __init__(self, comparison: Comparison) -> None:
        self._run = comparison.matrix.columns[0].run

    def of(self, cases: Iterable[str]) -> Cases:
        return tuple(case_name(self._run, case) for case in cases)

    def by(self, groups: dict[str, Cases]) -> dict[str, Cases]:
        return {name: self.of(cases) for name, cases in groups.items()}


def _run(compared: Compared, comparison: Comparison, at: int) -> ComparedRunOutput:
    (stored,) = compared.runs
    cells = comparison.cells[at]
    return ComparedRunOutput(
        label=compared.label,
        model=stored.run.subject.model,
        agent=stored.run.subject.agent or None,
        variant=stored.run.variant,
        subject=comparison.matrix.columns[at].subject,
        run=stored.run.native_id,
        run_id=stored.run.id,
        started_at=stored.run.started_at,
        passed=cells.passed,
        failed=cells.failed,
        failed_rows=cells.failed_rows,
        neither=cells.neither,
        fit=not compared.problems,
        problems=compared.problems,
        scores=_scores(compared),
    )


def _column(compared: Compared) -> ColumnOutput:
    return ColumnOutput(
        label=compared.label, run_ids=tuple(stored.run.id for stored in compared.runs), scores=_scores(compared)
    )


def _scores(compared: Compared) -> dict[str, ScoreOutput]:
    return {policy: json_score(compared.scores[policy]) for policy in POLICIES}


def _row(case: str, row: Row, comparison: Comparison) -> RowOutput:
    facts = comparison.cases[case]
    is_repeated = any(cell is not None and cell.attempts > 1 for cell in row)
    has_values = any(cell is not None and cell.value is not None for cell in row)
    return RowOutput(
        case=facts.name,
        case_key=case,
        categories=facts.categories,
        edited=case in comparison.edited,
        states=tuple(cell.state if cell else None for cell in row),
        passes=tuple(cell.passes if cell else None for cell in row) if is_repeated else msgspec.UNSET,
        attempts=tuple(cell.attempts if cell else None for cell in row) if is_repeated else msgspec.UNSET,
        values=tuple(cell.result if cell else None for cell in row) if has_values else msgspec.UNSET,
    )


def _failed_by_all(cases: FailedByAll, called: _Names) -> FailedByAllOutput:
    return FailedByAllOutput(
        runs=called.of(cases.runs),
        models_in_some_run=called.of(cases.subjects_in_some_run),
        models_in_every_run=called.of(cases.subjects_in_every_run),
    )


def _uniques(cases: Uniques, called: _Names) -> UniquesOutput:
    return UniquesOutput(fails=called.by(cases.fails), passes=called.by(cases.passes))


def _instability(instability: Instability, called: _Names) -> InstabilityOutput:
    return InstabilityOutput(
        runs=instability.runs,
        unstable=called.of(instability.unstable),
        failed_in_every_run=called.of(instability.failed_in_every_run),
    )


def _flips(flips: Flips, called: _Names) -> FlipsOutput:
    return FlipsOutput(from_=flips.first, to=flips.second, **called.by(flips.by_kind))


def _difference(difference: Difference, called: _Names) -> DifferenceOutput:
    return DifferenceOutput(
        what=difference.what, refuses=difference.refuses, values=difference.values, cases=called.of(difference.cases)
    )


def _models(models: ModelDifferences) -> ModelDifferencesOutput:
    return ModelDifferencesOutput(
        ranking=tuple(_ranked(one) for one in models.ranking),
        pairs=models.pairings,
        deviations=models.deviations,
    )


def _ranked(ranked: Ranked) -> RankedOutput:
    score = ranked.score
    return RankedOutput(
        label=ranked.label,
        best=ranked.best,
        worst=ranked.worst,
        better_than=ranked.better_than,
        worse_than=ranked.worse_than,
        passed=score.passed,
        total=score.total,
        rate=score.rate,
        interval=score.interval,
    )


def _counts(count: CountByRun, labels: Sequence[str]) -> CountsOutput:
    return CountsOutput(name=count.name, runs=dict(zip(labels, count.by_run, strict=True)), all=count.total)


def _category(count: CategoryCount, labels: Sequence[str]) -> CategoryOutput:
    return CategoryOutput(
        name=count.name,
        cases=count.cases,
        failed_rows=count.failed_rows,
        runs=dict(zip(labels, count.by_run, strict=True)),
        tried=count.tried,
        hard=count.hard,
        p=count.p,
        adjusted=count.adjusted,
        harder=count.harder,
        means=dict(zip(labels, count.means, strict=True)) if count.means else msgspec.UNSET,
    )


POLICIES: tuple[Policy, ...] = ("strict", "as_reported", "clean")


def left_out_runs(left_out: Iterable[tuple[StoredRun, WhyLeftOut]]) -> tuple[LeftOutRunOutput, ...]:
    return tuple(
        LeftOutRunOutput(
            run=stored.run.native_id,
            run_id=stored.run.id,
            model=stored.run.subject.model,
            why=why.code,
            excluded=why.detail or None,
        )
        for stored, why in left_out
    )


def json_gate(gate: Gate, *, recorded: bool) -> GateOutput:
    given, baseline = gate.given, gate.given.baseline
    return GateOutput(
        run=given.run.run.native_id,
        run_id=given.run.run.id,
        verdict=gate.verdict,
        codes=gate.codes,
        notes=gate.notes,
        baseline=baseline.run.native_id if baseline else None,
        baseline_id=baseline.run.id if baseline else None,
        owners=tuple(sorted(gate.rules.owners)),
        policy=gate.rules.policy,
        min_score=gate.rules.min_score,
        max_drop=gate.rules.max_drop,
        fit=given.fit,
        problems=given.problems,
        doubted=given.doubted,
        refusal=given.refusal or None,
        differences=given.differences,
        scores={policy: json_score(score) for policy, score in given.scores.items()},
        baseline_scores={policy: json_score(score) for policy, score in given.baseline_scores.items()},
        changes=_changes(gate),
        stale_allowances=tuple(
            StaleEntryOutput(case=entry.name, line=entry.line, reason=entry.reason or None) for entry in gate.stale
        ),
        recorded=recorded,
    )


def _changes(gate: Gate) -> GateChangesOutput | None:
    changes = gate.given.changes
    if changes is None:
        return None
    return GateChangesOutput(
        new=_cases(gate.new),
        allowed=_cases(gate.allowed),
        others=_cases(gate.others),
        infrastructure=_cases(gate.infrastructure),
        flaky=_cases(changes.of("flaky")),
        fixed=_cases(changes.of("fixed")),
        missing=_cases(changes.of("missing")),
        added=_cases(changes.of("added")),
        edited=_cases(changes.of("edited")),
        not_measured=_cases(changes.of("not_measured")),
        no_baseline_result=_cases(changes.of("no_baseline_result")),
        still_failing=len(changes.of("still_failing")),
        still_passing=len(changes.of("still_passing")),
        shared=changes.shared,
        p=changes.test.p,
        significant=changes.test.differs,
        lower=_cases(changes.of("lower")),
        higher=_cases(changes.of("higher")),
        drop=changes.drop,
    )


def _cases(cases: Iterable[CaseChange]) -> tuple[CaseChangeOutput, ...]:
    return tuple(
        CaseChangeOutput(
            case=change.name,
            case_key=change.case,
            fails=change.fails,
            owner=change.failure.owner or None,
            presumed=change.failure.is_presumed,
            reason=change.failure.reason or None,
            attempt_id=change.failure.attempt or None,
            passed_before=change.before,
            passed_now=change.after,
            values=change.values,
        )
        for change in cases
    )
