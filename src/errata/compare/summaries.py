"""What a comparison needs of each run, and its failed checks; kept beside the run, which may be large."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from errata.compare.matrix import Matrix
from errata.compare.policies import scores_of
from errata.compare.scores import Policy, Score
from errata.compare.trials import Opinions, Timeouts, Trials
from errata.model import Attempt, Attribution, Run, StoredRun, split_attempt_id
from errata.model.attempt import EMPTY_RESPONSE
from errata.model.cells import Cell, CellState, CellTally, result_of
from errata.model.check import ScorerCount, scorer_count
from errata.model.counts import holds_only_failures
from errata.model.record import Struct
from errata.model.run import WhyLeftOut, why_excluded


class CountByRun(Struct):
    name: str
    """A check, or the reason for a missing answer."""
    by_run: tuple[int, ...]
    """In how many attempts, a number for each column."""
    cases: int
    """Over how many cases."""

    @property
    def total(self) -> int:
        return sum(self.by_run)


def failed_dimensions(
    matrix: Matrix, failed: Mapping[int, Mapping[str, Mapping[str, int]]], order: Collection[str] = ()
) -> tuple[CountByRun, ...]:
    """`failed`: a run's number → check → case → in how many attempts it failed.

    In the harness's order where it has one, else the most frequent first.
    """
    counts: dict[str, list[int]] = {}
    cases: dict[str, set[str]] = {}
    for at, column in enumerate(matrix.columns):
        for name, by_case in failed.get(column.pk, {}).items():
            here = by_case.keys() & matrix.rows.keys()
            if here:
                counts.setdefault(name, [0] * len(matrix.columns))[at] = sum(map(by_case.__getitem__, here))
                cases.setdefault(name, set()).update(here)
    listed = {name: at for at, name in enumerate(order)}
    dimensions = [CountByRun(name=name, by_run=tuple(those), cases=len(cases[name])) for name, those in counts.items()]
    return tuple(sorted(dimensions, key=lambda one: (listed.get(one.name, len(listed)), -one.total, one.name)))


class ScorerByRun(Struct):
    name: str
    by_run: tuple[ScorerCount | None, ...]
    """For each column; none for a run without it."""
    all: ScorerCount


def scorers_beside(
    matrix: Matrix, values: Mapping[int, Mapping[str, Mapping[str, Sequence[bool | float]]]]
) -> Iterator[ScorerByRun]:
    """Scorers that do not decide the outcome, where at least two runs have them, over the cases compared."""
    for name in dict.fromkeys(name for column in matrix.columns for name in values[column.pk]):
        by_case = [values[column.pk].get(name, {}) for column in matrix.columns]
        known = [[value for case in one.keys() & matrix.rows.keys() for value in one[case]] for one in by_case]
        if sum(map(bool, known)) > 1:
            by_run = tuple(scorer_count(given) if given else None for given in known)
            yield ScorerByRun(name=name, by_run=by_run, all=scorer_count([*chain.from_iterable(known)]))


ENDED, ENDED_EARLY, EMPTY = "MODEL_ENDED_SESSION", "MODEL_ENDED_SESSION_EARLY", EMPTY_RESPONSE
NO_GENERATION, FILTERED, CUT_OFF, LIMIT = "NO_GENERATION", "CONTENT_FILTER", "CUT_OFF", "LIMIT_REACHED"

PATTERNS = (ENDED, ENDED_EARLY, EMPTY, NO_GENERATION, FILTERED, CUT_OFF, LIMIT)

_STATED = frozenset((ENDED, ENDED_EARLY, EMPTY))
"""What a harness writes in the place of an answer."""

_SIGNALS = {
    "provider_empty_response": EMPTY,
    "provider_no_answer": NO_GENERATION,
    "no_generation": NO_GENERATION,
    "crash_before_generation": NO_GENERATION,
    "provider_content_filter": FILTERED,
    "token_limit": CUT_OFF,
}


def pattern_of(attempt: Attempt, attribution: Attribution | None) -> str:
    """One of the patterns; empty for an answer like any other."""
    if attempt.native_status in _STATED:
        return attempt.native_status
    if attempt.answered_nothing:
        return EMPTY
    if attribution is None:
        return LIMIT if attempt.execution == "limit" else ""
    seen = {_SIGNALS[signal.name] for signal in attribution.signals if signal.name in _SIGNALS}
    if attempt.execution == "limit":
        seen.add(LIMIT)
    return _first(seen)


def counted_patterns(matrix: Matrix, patterns: Mapping[int, Mapping[str, Mapping[str, int]]]) -> tuple[CountByRun, ...]:
    """`found`: a run's number → case → pattern → how often. Only patterns that occur."""
    counts = [_counted(pattern, matrix, patterns) for pattern in PATTERNS]
    return tuple(one for one in counts if one.total)


