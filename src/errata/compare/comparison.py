"""What differs between runs, where they measured the same thing: scores, matrix, sets, pairs, checks, categories."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from errata.compare.categories import CaseFacts, CategoryCount, by_category, cases_in_category, members_of, overlap_of
from errata.compare.comparability import (
    CASES,
    Difference,
    common_cases,
    differences,
    may_differ,
    refuse_nothing_shared,
    refuse_too_few,
    refuse_unequal,
)
from errata.compare.deviations import deviations
from errata.compare.matrix import Matrix, by_subject, columns_of, matrix_of
from errata.compare.pairs import Ranked, pairings, rank, shares_by_case, without_cells
from errata.compare.pooling import pool_scores
from errata.compare.scores import POLICY_NAMES, Policy, Score
from errata.compare.sets import (
    FailedByAll,
    Flips,
    Instability,
    Uniques,
    each_run,
    failed_by_all,
    flips_between,
    instability,
    uniques,
)
from errata.compare.summaries import (
    CountByRun,
    RunNumbers,
    ScorerByRun,
    counted_patterns,
    failed_dimensions,
    scorers_beside,
)
from errata.compare.trials import Timeouts
from errata.model import StoredRun
from errata.model.cells import Cell
from errata.model.counts import CategoryOverlap
from errata.model.output.compare import DeviationOutput, RunPairOutput
from errata.model.record import Struct
from errata.model.run import WhyLeftOut, why_excluded
from errata.model.suspects import SuspectTasks


class ChangeSince(Struct):
    """Two runs over the cases that both have decided by the subject's own doing.

    Without cases whose task was edited in between, and without infrastructure failures.
    """

    still_failing: int
    fixed: int
    broke: int
    edited: int
    infrastructure: int
    """Cases that failed in one of the two, and not by the subject's fault."""
    regressed: tuple[str, ...] = ()
    """The cases that broke."""
    p: float
    """Exact McNemar, two-sided."""
    differs: bool


def change_since(
    before: StoredRun, after: StoredRun, cells: Iterable[Cell], clean: Sequence[Score], edited: Collection[str] = ()
) -> ChangeSince:
    """The figures of a comparison of the two runs; `clean` has the clean score of each."""
    whole = matrix_of(columns_of([(one.run, one.pk) for one in (before, after)]), cells)
    matrix = whole.only([case for case in whole.rows if case not in edited])
    out = left_out_of_clean(matrix, clean)
    (pair,) = pairings(matrix, without_cells(matrix, out))
    flips = flips_between(matrix, 0, 1, out)
    return ChangeSince(
        still_failing=len(flips.still_failing),
        fixed=len(flips.fixed),
        broke=len(flips.regressed),
        edited=len(whole.shared) - len(matrix.shared),
        infrastructure=len(flips.infrastructure),
        regressed=flips.regressed,
        p=pair.clean.p,
        differs=pair.clean.differs,
    )


def categories_of_run(
    stored: StoredRun, cells: Iterable[Cell], categories: Mapping[str, Iterable[str]], clean: Score
) -> tuple[CategoryCount, ...]:
    """`categories`: case → its categories; `clean` names the failures that are not the subject's."""
    matrix = matrix_of(columns_of([(stored.run, stored.pk)]), cells)
    out = left_out_of_clean(matrix, [clean])
    return by_category(matrix, members_of(categories), lambda cell: (cell.run, cell.case) not in out)


def left_out_of_clean(matrix: Matrix, clean: Sequence[Score]) -> frozenset[tuple[int, str]]:
    """Failed cells where every failed attempt is an infrastructure failure, or is replaced by an earlier session.

    `clean` has the clean score of each column.
    """
    left_out: set[tuple[int, str]] = set()
    for at, (column, score) in enumerate(zip(matrix.columns, clean, strict=True)):
        out = Counter(member.case for group in score.groups for member in group.members) + Counter(score.recovered)
        for case, often in out.items():
            cell = matrix.rows[case][at] if case in matrix.rows else None
            if cell is not None and often >= (cell.fails or cell.attempts):
                left_out.add((column.pk, case))
    return frozenset(left_out)


