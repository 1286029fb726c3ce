"""Which runs and cases a comparison is made of, and when there is none."""

from collections.abc import Sequence

from errata.compare.matrix import Matrix
from errata.compare.suites import Difference
from errata.errors import NotComparableError
from errata.model import StoredRun
from errata.model.counts import Cell

NOT_MEASURED = frozenset(("missing", "unscored", "contradictory"))
SHOWN = 5


def common_cases(matrix: Matrix) -> frozenset[str]:
    """The cases that every run was measured on."""
    return frozenset(case for case, row in matrix.rows.items() if all(map(_is_measured, row)))


def _is_measured(cell: Cell | None) -> bool:
    return cell is not None and cell.state not in NOT_MEASURED


def refuse_too_few(left: int, left_out: Sequence[tuple[StoredRun, str]], least: int = 2) -> None:
    if left >= least:
        return
    told = "\n".join(f"left out: {one.run.native_id}, {why}" for one, why in left_out)
    remaining = "One run alone is" if left else "No run is"
    raise NotComparableError(f"{remaining} left to be compared", hint=told)


def refuse_unequal(found: Sequence[Difference], matrix: Matrix) -> None:
    """Where runs did not measure the same thing, unless only the cases they share were asked for."""
    refusing = [one for one in found if one.refuses]
    if refusing:
        what = ", ".join(one.what for one in refusing)
        told = [told_of(one) for one in refusing]
        raise NotComparableError(
            f"These runs can't be compared as they stand: they differ in {what}",
            hint="\n".join([*told, _way_out(len(common_cases(matrix)))]),
        )


def refuse_nothing_shared(matrix: Matrix, found: Sequence[Difference]) -> None:
    if not matrix.rows:
        told = [told_of(one) for one in found]
        raise NotComparableError("These runs share no case that all of them were measured on", hint="\n".join(told))


def told_of(one: Difference) -> str:
    """A difference in a line."""
    if one.values:
        return f"{one.what}: {'; '.join(f'{value} in {_some(labels)}' for value, labels in one.values.items())}"
    return f"{one.what} edited in between: {_some(one.cases)}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _way_out(shared: int) -> str:
    if not shared:
        return "they share no case that all of them were measured on"
    cases = "case" if shared == 1 else "cases"
    return f"`--common` compares them all the same, on the {shared:,} {cases} that all were measured on"
