"""What listings and comparisons show of a run: counted once, at import; and shares with their interval."""

from collections.abc import Mapping
from math import sqrt
from typing import Literal

import msgspec

from errata.model.record import Record, Struct
from errata.model.run import Run
from errata.model.words import Severity


class Counts(Record):
    attempts: int = 0
    """All of them: children and superseded ones too."""
    counted: int = 0
    cases: int = 0
    """Cases with at least one counted attempt."""
    failures: int = 0
    unreadable: int = 0
    executions: dict[str, int] = {}
    """Of the counted attempts, like the next two."""
    measurements: dict[str, int] = {}
    outcomes: dict[str, int] = {}
    checks: dict[str, dict[str, int]] = {}
    """Check → status → how often, over all attempts. A failure whose value is on a scale is a `number`,
    and one of an attempt that does not count is `below`."""
    failed_checks: dict[str, int] = {}
    """Check → in how many counted attempts it failed."""
    mean: float | None = None
    """Where results are numbers that no rule makes a pass or a failure; a pass beside them is 1, a failure 0."""
    values: int = 0
    """Results in the mean."""
    labels: dict[str, int] = {}
    """Results that are words without an order → how often."""
    cost: float | None = None
    cost_known: int = 0
    tokens: int | None = None

    @property
    def has_only_labels(self) -> bool:
        """Every result is a word without an order."""
        return bool(self.labels) and set(self.outcomes) == {"none"}

    @property
    def attempts_in_log(self) -> int:
        """The counted attempts that the log holds: this is what `attempts` means wherever a person reads it."""
        return self.counted - self.missing

    @property
    def attempts_made(self) -> int:
        """All that the log holds, children and superseded ones too; a missing case was never tried."""
        return self.attempts - self.missing

    @property
    def missing(self) -> int:
        """Planned and named, but never made."""
        return self.executions.get("missing", 0)


class StoredRun(Record):
    """A run as the store holds it."""

    run: Run
    counts: Counts
    pk: int
    imported_at: str
    digest: str


class CategoryOverlap(msgspec.Struct, frozen=True):
    """Why failures by category do not add up to the failures."""

    several: int = 0
    """Failures of cases with several categories; they count in each."""
    none: int = 0
    """Failures of cases without a category, where other cases have one."""


# --- a share with its Wilson interval


Interval = tuple[float, float]
Z = 1.959963984540054
"""95 %, two-sided."""


def wilson(passed: float, total: float, *, z: float = Z) -> Interval | None:
    """The Wilson interval of a rate; none without data. Correlated attempts count less: effective sample size."""
    if total == 0:
        return None
    rate, square = passed / total, z * z
    centre = rate + square / (2 * total)
    spread = z * sqrt(rate * (1 - rate) / total + square / (4 * total * total))
    whole = 1 + square / total
    low, high = (centre - spread) / whole, (centre + spread) / whole
    # at the ends the formula misses the bound by a rounding error
    return (0.0 if passed == 0 else max(0.0, low), 1.0 if passed == total else min(1.0, high))


class RightShare(Struct):
    """How many of how many."""

    right: int
    of: int

    @property
    def rate(self) -> float | None:
        return self.right / self.of if self.of else None

    @property
    def interval(self) -> Interval | None:
        """Wilson, 95 %."""
        return wilson(self.right, self.of)


NothingFailed = Literal[
    "all_passed",
    "all_passed_some_suspicious",
    "all_passed_doubted",
    "not_in_log",
    "nothing_measured",
    "numbers",
    "labels",
    "not_all_passed",
]
NoEstimate = Literal[
    "only_failures", "not_in_log", "not_fit", "suspicious", "disputed", "results", "left_out", "too_few"
]
"""Why no figure is the best estimate of a score."""
Doubt = Literal["breaks", "warns", "results", "suspicious", "left_out"]
"""What speaks against calm words: a finding breaks the run, or warns, or doubts results that count; passes are
suspicious; more than a tenth is left out of the score, and could move it beyond its own interval."""
_NOT_MADE = ("missing", "unfinished", "skipped")
_NOT_MEASURED = (*_NOT_MADE, "error", "cancelled")


