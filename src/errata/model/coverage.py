"""Cases that a harness measured but whose rows are not in its log: not failed, not to be rerun, result unknown."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from errata.model.counts import StoredRun
from errata.model.run import Run

NothingFailed = Literal["all_passed", "all_passed_some_suspicious", "not_in_log", "nothing_measured", "not_all_passed"]
NoEstimate = Literal["only_failures", "not_in_log", "not_fit", "suspicious", "disputed", "too_few"]
"""Why no figure is the best estimate of a score."""
_NOT_MADE = ("missing", "unfinished", "skipped")
_NOT_MEASURED = (*_NOT_MADE, "error", "cancelled")


class HarnessCount(msgspec.Struct, frozen=True, kw_only=True):
    """The harness's own count for a run, where the log does not hold all rows."""

    passed: int | None = None
    failed: int | None = None
    """Where the harness counts them, too: what is neither has no result."""
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
