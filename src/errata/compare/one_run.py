"""One run by itself: hard categories, and the changes since the previous run."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from errata.compare.categories import CategoryCount, by_category, members_of
from errata.compare.matrix import Matrix, columns_of, matrix_of
from errata.compare.pairs import pairings, without_cells
from errata.compare.scores import Score
from errata.compare.sets import flips_between
from errata.model import StoredRun
from errata.model.cells import Cell
from errata.model.record import Struct


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
            if cell is not None and often >= cell.fails:
                left_out.add((column.pk, case))
    return frozenset(left_out)
