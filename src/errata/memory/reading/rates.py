"""Counts as people write them: `nine`, and pass rates: `55/59`, `56 passed, 3 failed`, `3 of 59 failed`."""

import re
from typing import NamedTuple

from errata.text.lazy_regex import lazy_regex

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBER = rf"(?:\d{{1,5}}|{'|'.join(_WORDS)})"
"""For a pattern."""


def number_of(text: str) -> int:
    return int(text) if text.isdigit() else _WORDS.index(text.casefold())


_OF = r"\s*(?:/|of|out of)\s*(?:the\s+|all\s+)?"
_N = r"(\d{1,6})"
_ANY = lazy_regex(
    rf"(?<![\w./-]){_N}\s*(?:(?:passed|passing|pass|right|correct|ok|green|evals?)\s+){{0,2}}\(?{_OF}{_N}\)?(?![\w/-]|\.\d)"
)
_PASSING = r"(?:pass(?:ed|es|ing)?|green|succeeded|solved|ok)"
_FAIL = r"(?:fail(?:ed|s|ing|ures?)?|red)"
_THINGS = r"(?:evals?|cases?|tests?|tasks?|evaluations?|in total|total|overall)"
_PASSED_OF = lazy_regex(
    rf"(?i)(?<![\w./-]){_N}{_OF}{_N}\s+(?:[\w-]+\s+){{0,3}}{_PASSING}\b|\b{_PASSING}\s+(?:rate\W{{0,4}}(?:is|was|of)?\W{{0,4}}"
    rf"(?:[\d.]+\s*%\W{{0,4}})?)?{_N}{_OF}{_N}|\bscore[sd]?\W{{0,4}}(?:of\s+)?{_N}{_OF}{_N}"
)
_FAILED_OF = lazy_regex(
    rf"(?i)(?<![\w./-]){_N}(?:\s+failures?)?{_OF}{_N}\s+(?:[\w-]+\s+){{0,3}}(?:{_FAIL})\b|(?<![\w./-]){_N}\s+failures?{_OF}{_N}"
)
_BOTH = lazy_regex(
    rf"(?i)(?<![\w./-]){_N}\s+(?:\w+\s+)?{_PASSING}\b[\s,;:/|·&+–—-]*(?:and\s+|but\s+|vs\.?\s+)?{_N}\s+(?:\w+\s+)?{_FAIL}\b"
)
_VERBS = lazy_regex(
    rf"(?i)\b{_PASSING}\s+{_N}(?:\s+{_THINGS})?[\s,;]*(?:and\s+|but\s+)?{_FAIL}\s+{_N}\b(?!\s*(?:/|of|out))"
)
_BOTH_TURNED = lazy_regex(
    rf"(?i)(?<![\w./-]){_N}\s+(?:\w+\s+)?{_FAIL}\b[\s,;:/|·&+–—-]*(?:and\s+)?{_N}\s+(?:\w+\s+)?{_PASSING}\b"
)
_TOTAL_FAILED = lazy_regex(rf"(?i)(?<![\w./-]){_N}\s+{_THINGS}\b[^.\n\d]{{0,30}}?{_N}\s+(?:\w+\s+)?{_FAIL}\b")
_TOTAL_PASSED = lazy_regex(rf"(?i)(?<![\w./-]){_N}\s+{_THINGS}\b[^.\n\d]{{0,30}}?{_N}\s+(?:\w+\s+)?{_PASSING}\b")
_PASSED_MARK, _FAILED_MARK = lazy_regex(r"[✅✔🟢]\ufe0f?"), lazy_regex(r"[❌✗✘🔴]\ufe0f?")
_PERCENT_OF = lazy_regex(rf"(?<![\w./-])(\d{{1,3}}(?:\.\d+)?)\s*%\s*(?:\(?\s*(?:of|out of)\s+)?\(?{_N}\s+{_THINGS}")


class PassRate(NamedTuple):
    passed: int
    total: int


def rate_in_field(text: str) -> PassRate | None:
    """In a field or cell for pass rates."""
    return rate_in(text) or _checked(_ANY.search(text)) or _of_percent(text)


def rates_in_field(text: str) -> list[PassRate]:
    """Several, for several runs."""
    return [rate for match in _ANY.finditer(text) if (rate := _checked(match))]


def rate_in(text: str) -> PassRate | None:
    """Where a text counts what passed or failed."""
    text = _FAILED_MARK.sub(" failed ", _PASSED_MARK.sub(" passed ", text))
    numbers = _numbers(_PASSED_OF.search(text))
    if numbers and numbers[0] <= numbers[1]:
        return PassRate(*numbers)
    if numbers := _numbers(_BOTH.search(text)) or _numbers(_VERBS.search(text)):
        return PassRate(numbers[0], numbers[0] + numbers[1])
    if numbers := _numbers(_BOTH_TURNED.search(text)):
        return PassRate(numbers[1], numbers[0] + numbers[1])
    for form in (_FAILED_OF, _TOTAL_FAILED):
        if numbers := _numbers(form.search(text)):
            failed, total = sorted(numbers)
            return PassRate(total - failed, total)
    numbers = _numbers(_TOTAL_PASSED.search(text))
    return PassRate(min(numbers), max(numbers)) if numbers else None


def bare_rate_in(text: str) -> PassRate | None:
    """`Run jn7yy25u: 55/59.`"""
    return _checked(_ANY.search(text))


def _numbers(match: re.Match[str] | None) -> list[int]:
    numbers = [int(part) for part in match.groups() if part] if match else []
    return numbers if len(numbers) == 2 else []


def _checked(match: re.Match[str] | None) -> PassRate | None:
    numbers = _numbers(match)
    return PassRate(*numbers) if numbers and numbers[0] <= numbers[1] else None


def _of_percent(text: str) -> PassRate | None:
    """`93.2 % of 59 evals`, where only one count has this share."""
    match = _PERCENT_OF.search(text)
    if match is None:
        return None
    share, total = float(match[1]) / 100, int(match[2])
    passed = round(share * total)
    return PassRate(passed, total) if total and abs(passed / total - share) < 0.006 else None