class HarnessCount(Struct):
    """The harness's own count for a run, where the log does not hold all rows."""

    passed: int | None = None
    failed: int | None = None
    """Where the harness counts them, too: what is neither has no result."""
    total: int | None = None
    metric: str = ""
    value: float | None = None
    n: int | None = None
    """The total, where the harness gives one."""


class WithoutFailures(Struct):
    """What is the case where nothing failed."""

    state: NothingFailed
    made: int = 0
    suspicious: int = 0
    """Of the passes, those that deserve a second look."""
    findings: dict[Severity, int] = {}
    """Where all passed: what the checkup found, without notes."""
    missing: int = 0
    counts: dict[str, int] = {}
    """`passed`, `not_in_log`, `missing`, `unfinished`, `skipped`, `partial`, `no_verdict`; only those above 0.
    Of `labels` the labels."""
    harness: HarnessCount | None = None
    failed_checks: dict[str, int] = {}
    """Where all passed by the harness's rule: the other checks that failed, each with how often."""
    mean: float | None = None
    """`numbers`: of the results that are numbers, and how many these are."""
    values: int = 0


def not_in_log(run: Run, *, cases: int, executions: Mapping[str, int]) -> int:
    """Cases without a row that were measured all the same; of cases that have some rows, such attempts.

    `executions` are those of the counted attempts, `cases` is how many have one.
    """
    if run.measured_attempts is None:
        return 0
    absent = (run.expected_cases or 0) - cases
    if absent <= 0:
        made = sum(executions.values()) - executions.get("missing", 0)
        return max(0, run.measured_attempts - (min(made, cases) if run.measured_unit == "cases" else made))
    # some harnesses count what ended in an error, others do not: it is never more than what has no row
    unmeasured = _NOT_MADE if run.measured_passes is not None else _NOT_MEASURED
    measured = sum(often for word, often in executions.items() if word not in unmeasured)
    measured = min(measured, cases) if run.measured_unit == "cases" else measured
    return min(max(0, run.measured_attempts - measured), absent)


def passes_without_rows(run: Run, *, passes_in_rows: int, not_in_log: int) -> int | None:
    """How many of the cases that are not in the log passed by the harness's count; None where it states none.

    `passes_in_rows`: those that its count finds among the rows.
    """
    return None if run.harness_passes is None else min(max(0, run.harness_passes - passes_in_rows), not_in_log)


class PassCount(msgspec.Struct, frozen=True):
    """Attempts of a run that passed, with those that the harness counts and that have no row in the log."""

    passed: int
    made: int
    without_rows: int = 0
    """Of the passes: those without a row."""


def count_passes(stored: StoredRun) -> PassCount:
    """Of the attempts in the log, and of those that the harness measured beside them."""
    run, counts = stored.run, stored.counts
    passed = counts.outcomes.get("pass", 0)
    untold = not_in_log(run, cases=counts.cases, executions=counts.executions)
    stated = passes_without_rows(run, passes_in_rows=passed, not_in_log=untold)
    if stated is None:
        return PassCount(passed, counts.attempts_in_log)
    return PassCount(passed + stated, counts.attempts_in_log + untold, stated)


def lacks_rows(stored: StoredRun) -> bool:
    """Cases were measured that have no row in the log, and the harness does not count the passes among them."""
    run, counts = stored.run, stored.counts
    return run.harness_passes is None and not_in_log(run, cases=counts.cases, executions=counts.executions) > 0


def holds_only_failures(stored: StoredRun) -> bool:
    """The harness counts passes, and the log has a row of none of them: its cases are chosen by their outcome."""
    passes = count_passes(stored)
    return passes.without_rows > 0 and passes.without_rows == passes.passed
