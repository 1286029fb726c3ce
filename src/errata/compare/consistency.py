"""Repeated runs of one subject on one suite: which cases, and which of their checks, do not come out the same.

A column is one of several equivalent tries at all cases: a run, or an epoch of one.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from errata.compare.clusters import effective_size
from errata.compare.intervals import Interval, wilson
from errata.compare.repeats import Reliability, Repeated, Status, reliability, status_of
from errata.model import Attempt

Reading = Literal["pass", "fail", "na"]
Metrics = tuple[tuple[str, Reading], ...]
"""Check → how it came out, of the checks that count."""
Key = tuple[int, int]
"""Of a column: which of the runs, and which epoch of it."""

NOT_TRIED = "missing"


class Try(NamedTuple):
    column: int
    """Counted from 1."""
    status: Status
    metrics: Metrics


class Flip(NamedTuple):
    """A check that passes in one column and fails in another."""

    metric: str
    readings: tuple[tuple[int, Reading], ...]

    @property
    def pattern(self) -> str:
        return "|".join(f"{column}:{reading}" for column, reading in self.readings)

    @property
    def counts(self) -> Counter[Reading]:
        return Counter(reading for _, reading in self.readings)


class CaseTries(NamedTuple):
    """A case in every column that tried it."""

    case: str
    tries: tuple[Try, ...]

    @property
    def repeated(self) -> Repeated:
        return Repeated(case=self.case, statuses=tuple(one.status for one in self.tries))

    @property
    def pattern(self) -> str:
        return "|".join(f"{one.column}:{one.status}" for one in self.tries)

    @property
    def flips(self) -> tuple[Flip, ...]:
        """In the order of the checks."""
        if len({one.metrics for one in self.tries}) == 1:
            return ()
        read = [(one.column, dict(one.metrics)) for one in self.tries]
        names = dict.fromkeys(name for one in self.tries for name, _ in one.metrics)
        found = (Flip(name, tuple((column, told.get(name, "na")) for column, told in read)) for name in names)
        return tuple(one for one in found if {"pass", "fail"} <= one.counts.keys())


class Study(NamedTuple):
    """All columns of one subject on one suite."""

    columns: tuple[Key, ...]
    cases: tuple[CaseTries, ...]
    """In the order of the conversation or suite, else by name."""
    duplicates: tuple[tuple[int, str], ...]
    """Column and case of which there are several rows: which of them counts nobody can say, so none does."""
    changed: tuple[str, ...]
    """Cases whose task is not the same in all runs: their tries are not equivalent."""
    absent: tuple[tuple[int, str], ...]
    """Column and case that was planned and has no row."""
    rows: int
    """Of all columns, duplicates too."""
    surplus: int
    """Rows beyond the first of their column and case."""
    tried: int
    """Cases with any row."""

    @property
    def repeated(self) -> list[Repeated]:
        return [one.repeated for one in self.cases]

    @property
    def reliability(self) -> tuple[Reliability, ...]:
        return reliability(self.repeated)

    @property
    def counts(self) -> dict[int, Counter[str]]:
        """Column → status → how many cases have it there."""
        found = {column: Counter[str]() for column in range(1, len(self.columns) + 1)}
        for case in self.cases:
            for one in case.tries:
                found[one.column][one.status] += 1
        return found

    @property
    def metrics(self) -> Counter[str]:
        """In how many tries each check was measured, in their order."""
        return Counter(name for case in self.cases for one in case.tries for name, _ in one.metrics)

    @property
    def flips(self) -> Iterator[tuple[str, Flip]]:
        return ((one.case, flip) for one in self.cases for flip in one.flips)


class Passing(msgspec.Struct, frozen=True, kw_only=True):
    """How much was passed over all columns; tries at one case hang together, and the interval says so."""

    passed: int
    measured: int
    rate: float | None
    interval: Interval | None


def passing(repeated: Sequence[Repeated]) -> Passing:
    clusters = [(float(one.passed), one.measured) for one in repeated if one.measured]
    passed, measured = sum(one.passed for one in repeated), sum(one.measured for one in repeated)
    size = effective_size(clusters)
    rate = passed / measured if measured else None
    interval = None if rate is None or size is None else wilson(rate * size, size)
    return Passing(passed=passed, measured=measured, rate=rate, interval=interval)


class Tries:
    """Takes attempts one by one, in any order, and keeps of each only what is compared."""

    def __init__(self) -> None:
        self._by_case: dict[str, list[tuple[Key, Status, Metrics]]] = {}
        self._places: dict[str, int] = {}
        self._absent: list[tuple[Key, str]] = []
        self._known: dict[Metrics, Metrics] = {}

    def add(self, column: Key, attempt: Attempt) -> None:
        if attempt.position is not None:
            self._places.setdefault(attempt.case, attempt.position)
        if attempt.execution == NOT_TRIED:
            self._absent.append((column, attempt.case))
            return
        metrics = metrics_of(attempt)
        # most attempts of a run came out alike
        one = (column, status_of(attempt), self._known.setdefault(metrics, metrics))
        self._by_case.setdefault(attempt.case, []).append(one)

    def study(self, *, changed: Collection[str] = ()) -> Study:
        """`changed` are cases whose task differs between the runs."""
        columns = sorted({one[0] for tries in self._by_case.values() for one in tries} | {at for at, _ in self._absent})
        numbers = {column: number for number, column in enumerate(columns, 1)}
        duplicates: list[tuple[int, str]] = []
        cases: list[CaseTries] = []
        surplus = 0
        for case in sorted(self._by_case, key=self._place):
            every = [Try(numbers[column], status, metrics) for column, status, metrics in self._by_case[case]]
            often = Counter(one.column for one in every)
            surplus += len(every) - len(often)
            duplicates += [(column, case) for column, count in sorted(often.items()) if count > 1]
            tries = sorted(one for one in every if often[one.column] == 1)
            if tries and case not in changed:
                cases.append(CaseTries(case, tuple(tries)))
        return Study(
            columns=tuple(columns),
            cases=tuple(cases),
            duplicates=tuple(sorted(duplicates, key=self._order)),
            changed=tuple(sorted(set(changed) & self._by_case.keys(), key=self._place)),
            absent=tuple(sorted(((numbers[column], case) for column, case in self._absent), key=self._order)),
            rows=sum(map(len, self._by_case.values())),
            surplus=surplus,
            tried=len(self._by_case),
        )

    def _order(self, at: tuple[int, str]) -> tuple[int, tuple[bool, int, str]]:
        return at[0], self._place(at[1])

    def _place(self, case: str) -> tuple[bool, int, str]:
        return case not in self._places, self._places.get(case, 0), case


def metrics_of(attempt: Attempt) -> Metrics:
    """Of several checks of one name the worst; a check that did not apply or was not measured says nothing."""
    found: dict[str, Reading] = {}
    for check in attempt.checks:
        if check.counts:
            reading: Reading = check.status if check.status in ("pass", "fail") else "na"
            before = found.get(check.name, "na")
            found[check.name] = "fail" if "fail" in (before, reading) else before if reading == "na" else reading
    return tuple(found.items())
