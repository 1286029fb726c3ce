"""What listings and comparisons show of a run: counted once, at import."""

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from errata.model.record import Record
from errata.model.run import Run

NothingFailed = Literal["all_passed", "not_in_log", "nothing_measured", "not_all_passed"]


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
    def made(self) -> int:
        """The counted attempts that the log holds: this is what `attempts` means wherever a person reads it."""
        return self.counted - self.missing

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


CellState = Literal[
    "passed", "failed", "partial", "limit", "error", "cancelled", "follows", "unscored", "missing", "contradictory",
    "mixed",
]  # fmt: skip
CELL_STATES: tuple[str, ...] = get_args(CellState)


class Cell(msgspec.Struct, frozen=True, gc=False):
    """Of the counted attempts alone; a comparison may have a hundred thousand of these."""

    run: int
    """The run's number in the store."""
    case: str
    state: CellState
    """`follows` only from another failure; `contradictory` rows of one attempt; `mixed` attempts of one case."""
    attempts: int = 1
    passes: int = 0
    fails: int = 0
    """What was carried out or broke off and was not passed; an attempt without a verdict is neither."""
    position: int | None = None

    @property
    def passed(self) -> bool:
        return self.passes > 0 and not self.fails

    @property
    def failed(self) -> bool:
        return self.fails > 0 and not self.passes

    @property
    def decided(self) -> bool:
        """Whether it says either."""
        return (self.passes > 0) != (self.fails > 0)


_NOT_MEASURED = ("missing", "unfinished", "skipped", "error", "cancelled")


class HarnessCount(msgspec.Struct, frozen=True, kw_only=True):
    """What the harness says of a run itself, where the log does not hold all rows."""

    passed: int | None = None
    total: int | None = None
    metric: str = ""
    value: float | None = None
    n: int | None = None
    """Over how many, as far as it says."""


class WithoutFailures(msgspec.Struct, frozen=True, kw_only=True):
    """What is the case where nothing failed."""

    state: NothingFailed
    made: int = 0
    missing: int = 0
    counts: dict[str, int] = {}
    """`passed`, `not_in_log`, `missing`, `unfinished`, `skipped`, `partial`, `no_verdict`; only those above 0."""
    harness: HarnessCount | None = None


def not_in_log(run: Run, *, cases: int, executions: Mapping[str, int]) -> int:
    """Cases without a row that were measured all the same; of cases that have some rows, such attempts.

    `executions` are those of the counted attempts, `cases` is how many have one.
    """
    if run.measured_attempts is None:
        return 0
    absent = (run.expected_cases or 0) - cases
    if absent <= 0:
        made = sum(executions.values()) - executions.get("missing", 0)
        return max(0, run.measured_attempts - made)
    measured = sum(often for word, often in executions.items() if word not in _NOT_MEASURED)
    # some harnesses count what ended in an error, others do not: it is never more than what has no row
    return min(max(0, run.measured_attempts - measured), absent)