ASKED = 5
"""Up to this many cases that fail in every run, their text is shown."""

At = tuple[int, str]
"""A run's number and a case."""


class ComparisonOptions(Struct):
    common: bool = False
    """Compare runs of unequal suites, on the cases that all of them were measured on."""
    by_model: bool = False
    """The runs of each subject as one column."""
    category: str = ""
    timeouts: Timeouts = "count"
    may_lack_cases: bool = False
    """Compare runs although one has cases that another lacks."""
    least: int = 2
    """Runs that have to be left; a report about the causes of failures can do with one."""


class Compared(Struct):
    """One column: a run, or all runs of a subject."""

    label: str
    runs: tuple[StoredRun, ...]
    scores: dict[Policy, Score]
    problems: tuple[str, ...] = ()
    """Findings that make a run unfit for comparison; empty for a fit one."""


class CellCounts(Struct):
    """The cells of one run: cases, not attempts."""

    passed: int
    failed: int
    neither: int
    """Without a verdict, mixed or contradictory."""
    failed_rows: int
    """Failed attempts: of a case with contradictory rows or several attempts, each that failed."""


class Sets(Struct):
    failed_by_all: FailedByAll
    of_runs: Uniques
    of_subjects: Uniques
    instability: dict[str, Instability]
    flips: Flips | None
    """Between two runs; none where there are more."""


class ModelDifferences(Struct):
    """Of the subjects, each with all its runs; of the runs, where there is one subject."""

    pairings: tuple[RunPairOutput, ...]
    ranking: tuple[Ranked, ...]
    """Empty for a single one, like the next."""
    deviations: tuple[DeviationOutput, ...]
    """By category, the most certain first."""

    @property
    def exceptions(self) -> tuple[DeviationOutput, ...]:
        return tuple(deviation for deviation in self.deviations if deviation.deviates)


class Comparison(Struct):
    options: ComparisonOptions
    left_out: tuple[tuple[StoredRun, WhyLeftOut], ...]
    """Runs that are in no comparison, and why."""
    differences: tuple[Difference, ...]
    edited: tuple[str, ...]
    """Cases whose task is not the same in all runs; they take no part in the pairs."""
    cases: dict[str, CaseFacts]
    asks: dict[str, str]
    """Case → the beginning of its text, for some that all fail."""
    runs: tuple[Compared, ...]
    columns: tuple[Compared, ...]
    """The runs, or with `by_model` their subjects."""
    matrix: Matrix
    """Of the runs."""
    shown: Matrix
    """Of the columns."""
    cells: tuple[CellCounts, ...]
    """Of each run."""
    sets: Sets
    pairings: tuple[RunPairOutput, ...]
    """Of the columns."""
    models: ModelDifferences
    checks: tuple[CountByRun, ...]
    """How often each failed."""
    other_checks: tuple[ScorerByRun, ...]
    categories: tuple[CategoryCount, ...]
    overlap: CategoryOverlap
    patterns: tuple[CountByRun, ...]
    pattern_at: dict[At, str]
    """Reasons for missing answers."""
    root_of: dict[At, str]
    """The case that a case only follows from."""
    suspects: SuspectTasks = SuspectTasks()
    """Tasks that hardly any of these subjects passes."""

    @property
    def failed_rows(self) -> int:
        """Of all runs together: a case that fails in three runs is three rows."""
        return sum(one.failed_rows for one in self.cells)

    def state_of(self, cell: Cell | None) -> str:
        if cell is None:
            return ""
        return "follows" if (cell.run, cell.case) in self.root_of else cell.state


def _failures(matrix: Matrix) -> dict[str, int]:
    """Case → in how many runs it failed."""
    return {case: sum(cell.fails > 0 for cell in row if cell is not None) for case, row in matrix.rows.items()}


class _Basis(NamedTuple):
    """Which runs and cases are compared."""

    facts: list[RunNumbers]
    left_out: tuple[tuple[StoredRun, WhyLeftOut], ...]
    differences: tuple[Difference, ...]
    edited: tuple[str, ...]
    matrix: Matrix
    cases: dict[str, CaseFacts]
    narrowed: bool


