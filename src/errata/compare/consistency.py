"""Repeated runs of one subject on one suite: which cases, and which of their checks, do not come out the same."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from math import sqrt
from statistics import fmean, stdev, variance
from typing import Literal, NamedTuple

from errata.compare.intervals import effective_sample_size, wilson
from errata.compare.matrix import natural, subject_names
from errata.compare.repeats import RepeatedCase, Status, reliability, status_of
from errata.errors import ErrataError
from errata.model import Attempt, StoredRun, split_attempt_id
from errata.model.output.consistency import NumbersOutput, PassingOutput, ReliabilityOutput
from errata.model.record import Struct
from errata.model.run import WhyLeftOut, case_name, why_excluded
from errata.model.times import moment_of
from errata.text.shell import shell_word

CheckReading = Literal["pass", "fail", "na"]
Metrics = tuple[tuple[str, CheckReading], ...]
"""Check → how it came out, of the checks that count."""
Key = tuple[int, int]
"""Of a column: which of the runs, and which epoch of it."""

CaseOrder = tuple[bool, int, tuple[tuple[bool, int, str], ...]]

NOT_TRIED = "missing"


class TriedAttempt(NamedTuple):
    column: int
    status: Status
    metrics: Metrics
    value: float | None = None

    @property
    def result(self) -> float | None:
        """As a number: a pass is 1, a failure 0."""
        return self.value if self.value is not None else {"pass": 1.0, "fail": 0.0}.get(self.status)


class Flip(NamedTuple):
    metric: str
    readings: tuple[tuple[int, CheckReading], ...]

    @property
    def pattern(self) -> str:
        return "|".join(f"{column}:{reading}" for column, reading in self.readings)

    @property
    def counts(self) -> Counter[CheckReading]:
        return Counter(reading for _, reading in self.readings)


class CaseTries(NamedTuple):
    case: str
    tries: tuple[TriedAttempt, ...]

    @property
    def results(self) -> list[float]:
        return [result for one in self.tries if (result := one.result) is not None]

    @property
    def repeated(self) -> RepeatedCase:
        return RepeatedCase(case=self.case, statuses=tuple(one.status for one in self.tries))

    @property
    def pattern(self) -> str:
        return "|".join(f"{one.column}:{one.status}" for one in self.tries)

    @property
    def flips(self) -> tuple[Flip, ...]:
        if len({one.metrics for one in self.tries}) == 1:
            return ()
        read = [(one.column, dict(one.metrics)) for one in self.tries]
        names = dict.fromkeys(name for one in self.tries for name, _ in one.metrics)
        flips = (Flip(name, tuple((column, told.get(name, "na")) for column, told in read)) for name in names)
        return tuple(one for one in flips if {"pass", "fail"} <= one.counts.keys())


class Study(NamedTuple):
    columns: tuple[Key, ...]
    cases: tuple[CaseTries, ...]
    """In the order of the conversation or suite, else by name (2 before 10)."""
    duplicates: tuple[tuple[int, str], ...]
    """Column and case with several rows: it is unknown which one counts, so none does."""
    changed: tuple[str, ...]
    """Cases whose task is not the same in all runs: their tries are not equivalent."""
    absent: tuple[tuple[int, str], ...]
    """Column and case that was planned and has no row."""
    rows: int
    """Of all columns, duplicates too."""
    surplus: int
    """Rows beyond the first of their column and case."""
    tried: int

    @property
    def repeated(self) -> list[RepeatedCase]:
        return [one.repeated for one in self.cases]

    @property
    def numbers(self) -> NumbersOutput | None:
        """Where some results are numbers that are neither a pass nor a failure."""
        if not any(attempt.value is not None for case in self.cases for attempt in case.tries):
            return None
        by_column: dict[int, list[float]] = {column: [] for column in range(1, len(self.columns) + 1)}
        for attempt in (attempt for case in self.cases for attempt in case.tries):
            if (result := attempt.result) is not None:
                by_column[attempt.column].append(result)
        by_case = [case.results for case in self.cases if case.results]
        repeated = [variance(results) for results in by_case if len(results) > 1]
        means = [fmean(results) for results in by_case]
        return NumbersOutput(
            mean=fmean(chain.from_iterable(by_case)),
            by_column=tuple(fmean(results) if results else None for results in by_column.values()),
            within_cases=sqrt(fmean(repeated)) if repeated else None,
            between_cases=stdev(means) if len(means) > 1 else None,
        )

    @property
    def reliability(self) -> tuple[ReliabilityOutput, ...]:
        return reliability(self.repeated)

    @property
    def counts(self) -> dict[int, Counter[str]]:
        counts = {column: Counter[str]() for column in range(1, len(self.columns) + 1)}
        for case in self.cases:
            for attempt in case.tries:
                counts[attempt.column][attempt.status] += 1
        return counts

    @property
    def metrics(self) -> Counter[str]:
        """In how many tries each check was measured, in their order."""
        return Counter(name for case in self.cases for one in case.tries for name, _ in one.metrics)

    @property
    def flips(self) -> Iterator[tuple[str, Flip]]:
        return ((one.case, flip) for one in self.cases for flip in one.flips)


def passing(repeated: Sequence[RepeatedCase]) -> PassingOutput:
    clusters = [(float(one.passed), one.measured) for one in repeated if one.measured]
    passed, measured = sum(one.passed for one in repeated), sum(one.measured for one in repeated)
    size = effective_sample_size(clusters)
    rate = passed / measured if measured else None
    interval = None if rate is None or size is None else wilson(rate * size, size)
    return PassingOutput(passed=passed, measured=measured, rate=rate, interval=interval)


class Tries:
    """Takes attempts one by one, in any order, and keeps of each only what is compared."""

    def __init__(self) -> None:
        self._by_case: dict[str, list[tuple[Key, Status, Metrics, float | None]]] = {}
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
        reading = (column, status_of(attempt), self._known.setdefault(metrics, metrics), attempt.value)
        self._by_case.setdefault(attempt.case, []).append(reading)

    def study(self, *, changed: Collection[str] = ()) -> Study:
        """`changed` are cases whose task differs between the runs."""
        columns = sorted({one[0] for tries in self._by_case.values() for one in tries} | {at for at, _ in self._absent})
        numbers = {column: number for number, column in enumerate(columns, 1)}
        duplicates: list[tuple[int, str]] = []
        cases: list[CaseTries] = []
        surplus = 0
        for case in sorted(self._by_case, key=self._place):
            every = [
                TriedAttempt(numbers[column], status, metrics, value)
                for column, status, metrics, value in self._by_case[case]
            ]
            often = Counter(one.column for one in every)
            surplus += len(every) - len(often)
            duplicates += [(column, case) for column, count in sorted(often.items()) if count > 1]
            tries = sorted((one for one in every if often[one.column] == 1), key=lambda one: one.column)
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

    def _order(self, at: tuple[int, str]) -> tuple[int, CaseOrder]:
        return at[0], self._place(at[1])

    def _place(self, case: str) -> CaseOrder:
        return case not in self._places, self._places.get(case, 0), natural(case)


def metrics_of(attempt: Attempt) -> Metrics:
    """Of several checks with one name the worst; checks that were not applied or not measured are left out."""
    readings: dict[str, CheckReading] = {}
    for check in attempt.checks:
        if check.counts:
            reading: CheckReading = check.status if check.status in ("pass", "fail") else "na"
            before = readings.get(check.name, "na")
            readings[check.name] = "fail" if "fail" in (before, reading) else before if reading == "na" else reading
    return tuple(readings.items())


LISTED = 5


class StudyColumn(Struct):
    index: int
    """Counted from 1 over the runs in the order of their start."""
    stored: StoredRun
    short_name: str
    epoch: int | None = None
    """None where the run tried every case once."""

    @property
    def run_id(self) -> str:
        return self._numbered(self.stored.run.native_id)

    @property
    def name(self) -> str:
        return self._numbered(self.short_name)

    def _numbered(self, name: str) -> str:
        return name if self.epoch is None else f"{name}#{self.epoch}"


class Consistency(Struct):
    subject: str
    suite: str
    suite_version: str
    columns: tuple[StudyColumn, ...]
    study: Study
    judged_twice: int

    @property
    def benchmark(self) -> str:
        return " ".join(filter(None, (self.suite, self.suite_version)))

    @property
    def runs(self) -> list[StoredRun]:
        return list({one.stored.pk: one.stored for one in self.columns}.values())

    def name_of(self, case: str) -> str:
        return case_name(self.columns[0].stored.run, case)


class Consistencies(Struct):
    studies: tuple[Consistency, ...]
    left_out: tuple[tuple[StoredRun, WhyLeftOut], ...]


class StudyInputs(NamedTuple):
    attempts: Callable[[StoredRun], Iterable[Attempt]]
    """The counted attempts of a run, in the order of the conversation or suite."""
    changed_cases: Callable[[Sequence[int]], set[str]]
    short_name: Callable[[str], str]


def consistency_of(runs: Sequence[StoredRun], inputs: StudyInputs) -> Consistencies:
    """One study per subject and suite, in the order of their first mention."""
    out = tuple((one, why) for one in runs if (why := _why_left_out(one)))
    left = [one for one in runs if not _why_left_out(one)]
    together: dict[tuple[str, str, str], list[StoredRun]] = {}
    for name, stored in zip(subject_names([one.run for one in left]), left, strict=True):
        together.setdefault((name, stored.run.suite, stored.run.suite_version), []).append(stored)
    studies = tuple(_study(subject, those, inputs) for (subject, _, _), those in together.items())
    return Consistencies(studies=studies, left_out=out)


def refuse_duplicates(studies: Sequence[Consistency]) -> None:
    """Raised after all other output: the other cases are not affected."""
    duplicates = [
        (group.columns[column - 1].name, group.name_of(case))
        for group in studies
        for column, case in group.study.duplicates
    ]
    if not duplicates:
        return
    named = ", ".join(f"`{case}` of run `{run}`" for run, case in duplicates[:LISTED])
    more = f" and {len(duplicates) - LISTED} more" if len(duplicates) > LISTED else ""
    raise ErrataError(
        f"Several rows for one case of one run, not counted: {named}{more}",
        hint=f"`errata check {shell_word(duplicates[0][0])}` shows them; rerun these cases, or leave the run out",
    )


def with_epochs(attempts: Iterable[Attempt]) -> Iterator[tuple[int, Attempt]]:
    """Each attempt with its epoch; a second row for one try has the epoch of the first."""
    for attempt in attempts:
        first = attempt.duplicate_of
        yield (attempt.index if first is None else split_attempt_id(first).index), attempt


def _why_left_out(stored: StoredRun) -> WhyLeftOut | None:
    if excluded := why_excluded(stored.run):
        return excluded
    return None if stored.counts.measurements.get("scored") else WhyLeftOut("not_scored")


def _study(subject: str, runs: Sequence[StoredRun], inputs: StudyInputs) -> Consistency:
    ordered = sorted(runs, key=lambda one: (moment_of(one.run.started_at or one.imported_at), one.run.native_id))
    tries, judged_twice = Tries(), 0
    for at, stored in enumerate(ordered):
        for epoch, attempt in with_epochs(inputs.attempts(stored)):
            tries.add((at, epoch), attempt)
            judged_twice += len(attempt.judgements) > 1
    study, run = tries.study(changed=inputs.changed_cases([one.pk for one in ordered])), ordered[0].run
    often = Counter(at for at, _ in study.columns)
    return Consistency(
        subject=subject,
        suite=run.suite,
        suite_version=run.suite_version,
        columns=tuple(
            StudyColumn(
                index=number,
                stored=ordered[at],
                short_name=inputs.short_name(ordered[at].run.native_id),
                epoch=epoch if often[at] > 1 else None,
            )
            for number, (at, epoch) in enumerate(study.columns, 1)
        ),
        study=study,
        judged_twice=judged_twice,
    )
