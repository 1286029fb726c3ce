"""The three facts of an attempt (execution, measurement, outcome) and the verdict of a test runner they follow from."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import Check, ErrorInfo, SourceRef
from errata.model.words import CheckStatus, Execution, Measurement, Outcome
from errata.sources.base import number_or_none


class Facts(NamedTuple):
    execution: Execution
    measurement: Measurement
    outcome: Outcome


NOT_MADE = Facts("error", "not_run", "none")
UNFINISHED = Facts("unfinished", "not_run", "none")
MISSING = Facts("missing", "not_run", "none")


def outcome_of(grade: float | None) -> Outcome:
    """The outcome for a grade from 0 to 1, if the harness has no rule of its own for passed and failed."""
    if grade is None:
        return "none"
    return "pass" if grade == 1 else "fail" if grade == 0 else "number"


def status_of(grade: float | None) -> CheckStatus:
    if grade is None:
        return "unscored"
    return "pass" if grade >= 1 else "fail"


def despite_error(outcome: Outcome) -> Outcome:
    """The outcome of an attempt that broke but was scored: a pass counts, a failure may be due to the error."""
    return "pass" if outcome == "pass" else "none"


def mark_recovered(checks: tuple[Check, ...], facts: Facts) -> tuple[Check, ...]:
    """Mark the errors of checks as recovered if the attempt was scored in spite of them."""
    if facts.measurement != "scored":
        return checks
    return tuple(
        replace(check, error=replace(check.error, recovered=True)) if check.error else check for check in checks
    )


PASSED = Facts("completed", "scored", "pass")
FAILED = Facts("completed", "scored", "fail")
SKIPPED = Facts("skipped", "not_run", "none")
XFAILED = Facts("completed", "not_run", "none")
"""The test ran and failed as expected: neither a pass nor a failure."""
EXPECTED = "pytest.xfail"
NOT_EVEN_TRIED = "[NOTRUN]"
UNEXPECTED = "[XPASS(strict)]"
UNEXPECTED_STATUS = "xpassed (strict)"


def failure_status(status: str, message: str) -> str:
    """An unexpected pass is a failure if its xfail mark is strict."""
    return UNEXPECTED_STATUS if message.startswith(UNEXPECTED) else status


class FailedTestCheck(NamedTuple):
    """A check that failed."""

    name: str
    explanation: str


class TestVerdict(NamedTuple):
    facts: Facts
    status: str
    reason: str = ""
    errors: tuple[ErrorInfo, ...] = ()
    failed_checks: tuple[FailedTestCheck, ...] = ()
    score: float | None = None

    @property
    def is_counted(self) -> bool:
        return self.facts not in (SKIPPED, XFAILED)

    @property
    def expected(self) -> "TestVerdict":
        """The verdict of an expected failure: it counts for no one, and keeps its errors as recovered."""
        return self._replace(
            facts=XFAILED, status="xfailed", errors=tuple(replace(one, recovered=True) for one in self.errors)
        )

    def torn_down(self, broken: Iterable[ErrorInfo]) -> "TestVerdict":
        """An error after the measurement leaves the verdict as it is, but the runner still counts it as an error."""
        if not self.is_counted:
            return self._replace(facts=NOT_MADE, errors=(*self.errors, *broken), failed_checks=())
        errors = tuple(replace(one, recovered=self.facts != PASSED) for one in broken)
        facts = Facts("error", "scored", "pass") if self.facts == PASSED else self.facts
        return self._replace(facts=facts, errors=(*self.errors, *errors))

    @property
    def attempt_fields(self) -> dict[str, Any]:
        return self.facts._asdict() | {
            "native_status": self.status,
            "native_reason": self.reason,
            "errors": self.errors,
        }

    def checks(self, ref: SourceRef, recorded: object = None) -> Iterator[Check]:
        """`recorded` is a score that the test itself recorded."""
        if self.facts == NOT_MADE:
            # the test calls the model itself: an error does not show whether the model had answered
            yield Check(name="test", kind="tests", status="error", ref=ref)
        for order, failed in enumerate(self.failed_checks):
            counts = self.is_counted
            yield Check(
                name=failed.name, status="fail", order=order, counts=counts, explanation=failed.explanation, ref=ref
            )
        value = number_or_none(recorded) if self.score is None else self.score
        if value is not None:
            # the test decides whether it passed, not this score
            yield Check(name="score", kind="dimension", status=status_of(value), value=value, counts=False, ref=ref)