def _counted(pattern: str, matrix: Matrix, patterns: Mapping[int, Mapping[str, Mapping[str, int]]]) -> CountByRun:
    by_run = []
    cases: set[str] = set()
    for column in matrix.columns:
        those = [
            (case, often[pattern])
            for case, often in patterns.get(column.pk, {}).items()
            if pattern in often and case in matrix.rows
        ]
        by_run.append(sum(count for _, count in those))
        cases.update(case for case, _ in those)
    return CountByRun(name=pattern, by_run=tuple(by_run), cases=len(cases))


def _first(seen: Collection[str]) -> str:
    return next((pattern for pattern in PATTERNS if pattern in seen), "")


RunCell = tuple[str, CellState, int, int, int, int | None, float | None]
"""Without the run's number."""


class RunSummary(Struct):
    """Of one run as a whole, in the form that is kept."""

    unavailable: bool
    scored: bool
    """Whether anything in it was."""
    scores: dict[Policy, Score]
    cells: list[RunCell]
    failed_checks: dict[str, dict[str, int]]
    """Check → case → in how many attempts it failed."""
    other_checks: dict[str, dict[str, list[bool | float]]]
    """Scorer that does not decide the outcome → case → the value of each attempt."""
    patterns: dict[str, dict[str, int]]
    """Case → reasons for missing answers, and how often."""
    roots: dict[str, str]
    """Case → the case whose failure it only follows from."""
    problems: tuple[str, ...]
    """Findings of the checkup that make the run unfit for comparison."""


class RunNumbers(msgspec.Struct, frozen=True):
    stored: StoredRun
    summary: RunSummary

    def cells(self) -> Iterator[Cell]:
        return (Cell(self.stored.pk, *cell) for cell in self.summary.cells)

    def why_left_out(self) -> WhyLeftOut | None:
        """Why the run is in no comparison; none where it is in."""
        if excluded := why_excluded(self.stored.run):
            return excluded
        if self.summary.unavailable:
            return WhyLeftOut("unavailable")
        if holds_only_failures(self.stored):
            return WhyLeftOut("only_failures" if self.stored.counts.attempts_in_log else "no_rows")
        return None if self.summary.scored else WhyLeftOut("not_scored")


class RunTrials:
    """One pass over the attempts of a run: its trials, the patterns that stand in place of answers, and its scores."""

    def __init__(
        self, run: Run, attempts: Iterable[Attempt], opinions: Opinions, *, timeouts: Timeouts, to_pool: bool
    ) -> None:
        self.patterns: dict[str, dict[str, int]] = {}
        self.roots: dict[str, str] = {}
        self.other_checks: dict[str, dict[str, list[bool | float]]] = {}
        self.trials = Trials(run, (), opinions, timeouts=timeouts, to_pool=to_pool)
        for attempt in attempts:
            if attempt.counted:
                self._note(attempt, opinions.attributions.get(attempt.id))
            self.trials.add(attempt)
        self.scores = scores_of(self.trials)

    def _note(self, attempt: Attempt, attribution: Attribution | None) -> None:
        if pattern := pattern_of(attempt, attribution):
            seen = self.patterns.setdefault(attempt.case, {})
            seen[pattern] = seen.get(pattern, 0) + 1
        for check in attempt.checks:
            if not check.counts and (given := check.given) is not None:
                self.other_checks.setdefault(check.name, {}).setdefault(attempt.case, []).append(given)
        if root := attempt.follows or (attribution.follows if attribution else ""):
            self.roots[attempt.case] = split_attempt_id(root).case

    @property
    def failed_checks(self) -> dict[str, dict[str, int]]:
        """Check → case → in how many attempts it failed."""
        failed: dict[str, dict[str, int]] = {}
        for trial in self.trials.rows:
            for check in dict.fromkeys(trial.failed):
                by_case = failed.setdefault(check, {})
                by_case[trial.case] = by_case.get(trial.case, 0) + 1
        return failed

    @property
    def cells(self) -> list[RunCell]:
        """By case, in the order of their keys."""
        tallies: dict[str, CellTally] = {}
        for trial in self.trials.rows:
            tally = tallies.get(trial.case)
            if tally is None:
                tally = tallies[trial.case] = CellTally()
            result = result_of(trial.execution, trial.measurement, trial.outcome, is_failure=trial.is_failure)
            value = trial.value
            tally.add(result, position=trial.position, values=(0, 0.0) if value is None else (1, value))
            tally.follows += trial.owner == "collateral"
        repeated = self.trials.repeated
        cells = (tally.cell(0, case, is_repeated=repeated) for case, tally in sorted(tallies.items()))
        return [(one.case, one.state, one.attempts, one.passes, one.fails, one.position, one.value) for one in cells]


def summarise_run(
    counted: RunTrials,
    *,
    problems: tuple[str, ...],
) -> RunSummary:
    return RunSummary(
        unavailable=counted.trials.unavailable,
        scored=any(one.measurement == "scored" for one in counted.trials.rows),
        scores=counted.scores,
        cells=counted.cells,
        failed_checks=counted.failed_checks,
        other_checks=counted.other_checks,
        patterns=counted.patterns,
        roots=counted.roots,
        problems=problems,
    )
