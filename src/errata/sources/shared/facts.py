"""Was an attempt made, measured and passed: the three facts, and the verdict of a test runner that they follow from."""

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
    """Of a grade from 0 to 1, where no rule of the harness calls it passed or failed."""
    if grade is None:
        return "none"
    return "pass" if grade == 1 else "fail" if grade == 0 else "partial"


def status_of(grade: float | None) -> CheckStatus:
    if grade is None:
        return "unscored"
    return "pass" if grade >= 1 else "fail"


def despite_error(outcome: Outcome) -> Outcome:
    """Scored although it broke: what was passed by then is passed, but a failure says nothing of a real answer."""
    return "pass" if outcome == "pass" else "none"


def settled(checks: tuple[Check, ...], facts: Facts) -> tuple[Check, ...]:
    """Where a verdict stands although a check broke, the error of that check decided nothing and is recovered."""
    if facts.measurement != "scored":
        return checks
    return tuple(
        replace(check, error=replace(check.error, recovered=True)) if check.error else check for check in checks
    )


PASSED = Facts("completed", "scored", "pass")
FAILED = Facts("completed", "scored", "fail")
SKIPPED = Facts("skipped", "not_run", "none")
XFAILED = Facts("completed", "not_run", "none")
"""Made, and neither passed nor failed: its subject did not do it, and nobody asked that it should."""
EXPECTED = "pytest.xfail"
NOT_EVEN_TRIED = "[NOTRUN]"
UNEXPECTED = "[XPASS(strict)]"
UNEXPECTED_STATUS = "xpassed (strict)"


def named_failure(status: str, said: str) -> str:
    """A pass that nobody expected is a failure where its mark is strict."""
    return UNEXPECTED_STATUS if said.startswith(UNEXPECTED) else status


class Refused(NamedTuple):
    """A check that failed."""

    name: str
    explanation: str


class Verdict(NamedTuple):
    facts: Facts
    status: str
    reason: str = ""
    errors: tuple[ErrorInfo, ...] = ()
    refused: tuple[Refused, ...] = ()
    score: float | None = None

    @property
    def is_counted(self) -> bool:
        return self.facts not in (SKIPPED, XFAILED)

    @property
    def expected(self) -> "Verdict":
        """It went wrong, and was expected to: nobody's failure, and no runner counts it; what was said is kept."""
        return self._replace(
            facts=XFAILED, status="xfailed", errors=tuple(replace(one, recovered=True) for one in self.errors)
        )

    def torn_down(self, broken: Iterable[ErrorInfo]) -> "Verdict":
        """What breaks after a measurement changes nothing in it; the runner counts it as an error all the same."""
        if not self.is_counted:
            return self._replace(facts=NOT_MADE, errors=(*self.errors, *broken), refused=())
        errors = tuple(replace(one, recovered=self.facts != PASSED) for one in broken)
        facts = Facts("error", "scored", "pass") if self.facts == PASSED else self.facts
        return self._replace(facts=facts, errors=(*self.errors, *errors))

    @property
    def told(self) -> dict[str, Any]:
        """The fields of an attempt that it fills."""
        return self.facts._asdict() | {
            "native_status": self.status,
            "native_reason": self.reason,
            "errors": self.errors,
        }

    def checks(self, ref: SourceRef, recorded: object = None) -> Iterator[Check]:
        """`recorded` is a number that the test itself has kept as its score."""
        if self.facts == NOT_MADE:
            # the test itself is where the model is asked: what broke it says nothing of how far it came
            yield Check(name="test", kind="tests", status="error", ref=ref)
        for order, one in enumerate(self.refused):
            counts = self.is_counted
            yield Check(name=one.name, status="fail", order=order, counts=counts, explanation=one.explanation, ref=ref)
        value = number_or_none(recorded) if self.score is None else self.score
        if value is not None:
            # whether it passed is told by the test, not by this
            yield Check(name="score", kind="dimension", status=status_of(value), value=value, counts=False, ref=ref)