class Lookups(NamedTuple):
    """What a comparison asks for beyond the summaries of its runs, once it knows for which cases."""

    changed_cases: Callable[[Sequence[int]], set[str]]
    """Cases that are not the same task in all of these runs."""
    case_facts: Callable[[Matrix], dict[str, CaseFacts]]
    questions: Callable[[Matrix, Sequence[str]], dict[str, str]]
    """Case → the beginning of its text."""
    scores: Callable[[StoredRun, Collection[str]], dict[Policy, Score]]
    """Of a run over some of its cases alone."""


def compare_runs(facts: Sequence[RunNumbers], options: ComparisonOptions, lookups: Lookups) -> Comparison:
    basis = _basis(facts, options, lookups)
    matrix, fit = basis.matrix, basis.facts
    runs = _compared(fit, matrix, matrix.rows if basis.narrowed else None, lookups)
    named = {case: facts.categories for case, facts in basis.cases.items() if facts.categories}
    members = members_of(named)
    out = left_out_of_clean(matrix, [run_facts.scores["clean"] for run_facts in runs])
    sets = _sets(matrix, out, basis.edited)
    cleaned = without_cells(matrix, out)
    shown, clean = (by_subject(one) if options.by_model else one for one in (matrix, cleaned))
    pairs = pairings(shown, clean, without=frozenset(basis.edited))
    return Comparison(
        options=options,
        left_out=basis.left_out,
        differences=basis.differences,
        edited=basis.edited,
        cases=basis.cases,
        asks=lookups.questions(matrix, sets.failed_by_all.runs[:ASKED]),
        runs=runs,
        columns=_pooled(runs, matrix) if options.by_model else runs,
        matrix=matrix,
        shown=shown,
        cells=tuple(_count_cells(matrix, at) for at in range(len(matrix.columns))),
        sets=sets,
        pairings=pairs,
        models=_models(runs, (matrix, cleaned), pairs, members, basis.edited),
        checks=failed_dimensions(
            matrix,
            {run_facts.stored.pk: run_facts.summary.failed_checks for run_facts in fit},
            list(dict.fromkeys(name for one in fit for name in one.stored.counts.checks)),
        ),
        other_checks=tuple(scorers_beside(matrix, {one.stored.pk: one.summary.other_checks for one in fit})),
        categories=by_category(matrix, members, lambda cell: (cell.run, cell.case) not in out),
        overlap=overlap_of(_failures(matrix), named),
        patterns=counted_patterns(matrix, {run_facts.stored.pk: run_facts.summary.patterns for run_facts in fit}),
        pattern_at={
            (run_facts.stored.pk, case): max(kinds, key=kinds.__getitem__)
            for run_facts in fit
            for case, kinds in run_facts.summary.patterns.items()
        },
        root_of={
            (run_facts.stored.pk, case): root for run_facts in fit for case, root in run_facts.summary.roots.items()
        },
    )


def refuse_incomparable(
    runs: Sequence[StoredRun], cells: Callable[[], Iterable[Cell]], options: ComparisonOptions, lookups: Lookups
) -> None:
    """Before the runs are summarised, which takes long the first time; `cells` are those of all runs."""
    included = [one for one in runs if why_excluded(one.run) is None]
    if not may_differ(included):
        return
    pks = [one.pk for one in included]
    whole = matrix_of(columns_of([(one.run, one.pk) for one in included]), (one for one in cells() if one.run in pks))
    changed = lookups.changed_cases(pks)
    known_differences = differences(whole, tuple(case for case in whole.rows if case in changed))
    refuse_unequal(_not_tolerated(known_differences, options), whole)


def _not_tolerated(known_differences: Sequence[Difference], options: ComparisonOptions) -> list[Difference]:
    return [one for one in known_differences if not (options.may_lack_cases and one.what == CASES)]


