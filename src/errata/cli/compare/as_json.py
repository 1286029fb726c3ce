"""A comparison as records for `--json`: all of the page, every cell of the matrix and every pair."""

from collections.abc import Iterable, Sequence

import msgspec

from errata.cli.score_json import json_score
from errata.compare.categories import CategoryCount
from errata.compare.checks import CountByRun
from errata.compare.comparability import Difference
from errata.compare.comparison import Compared, Comparison
from errata.compare.matrix import Row
from errata.compare.pairs import Pairing, Tally
from errata.compare.scores import Policy
from errata.compare.sets import FailedByAll, Flips, Instability, Uniques
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
    RowOutput,
    RunPairOutput,
    SharesOutput,
    TallyOutput,
    UniqueOutput,
    UniquesOutput,
)
from errata.model.output.score import ScoreOutput
from errata.model.run import case_name

POLICIES: tuple[Policy, ...] = ("strict", "as_reported", "clean")


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
        left_out_runs=tuple(
            LeftOutRunOutput(
                run=one.run.native_id,
                run_id=one.run.id,
                model=one.run.subject.model,
                why=why.code,
                excluded=why.detail or None,
            )
            for one, why in comparison.left_out
        ),
        differences=tuple(_difference(one, called) for one in comparison.differences),
        columns=tuple(_column(one) for one in comparison.columns),
        matrix=tuple(_row(case, row, comparison) for case, row in comparison.shown.rows.items()),
        failed_by_all=_failed_by_all(sets.failed_by_all, called),
        unique=UniqueOutput(runs=_uniques(sets.of_runs, called), models=_uniques(sets.of_subjects, called)),
        instability={subject: _instability(one, called) for subject, one in sets.instability.items()},
        flips=_flips(sets.flips, called) if sets.flips else None,
        pairs=tuple(_pair(one) for one in comparison.pairings),
        failed_checks=tuple(_counts(one, labels) for one in comparison.checks),
        patterns=tuple(_counts(one, labels) for one in comparison.patterns),
        categories=tuple(_category(one, labels) for one in comparison.categories),
    )


class _Names:
    """Cases as their harness names them."""

    def __init__(self, comparison: Comparison) -> None:
        self._run = comparison.matrix.columns[0].run

    def of(self, cases: Iterable[str]) -> Cases:
        return tuple(case_name(self._run, case) for case in cases)

    def by(self, found: dict[str, Cases]) -> dict[str, Cases]:
        return {name: self.of(cases) for name, cases in found.items()}


def _run(one: Compared, comparison: Comparison, at: int) -> ComparedRunOutput:
    (stored,) = one.runs
    cells = comparison.cells[at]
    return ComparedRunOutput(
        label=one.label,
        model=stored.run.subject.model,
        agent=stored.run.subject.agent or None,
        variant=stored.run.variant,
        subject=comparison.matrix.columns[at].subject,
        run=stored.run.native_id,
        run_id=stored.run.id,
        started_at=stored.run.started_at,
        passed=cells.passed,
        failed=cells.failed,
        neither=cells.neither,
        scores=_scores(one),
    )


def _column(one: Compared) -> ColumnOutput:
    return ColumnOutput(label=one.label, run_ids=tuple(stored.run.id for stored in one.runs), scores=_scores(one))


def _scores(one: Compared) -> dict[str, ScoreOutput]:
    return {policy: json_score(one.scores[policy]) for policy in POLICIES}


def _row(case: str, row: Row, comparison: Comparison) -> RowOutput:
    facts = comparison.cases[case]
    is_repeated = any(cell is not None and cell.attempts > 1 for cell in row)
    return RowOutput(
        case=facts.name,
        case_key=case,
        categories=facts.categories,
        edited=case in comparison.edited,
        states=tuple(cell.state if cell else None for cell in row),
        passes=tuple(cell.passes if cell else None for cell in row) if is_repeated else msgspec.UNSET,
        attempts=tuple(cell.attempts if cell else None for cell in row) if is_repeated else msgspec.UNSET,
    )


def _failed_by_all(found: FailedByAll, called: _Names) -> FailedByAllOutput:
    return FailedByAllOutput(
        runs=called.of(found.runs),
        models_in_some_run=called.of(found.subjects_in_some_run),
        models_in_every_run=called.of(found.subjects_in_every_run),
    )


def _uniques(found: Uniques, called: _Names) -> UniquesOutput:
    return UniquesOutput(fails=called.by(found.fails), passes=called.by(found.passes))


def _instability(one: Instability, called: _Names) -> InstabilityOutput:
    return InstabilityOutput(
        runs=one.runs, unstable=called.of(one.unstable), failed_in_every_run=called.of(one.failed_in_every_run)
    )


def _flips(flips: Flips, called: _Names) -> FlipsOutput:
    return FlipsOutput(from_=flips.first, to=flips.second, **called.by(flips.by_kind))


def _difference(one: Difference, called: _Names) -> DifferenceOutput:
    return DifferenceOutput(what=one.what, refuses=one.refuses, values=one.values, cases=called.of(one.cases))


def _pair(one: Pairing) -> RunPairOutput:
    return RunPairOutput(
        first=one.first,
        second=one.second,
        all=_tally(one.all),
        clean=_tally(one.clean),
        shares=msgspec.convert(one.shares, SharesOutput, from_attributes=True) if one.shares else None,
    )


def _tally(one: Tally) -> TallyOutput:
    return msgspec.convert(one, TallyOutput, from_attributes=True)


def _counts(one: CountByRun, labels: Sequence[str]) -> CountsOutput:
    return CountsOutput(name=one.name, runs=dict(zip(labels, one.by_run, strict=True)), all=one.total)


def _category(one: CategoryCount, labels: Sequence[str]) -> CategoryOutput:
    return CategoryOutput(
        name=one.name,
        cases=one.cases,
        failed_rows=one.failed_rows,
        runs=dict(zip(labels, one.by_run, strict=True)),
        tried=one.tried,
        hard=one.hard,
        p=one.p,
        adjusted=one.adjusted,
        harder=one.harder,
    )
