"""What a score's value says. `C`, `I`, `P` and `N` are Inspect's own letters; numbers are grades from 0 to 1."""

from typing import Any, NamedTuple

from errata.model.words import CheckStatus, Outcome
from errata.sources.base import number_or_none
from errata.sources.shared.values import plain


class Grade(NamedTuple):
    outcome: Outcome
    status: CheckStatus
    number: float | None = None
    """As the harness's metrics count it."""
    value: float | str | bool | None = None
    reason: str = ""
    text: str = ""
    """The value as it stands in the log, where a record can't hold it."""


_LETTERS = {
    "C": Grade("pass", "pass", 1.0, "C"),
    "I": Grade("fail", "fail", 0.0, "I"),
    "P": Grade("partial", "fail", 0.5, "P"),
    "N": Grade("fail", "fail", 0.0, "N", reason="noanswer"),
}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def grade(value: Any) -> Grade:
    """A scalar; `NaN` is how a scorer says that it has no verdict, null that a dimension does not apply."""
    if value is None:
        return Grade("none", "not_applicable")
    if type(value) is bool:
        return _of_number(float(value), value)
    if type(value) is str:
        return _LETTERS.get(value) or _of_text(value)
    if type(value) is int or type(value) is float:
        number = number_or_none(value)
        if number is None:
            return Grade("none", "unscored", text=str(plain(value)))
        return _of_number(number, number)
    return Grade("none", "unscored", text=str(plain(value)))


def without_verdict(given: Grade) -> Grade:
    """A value that a scorer fell back to: the metrics count it all the same."""
    return given._replace(outcome="none", status="error")


def of_several(grades: list[Grade]) -> Grade:
    """A list of values has one outcome: that of all its elements."""
    counted = [one for one in grades if one.outcome != "none"]
    if any(one.status == "error" for one in grades):
        return Grade("none", "error", _mean(grades))
    if not counted:
        return Grade("none", "unscored")
    return _of_number(_mean(counted) or 0.0, None)


def _mean(grades: list[Grade]) -> float | None:
    numbers = [one.number for one in grades if one.number is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _of_text(value: str) -> Grade:
    number = _WORDS.get(value.lower())
    if number is None:
        number = number_or_none(value)
    if number is not None:
        return _of_number(number, value)
    # a class or a label: a verdict, but no pass rule goes with it; the metrics count it as 0
    return Grade("none", "not_applicable", 0.0, value)


def _of_number(number: float, value: float | str | bool | None) -> Grade:
    if number == 1:
        return Grade("pass", "pass", number, value)
    if number == 0:
        return Grade("fail", "fail", number, value)
    return Grade("partial", "pass" if number > 1 else "fail", number, value)
