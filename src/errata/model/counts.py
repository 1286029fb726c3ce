"""What listings and comparisons show of a run: counted once, at import; and shares with their interval."""

from math import sqrt

import msgspec

from errata.model.record import Record
from errata.model.run import Run


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
    """Check → status → how often, over all attempts."""
    failed_checks: dict[str, int] = {}
    """Check → in how many counted attempts it failed."""
    cost: float | None = None
    cost_known: int = 0
    tokens: int | None = None

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


class RightShare(msgspec.Struct, frozen=True, kw_only=True):
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
