"""What scorers said of a trace. They have no common scale: yes and no, a number, or a word of their own."""

from collections.abc import Iterable
from typing import Any

from errata.model import Check
from errata.model.words import CheckStatus, Execution, Measurement
from errata.sources.shared.facts import Facts, despite_error, outcome_of, status_of
from errata.sources.shared.values import number

_YES = frozenset(("pass", "passed", "yes", "true", "correct", "success"))
_NO = frozenset(("fail", "failed", "no", "false", "incorrect", "failure"))


def grade_of(value: Any) -> float | None:
    """From 0 to 1; none for a word that says neither, and for a number on a scale that nobody tells."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        word = value.strip().lower()
        return 1.0 if word in _YES else 0.0 if word in _NO else None
    told = number(value)
    return told if told is not None and 0 <= told <= 1 else None


def status_of_value(value: Any) -> CheckStatus:
    if value is None:
        return "unscored"
    grade = grade_of(value)
    return "not_applicable" if grade is None else status_of(grade)


def facts_of(execution: Execution, checks: Iterable[Check]) -> Facts:
    """Of the checks that count: all have to be passed, and one that is failed decides."""
    counted = [check for check in checks if check.counts]
    if not counted:
        return Facts(execution, "not_run", "none")  # nobody looked at it: that is no failure
    grades = [_grade(check) for check in counted if check.status in ("pass", "fail")]
    if any(check.status == "error" for check in counted) and 0 not in grades:
        return Facts(execution, "error", "none")
    said = outcome_of(min(grades)) if grades else "none"
    measured: Measurement = "scored" if any(check.status != "unscored" for check in counted) else "unscored"
    return Facts(execution, measured, said if execution == "completed" else despite_error(said))


def _grade(check: Check) -> float:
    if check.status == "pass":
        return 1.0
    grade = grade_of(check.value)
    return 0.0 if grade is None or grade == 1 else grade
