"""Sets of cases: failed by all, unique to one run or subject, unstable, and changed from one run to the next."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from errata.compare.matrix import Matrix, Row
from errata.model.cells import Cell
from errata.model.record import Struct

Cases = tuple[str, ...]
Groups = Mapping[str, Sequence[int]]
"""A name → the places of its columns: each run alone, or the runs of each subject."""


class FailedByAll(Struct):
    runs: Cases
    subjects_in_some_run: Cases
    subjects_in_every_run: Cases


class Uniques(msgspec.Struct, frozen=True):
    """What sets one apart from all the others, by name."""

    fails: dict[str, Cases]
    """It fails, and every other has a result and does not fail."""
    passes: dict[str, Cases]
    """It passes and never fails, and every other fails."""
    fails_beside_gaps: dict[str, Cases]
    """It fails, no other does, and some other has no result."""


class Instability(Struct):
    """What several runs of one subject say together."""

    runs: int
    unstable: Cases
    """Passed here, failed there."""
    failed_in_every_run: Cases


def failed_by_all(matrix: Matrix) -> FailedByAll:
    subjects = matrix.subjects.values()
    every = tuple(case for case, row in matrix.rows.items() if all(cell is not None and cell.failed for cell in row))
    some = tuple(case for case, row in matrix.rows.items() if all(_fails(row, those) for those in subjects))
    return FailedByAll(runs=every, subjects_in_some_run=some, subjects_in_every_run=every)


def uniques(matrix: Matrix, groups: Groups) -> Uniques:
    fails: dict[str, list[str]] = {name: [] for name in groups}
    passes: dict[str, list[str]] = {name: [] for name in groups}
    beside_gaps: dict[str, list[str]] = {name: [] for name in groups}
    owner = {at: name for name, those in groups.items() for at in those}
    for case, row in matrix.rows.items() if len(groups) > 1 else ():
        failing = {owner[at] for at, cell in enumerate(row) if cell is not None and cell.failed}
        if len(failing) == 1:
            has_gaps = not all(
                any(cell.passes or cell.fails for cell in _cells(row, those)) for those in groups.values()
            )
            (beside_gaps if has_gaps else fails)[next(iter(failing))].append(case)
        if len(failing) == len(groups) - 1:
            (other,) = groups.keys() - failing
            if _only_passes(row, groups[other]):
                passes[other].append(case)
    return Uniques(_frozen(fails), _frozen(passes), _frozen(beside_gaps))


def each_run(matrix: Matrix) -> Groups:
    return {column.label: (at,) for at, column in enumerate(matrix.columns)}


def instability(matrix: Matrix) -> dict[str, Instability]:
    return {
        subject: Instability(
            runs=len(those),
            unstable=tuple(case for case, row in matrix.rows.items() if _wavers(row, those)),
            failed_in_every_run=tuple(
                case for case, row in matrix.rows.items() if all(cell.failed for cell in _cells(row, those))
            ),
        )
        for subject, those in matrix.subjects.items()
        if len(those) > 1
    }


def _cells(row: Row, those: Sequence[int]) -> Iterator[Cell]:
    """A case missing from a run counts like one without a verdict."""
    return (row[at] or _UNKNOWN for at in those)


def _fails(row: Row, those: Sequence[int]) -> bool:
    return any(cell.failed for cell in _cells(row, those))


def _only_passes(row: Row, those: Sequence[int]) -> bool:
    cells = list(_cells(row, those))
    return any(cell.passed for cell in cells) and not any(cell.fails for cell in cells)


def _wavers(row: Row, those: Sequence[int]) -> bool:
    """Rows of one try that contradict each other are the judge's wavering, not the subject's."""
    cells = [cell for cell in _cells(row, those) if cell.state != "contradictory"]
    return any(cell.passes for cell in cells) and any(cell.fails for cell in cells)


_UNKNOWN = Cell(0, "", "missing")


def _frozen(sets: Mapping[str, Sequence[str]]) -> dict[str, Cases]:
    return {name: tuple(cases) for name, cases in sets.items()}


KINDS = ("regressed", "fixed", "still_failing", "still_passing", "new", "gone", "undecided", "infrastructure", "edited")
_CHANGES = ("regressed", "fixed", "still_failing")


class Flips(Struct):
    first: str
    """The labels of the two columns."""
    second: str
    regressed: Cases
    fixed: Cases
    still_failing: Cases
    still_passing: Cases
    new: Cases
    """Only the second knows the case."""
    gone: Cases
    undecided: Cases
    """In one of the two it has no verdict, or both."""
    infrastructure: Cases = ()
    """It failed in one of the two or both, and not by the subject's fault: no change of the subject."""
    edited: Cases = ()
    """Both runs know the case, but its task was edited in between: not comparable."""

    @property
    def by_kind(self) -> dict[str, Cases]:
        return {kind: getattr(self, kind) for kind in KINDS}


def flips_between(
    matrix: Matrix,
    first: int,
    second: int,
    out: Collection[tuple[int, str]] = (),
    edited: Collection[str] = (),
) -> Flips:
    """`out`: runs and cases whose failure is an infrastructure failure; `edited`: cases whose task was edited."""
    pks = [matrix.columns[at].pk for at in (first, second)]
    cases_by_kind: dict[str, list[str]] = {name: [] for name in KINDS}
    for case, row in matrix.rows.items():
        if kind := _kind(row[first], row[second]):
            if case in edited and kind not in ("new", "gone"):
                kind = "edited"
            elif kind in _CHANGES and any((pk, case) in out for pk in pks):
                kind = "infrastructure"
            cases_by_kind[kind].append(case)
    flips = {name: tuple(cases) for name, cases in cases_by_kind.items()}
    return Flips(first=matrix.columns[first].label, second=matrix.columns[second].label, **flips)


_BY_PASSING = {
    (True, False): "regressed",
    (False, True): "fixed",
    (False, False): "still_failing",
    (True, True): "still_passing",
}


def _kind(before: Cell | None, after: Cell | None) -> str:
    """Empty for a case that neither of the two knows."""
    if before is None or after is None:
        return "" if before is after else "new" if before is None else "gone"
    if not before.decided or not after.decided:
        return "undecided"
    return _BY_PASSING[before.passed, after.passed]
