"""Failed rows by category, and whether a category is significantly harder than the rest."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import fmean

import msgspec

from errata.compare.matrix import Matrix, Row
from errata.compare.significance import fisher, holm
from errata.errors import NotFoundError, did_you_mean
from errata.model.cells import Cell
from errata.model.counts import CategoryOverlap

ALPHA = 0.05
LISTED = 12

IsTelling = Callable[[Cell], bool]
"""Whether a cell is a usable result of the subject, and no infrastructure failure or broken judge."""


class CaseFacts(msgspec.Struct, frozen=True, gc=False):
    name: str
    """As its harness names it."""
    categories: tuple[str, ...] = ()


class CategoryCount(msgspec.Struct, frozen=True, kw_only=True):
    """A case may be in several categories; then it is counted in each."""

    name: str
    cases: int
    by_run: tuple[int, ...]
    """Cases that failed, a number for each column; a case without a verdict is none of them."""
    passed: int
    """Cases that passed in every run."""
    tried: int
    """Cases that at least one run was measured on."""
    hard: int
    """Of these, the ones that at least half of the runs failed by their own fault."""
    means: tuple[float | None, ...] = ()
    """Of each column, over its cases; only where results are numbers."""
    p: float | None = None
    """Fisher's exact test against all other cases: p of this many hard cases by chance; none without others."""
    adjusted: float | None = None
    """The same, corrected for the number of categories (Holm)."""
    harder: bool = False

    @property
    def failed_rows(self) -> int:
        return sum(self.by_run)


def by_category(matrix: Matrix, members: Mapping[str, Iterable[str]], telling: IsTelling) -> tuple[CategoryCount, ...]:
    """`members`: category → its cases."""
    hardness = {case: _hard(row, telling) for case, row in matrix.rows.items()}
    has_numbers = matrix.has_numbers
    counts = [
        _count(name, [case for case in cases if case in matrix.rows], matrix, hardness, has_numbers=has_numbers)
        for name, cases in sorted(members.items())
    ]
    counts = [one for one in counts if one.cases]
    known = [hard for hard in hardness.values() if hard is not None]
    return _tested(counts, len(known), sum(known))


def _count(
    name: str, cases: Sequence[str], matrix: Matrix, hardness: Mapping[str, bool | None], *, has_numbers: bool
) -> CategoryCount:
    rows = [matrix.rows[case] for case in cases]
    by_run = tuple(
        sum(cell.fails > 0 for row in rows if (cell := row[at]) is not None) for at in range(len(matrix.columns))
    )
    known = [hard for case in cases if (hard := hardness[case]) is not None]
    passed = sum(all(cell is not None and cell.passed for cell in row) for row in rows)
    means = tuple(_mean([row[at] for row in rows]) for at in range(len(matrix.columns))) if has_numbers else ()
    return CategoryCount(
        name=name, cases=len(cases), by_run=by_run, passed=passed, tried=len(known), hard=sum(known), means=means
    )


def _mean(cells: Sequence[Cell | None]) -> float | None:
    shares = [share for cell in cells if cell is not None and (share := cell.result) is not None]
    return fmean(shares) if shares else None


def _hard(row: Row, telling: IsTelling) -> bool | None:
    """None where nothing is known. Cases, not rows, are counted: runs of one case are not independent of each other."""
    decided = [cell.failed for cell in row if cell is not None and cell.decided and telling(cell)]
    return 2 * sum(decided) >= len(decided) if decided else None


def _tested(counts: Sequence[CategoryCount], tried: int, hard: int) -> tuple[CategoryCount, ...]:
    testable = [one for one in counts if 0 < one.tried < tried]
    ps = [fisher(one.hard, one.tried, hard, tried) for one in testable]
    tests = {one.name: (p, adjusted) for one, p, adjusted in zip(testable, ps, holm(ps), strict=True)}
    return tuple(_with_p(one, *tests[one.name], hard, tried) if one.name in tests else one for one in counts)


def _with_p(category: CategoryCount, p: float, adjusted: float, hard: int, tried: int) -> CategoryCount:
    above = category.hard * tried > hard * category.tried
    return msgspec.structs.replace(category, p=p, adjusted=adjusted, harder=above and adjusted < ALPHA)


def members_of(categories: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for case, names in categories.items():
        for name in names:
            members.setdefault(name, []).append(case)
    return members


def overlap_of(failures: Mapping[str, int], categories: Mapping[str, Collection[str]]) -> CategoryOverlap:
    """`failures`: case → in how many runs it failed."""
    if not categories:
        return CategoryOverlap()
    often = [(count, len(categories.get(case, ()))) for case, count in failures.items()]
    return CategoryOverlap(
        several=sum(count for count, named in often if named > 1),
        none=sum(count for count, named in often if not named),
    )


def cases_in_category(cases: dict[str, CaseFacts], category: str) -> Sequence[str]:
    members = members_of({key: facts.categories for key, facts in cases.items()})
    if category in members:
        return members[category]
    hints = [did_you_mean(category, members), _listed(sorted(members))]
    raise NotFoundError(f"No category is named `{category}`", hint="\n".join(hint for hint in hints if hint))


def _listed(known: Sequence[str]) -> str:
    if not known:
        return "the logs of these runs do not name categories"
    more = f" and {len(known) - LISTED} more" if len(known) > LISTED else ""
    return f"known are: {', '.join(known[:LISTED])}{more}"
