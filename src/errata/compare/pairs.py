"""Every two columns of a matrix over the cases that both were measured on: differences and ranks."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from math import fsum
from operator import attrgetter, mul, sub

import msgspec

from errata.compare.matrix import Matrix
from errata.compare.scores import Policy, Score
from errata.compare.significance import holm, mcnemar, paired_difference, paired_t, paired_t_interval
from errata.model.output.compare import RunPairOutput, SharesOutput, TallyOutput
from errata.model.record import Struct

ALPHA = 0.05


class _Marks(msgspec.Struct, frozen=True):
    """A column as two numbers with a bit for each case: a hundred pairs of long columns are compared at once."""

    passed: int
    failed: int

    def counts(self, other: "_Marks") -> tuple[int, int, int, int]:
        """Both pass, only the first, only the second, neither."""
        return (
            (self.passed & other.passed).bit_count(),
            (self.passed & other.failed).bit_count(),
            (self.failed & other.passed).bit_count(),
            (self.failed & other.failed).bit_count(),
        )


def pairings(matrix: Matrix, clean: Matrix, *, without: Collection[str] = ()) -> tuple[RunPairOutput, ...]:
    """`clean`: the same columns, without the cells that say nothing; `without`: cases that take no part."""
    labels = [column.label for column in matrix.columns]
    pairs = list(combinations(range(len(labels)), 2))
    every = _tallies(_marks(matrix, without), pairs)
    both = (every, every if clean is matrix else _tallies(_marks(clean, without), pairs))
    shares = _shares(clean, pairs, without, [tally.p for tally in both[1]])
    return tuple(
        RunPairOutput(first=labels[first], second=labels[second], all=every, clean=rest, shares=by_attempts)
        for (first, second), every, rest, by_attempts in zip(pairs, *both, shares, strict=True)
    )


def without_cells(matrix: Matrix, cells: Iterable[tuple[int, str]]) -> Matrix:
    """The matrix without the cells of these runs and cases; itself where there are none."""
    gone: dict[str, set[int]] = {}
    for pk, case in cells:
        gone.setdefault(case, set()).add(pk)
    if not gone:
        return matrix
    rows = {
        case: tuple(None if cell is None or cell.run in gone[case] else cell for cell in row) if case in gone else row
        for case, row in matrix.rows.items()
    }
    return Matrix(matrix.columns, rows)


def _shares(
    matrix: Matrix, pairs: Sequence[tuple[int, int]], without: Collection[str], mcnemars: Sequence[float]
) -> list[SharesOutput | None]:
    """None where every case either passed or failed: McNemar's test is enough there; its p is corrected too."""
    rows = [row for case, row in matrix.rows.items() if case not in without]
    result = attrgetter("result" if matrix.has_numbers else "share")
    columns = [
        [result(cell) if (cell := row[at]) is not None else None for row in rows] for at in range(len(matrix.columns))
    ]
    partly = [any(share not in (None, 0, 1) for share in column) for column in columns]
    known = [[share for share in column if share is not None] for column in columns]
    both: dict[tuple[int, int], _Both] = {}
    for first, second in pairs:
        if partly[first] or partly[second]:
            is_whole = len(known[first]) == len(known[second]) == len(rows)
            measured = (known[first], known[second]) if is_whole else _shared_cases(columns[first], columns[second])
            if measured[0]:
                both[first, second] = measured
    ps = [paired_t(*_sums_of(both[pair])) if pair in both else p for pair, p in zip(pairs, mcnemars, strict=True)]
    return [
        _share_difference(both[pair], p, adjusted, lower=matrix.columns[pair[0]].run.lower_is_better)
        if pair in both
        else None
        for pair, p, adjusted in zip(pairs, ps, holm(ps), strict=True)
    ]


_Both = tuple[list[float], list[float]]
"""The shares of two columns on the same cases."""


