"""The three facts about an attempt that a source has to tell apart: was it made, was it measured, was it passed."""

from typing import NamedTuple

from errata.model.words import CheckStatus, Execution, Measurement, Outcome


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
