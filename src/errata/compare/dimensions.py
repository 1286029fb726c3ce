"""How often each check failed: a judge's dimension, a step, an assertion. Counted, never taken from a summary."""

from collections.abc import Collection, Mapping

import msgspec

from errata.compare.matrix import Matrix


class CountByRun(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """Of a check, or of what stood in the place of an answer."""
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

    In the order in which the harness lists its checks, where there is one, else the most frequent first.
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
    found = [CountByRun(name=name, by_run=tuple(those), cases=len(cases[name])) for name, those in counts.items()]
    return tuple(sorted(found, key=lambda one: (listed.get(one.name, len(listed)), -one.total, one.name)))
