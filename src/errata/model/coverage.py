"""Cases that a harness measured but whose rows are not in its log: not failed, not to be rerun, result unknown."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from errata.model.run import Run

NothingFailed = Literal["all_passed", "all_passed_some_suspicious", "not_in_log", "nothing_measured", "not_all_passed"]
_NOT_MADE = ("missing", "unfinished", "skipped")
_NOT_MEASURED = (*_NOT_MADE, "error", "cancelled")


class HarnessCount(msgspec.Struct, frozen=True, kw_only=True):
    """The harness's own count for a run, where the log does not hold all rows."""

    passed: int | None = None
    total: int | None = None
    metric: str = ""
    value: float | None = None
    n: int | None = None
    """The total, where the harness gives one."""


class WithoutFailures(msgspec.Struct, frozen=True, kw_only=True):
    """What is the case where nothing failed."""

    state: NothingFailed
    made: int = 0
    suspicious: int = 0
    """Of the passes, those that deserve a second look."""
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
