"""What changed from one run to another, case by case."""

import msgspec

from errata.compare.matrix import Matrix
from errata.compare.sets import Cases
from errata.model.counts import Cell

KINDS = ("regressed", "fixed", "still_failing", "still_passing", "new", "gone", "undecided")


class Flips(msgspec.Struct, frozen=True, kw_only=True):
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

    @property
    def by_kind(self) -> dict[str, Cases]:
        return {kind: getattr(self, kind) for kind in KINDS}


def flips_between(matrix: Matrix, first: int, second: int) -> Flips:
    found: dict[str, list[str]] = {name: [] for name in KINDS}
    for case, row in matrix.rows.items():
        if kind := _kind(row[first], row[second]):
            found[kind].append(case)
    told = {name: tuple(cases) for name, cases in found.items()}
    return Flips(first=matrix.columns[first].label, second=matrix.columns[second].label, **told)


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