def _shared_cases(first: Sequence[float | None], second: Sequence[float | None]) -> _Both:
    """Where both have a share; nothing where none of these is a part."""
    both = [(one, other) for one, other in zip(first, second, strict=True) if one is not None and other is not None]
    if all(one in (0, 1) and other in (0, 1) for one, other in both):
        return [], []
    return [one for one, _ in both], [other for _, other in both]


def _sums_of(measured: _Both) -> tuple[int, float, float]:
    """How many cases, and the sums of the differences and of their squares."""
    apart = list(map(sub, *measured))
    return len(apart), fsum(apart), fsum(map(mul, apart, apart))


def _share_difference(measured: _Both, p: float, adjusted: float, *, lower: bool) -> SharesOutput:
    cases, total, squares = _sums_of(measured)
    return SharesOutput(
        mean=total / cases,
        interval=paired_t_interval(cases, total, squares),
        cases=cases,
        p=p,
        adjusted=adjusted,
        differs=adjusted < ALPHA,
        lower_is_better=lower,
    )


def shares_by_case(matrix: Matrix, without: Collection[str] = ()) -> dict[str, dict[str, float]]:
    """Label of a column → case → the share of its attempts that passed."""
    rows = [(case, row) for case, row in matrix.rows.items() if case not in without]
    return {
        column.label: {
            case: share for case, row in rows if (cell := row[at]) is not None and (share := cell.share) is not None
        }
        for at, column in enumerate(matrix.columns)
    }


def _marks(matrix: Matrix, without: Collection[str]) -> list[_Marks]:
    rows = [row for case, row in matrix.rows.items() if case not in without]
    marks = []
    for at in range(len(matrix.columns)):
        cells = [row[at] for row in rows]
        passed = _bits([cell is not None and cell.passed for cell in cells])
        failed = _bits([cell is not None and cell.failed for cell in cells])
        marks.append(_Marks(passed, failed))
    return marks


def _bits(values: Sequence[bool]) -> int:
    return int("".join("1" if value else "0" for value in values) or "0", 2)


def _tallies(marks: Sequence[_Marks], pairs: Sequence[tuple[int, int]]) -> list[TallyOutput]:
    counts = [marks[first].counts(marks[second]) for first, second in pairs]
    ps = [mcnemar(only_first, only_second) for _, only_first, only_second, _ in counts]
    made = []
    for (both, only_first, only_second, neither), p, adjusted in zip(counts, ps, holm(ps), strict=True):
        between = paired_difference(both, only_first, only_second, neither)
        made.append(
            TallyOutput(
                shared=both + only_first + only_second + neither,
                only_first_fails=only_second,
                only_second_fails=only_first,
                p=p,
                adjusted=adjusted,
                difference=between.value if between else None,
                interval=between.interval if between else None,
                differs=adjusted < ALPHA,
            )
        )
    return made


class Ranked(Struct):
    label: str
    score: Score
    """Without infrastructure failures."""
    best: int
    """One more than the number of models that are significantly better."""
    worst: int
    """As many as there are, less those that are significantly worse."""
    better_than: tuple[str, ...]
    worse_than: tuple[str, ...]


def rank(scores: Mapping[str, Mapping[Policy, Score]], pairings: Sequence[RunPairOutput]) -> tuple[Ranked, ...]:
    """By label. Those without a clean score come last."""
    better: dict[str, list[str]] = {label: [] for label in scores}
    worse: dict[str, list[str]] = {label: [] for label in scores}
    for pair in pairings:
        if pair.better:
            ahead, behind = (pair.first, pair.second) if pair.better > 0 else (pair.second, pair.first)
            better[ahead].append(behind)
            worse[behind].append(ahead)
    ranked = [
        Ranked(
            label=label,
            score=policies["clean"],
            best=1 + len(worse[label]),
            worst=len(scores) - len(better[label]),
            better_than=tuple(better[label]),
            worse_than=tuple(worse[label]),
        )
        for label, policies in scores.items()
    ]
    return tuple(sorted(ranked, key=lambda one: one.score.worth))
