"""Every two columns of a matrix over the cases that both were measured on: whether they differ significantly."""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

import msgspec

from errata.compare.bootstrap import BootstrapMean, paired_bootstrap
from errata.compare.intervals import Interval
from errata.compare.matrix import Matrix
from errata.compare.significance import holm, mcnemar, paired_difference
from errata.model.counts import Cell

ALPHA = 0.05
RESAMPLED = 50
"""Of more pairs than this, none is resampled: it takes its time."""


class PairTally(msgspec.Struct, frozen=True, kw_only=True):
    """Two columns over the cases that both passed or failed."""

    shared: int
    only_first_fails: int
    only_second_fails: int
    p: float
    """Exact McNemar, two-sided."""
    adjusted: float
    """The same, corrected for the number of pairs (Holm)."""
    difference: float | None
    """By how much the first passes more often."""
    interval: Interval | None

    @property
    def differs(self) -> bool:
        return self.adjusted < ALPHA


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    first: str
    second: str
    all: PairTally
    clean: PairTally
    """Without infrastructure failures of either run."""
    shares: BootstrapMean | None = None
    """Where some case passes in some attempts only: by how much the first passes more of its attempts, in the mean over
    cases, with the interval of a paired bootstrap."""


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


def pairings(matrix: Matrix, clean: Matrix, *, without: Collection[str] = ()) -> tuple[Pairing, ...]:
    """`clean`: the same columns, without the cells that say nothing; `without`: cases that take no part."""
    labels = [column.label for column in matrix.columns]
    pairs = list(combinations(range(len(labels)), 2))
    every = _tallies(_marks(matrix, without), pairs)
    both = (every, every if clean is matrix else _tallies(_marks(clean, without), pairs))
    shares = [_shares(matrix, *pair, without) for pair in pairs] if len(pairs) <= RESAMPLED else [None] * len(pairs)
    return tuple(
        Pairing(first=labels[first], second=labels[second], all=every, clean=rest, shares=resampled)
        for (first, second), every, rest, resampled in zip(pairs, *both, shares, strict=True)
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


def _shares(matrix: Matrix, first: int, second: int, without: Collection[str]) -> BootstrapMean | None:
    """None where every case either passed or failed: McNemar's test is enough there."""
    cells = [(row[first], row[second]) for case, row in matrix.rows.items() if case not in without]
    both = [(one, other) for one, other in cells if one is not None and other is not None]
    measured = [pair for pair in both if all(cell.decided or cell.state == "mixed" for cell in pair)]
    if not any(cell.state == "mixed" for pair in measured for cell in pair):
        return None
    return paired_bootstrap([_share(one) for one, _ in measured], [_share(other) for _, other in measured])


def _share(cell: Cell) -> float:
    return cell.passes / (cell.passes + cell.fails)


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


def _tallies(marks: Sequence[_Marks], pairs: Sequence[tuple[int, int]]) -> list[PairTally]:
    counts = [marks[first].counts(marks[second]) for first, second in pairs]
    ps = [mcnemar(only_first, only_second) for _, only_first, only_second, _ in counts]
    made = []
    for (both, only_first, only_second, neither), p, adjusted in zip(counts, ps, holm(ps), strict=True):
        between = paired_difference(both, only_first, only_second, neither)
        made.append(
            PairTally(
                shared=both + only_first + only_second + neither,
                only_first_fails=only_second,
                only_second_fails=only_first,
                p=p,
                adjusted=adjusted,
                difference=between.value if between else None,
                interval=between.interval if between else None,
            )
        )
    return made