def _basis(facts: Sequence[RunNumbers], options: ComparisonOptions, lookups: Lookups) -> _Basis:
    """Refused where there is nothing to be compared, or nothing that can be."""
    left_out = tuple((one.stored, why) for one in facts if (why := one.why_left_out()))
    fit = [one for one in facts if not one.why_left_out()]
    refuse_too_few(len(fit), left_out, options.least)
    columns = columns_of([(one.stored.run, one.stored.pk) for one in fit])
    whole = matrix_of(columns, chain.from_iterable(one.cells() for one in fit))
    changed = lookups.changed_cases([one.stored.pk for one in fit])
    known_differences = differences(whole, tuple(case for case in whole.rows if case in changed))
    if not options.common:
        refuse_unequal(_not_tolerated(known_differences, options), whole)
    matrix, cases = _narrowed(whole, options, lookups)
    refuse_nothing_shared(matrix, known_differences)
    edited = tuple(case for case in matrix.rows if case in changed)
    return _Basis(fit, left_out, known_differences, edited, matrix, cases, matrix is not whole)


def _narrowed(whole: Matrix, options: ComparisonOptions, lookups: Lookups) -> tuple[Matrix, dict[str, CaseFacts]]:
    """To what all share and to the category, where that was asked for."""
    matrix = whole.only(common_cases(whole)) if options.common else whole
    if not matrix.rows:
        return matrix, {}
    cases = lookups.case_facts(matrix)
    if options.category:
        matrix = matrix.only(frozenset(cases_in_category(cases, options.category)))
    return matrix, {case: cases[case] for case in matrix.rows}


def _compared(
    facts: Sequence[RunNumbers], matrix: Matrix, cases: Collection[str] | None, lookups: Lookups
) -> tuple[Compared, ...]:
    return tuple(
        Compared(
            label=column.label,
            runs=(run_facts.stored,),
            scores=run_facts.summary.scores if cases is None else lookups.scores(run_facts.stored, cases),
            problems=run_facts.summary.problems,
        )
        for column, run_facts in zip(matrix.columns, facts, strict=True)
    )


def _pooled(runs: Sequence[Compared], matrix: Matrix) -> tuple[Compared, ...]:
    made = []
    for subject, places in matrix.subjects.items():
        those = [runs[at] for at in places]
        scores = {policy: pool_scores([one.scores[policy] for one in those]) for policy in POLICY_NAMES}
        stored = tuple(run for one in those for run in one.runs)
        problems = tuple(problem for one in those for problem in one.problems)
        made.append(Compared(label=subject, runs=stored, scores=scores, problems=problems))
    return tuple(made)


def _count_cells(matrix: Matrix, at: int) -> CellCounts:
    cells = [cell for row in matrix.rows.values() if (cell := row[at]) is not None]
    passed, failed = sum(cell.passed for cell in cells), sum(cell.failed for cell in cells)
    rows = sum(cell.fails for cell in cells)
    return CellCounts(passed=passed, failed=failed, neither=len(cells) - passed - failed, failed_rows=rows)


def _models(
    runs: Sequence[Compared],
    matrices: tuple[Matrix, Matrix],
    pairs: tuple[RunPairOutput, ...],
    members: Mapping[str, Sequence[str]],
    edited: Sequence[str],
) -> ModelDifferences:
    """`matrices`: of the runs, whole and clean; `pairs`: of the columns, which may be the models."""
    matrix, clean = matrices
    without = frozenset(edited)
    compared = list(runs)
    if 1 < len(matrix.subjects) < len(matrix.columns):
        compared = list(_pooled(runs, matrix))
        matrix, clean = by_subject(matrix), by_subject(clean)
    labels = {one.label for one in compared}
    if len(labels) < 2:
        return ModelDifferences(pairings=(), ranking=(), deviations=())
    if {label for pair in pairs for label in (pair.first, pair.second)} != labels:
        pairs = pairings(matrix, clean, without=without)
    return ModelDifferences(
        pairings=pairs,
        ranking=rank({one.label: one.scores for one in compared}, pairs),
        deviations=deviations(shares_by_case(clean, without), members),
    )


def _sets(matrix: Matrix, out: Collection[tuple[int, str]], edited: Collection[str]) -> Sets:
    return Sets(
        failed_by_all=failed_by_all(matrix),
        of_runs=uniques(matrix, each_run(matrix)),
        of_subjects=uniques(matrix, matrix.subjects),
        instability=instability(matrix),
        flips=flips_between(matrix, 0, 1, out, edited) if len(matrix.columns) == 2 else None,
    )
