"""Demands of JavaScript tests that the task does not make: an order, exact numbers, or the name of a function."""

import re
from collections.abc import Iterator

from errata.model import Attempt, Case
from errata.model.words import Confidence, Owner
from errata.text.lazy_regex import lazy_regex
from errata.triage.expected import task_text
from errata.triage.js_tests import FailedJsTest, failed_js_tests
from errata.triage.observed import Observed, signal

_LISTS = lazy_regex(
    r"expected (?P<received>\[ [^…\n]{1,2000} \]) to (?:deeply |strictly )?equal "
    r"(?P<expected>\[ [^…\n]{1,2000} \])(?: //|$)"
)
# words of a task that may prescribe an order, and calls of an answer that choose one by itself
_ORDER = lazy_regex(
    r"\b(?:order\w*|sort\w*|first|last|newest|oldest|latest|earliest|ascend\w*|descend\w*|alphabet\w*|chronolog\w*"
    r"|recent\w*|rank\w*|highest|lowest|(?<!at )most|(?<!at )least|top|bottom|reverse\w*|sequence|queue|stack"
    r"|priorit\w+|fifo|lifo|next|previous|A to Z|A[-–]Z|from .{1,20} to|position\w*|index of|page|paginat\w+|cursor"
    r"|before|after|by (?:date|time|name|title|score|size|age|price|count|creation)|timeline|history|feed|log)\b",
    re.IGNORECASE,
)
_CHOOSES = lazy_regex(r"\.order\(|\.sort\(|\.toSorted\(|\.reverse\(|\.toReversed\(|localeCompare")
_ITEM = lazy_regex(r"'(?:[^'\\]|\\.)*'|\{[^{}]*\}|\[[^\[\]]*\]|[^,\s][^,]*")
_NUMBERS = lazy_regex(
    r"expected (?P<received>-?\d+\.\d+) to (?:be|(?:deeply |strictly )?equal) (?P<expected>-?\d+(?:\.\d+)?)(?: //|$)"
)
_ROUNDED = lazy_regex(r"\bround|\bdecimal|\bcents?\b|\bprecision|\bdigits?\b|\bexact|\btoFixed", re.IGNORECASE)
NOISE = 1e-9
"""The share of a number that adding it up in binary may be off."""
_NO_FUNCTION = lazy_regex(r"Could not find (?:public )?function for '(?:[\w/.-]+:)?(?P<name>\w+)'")


def demands_an_order(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The answer has every item that the tests want, in another order; neither the task nor the answer names one."""
    where, tests = _failed(attempt, case)
    task = task_text(case) if tests and case is not None else ""
    if not task.strip() or _ORDER.search(task) or _chooses_an_order(attempt):
        return
    lists = [match for test in tests if (match := _LISTS.search(test.message))]
    reordered = [match for match in lists if _is_another_order(match)]
    yield from _observed(attempt, where, reordered, len(tests), ("unnamed_order", "grader", "task"))


def _is_another_order(match: re.Match[str]) -> bool:
    received, expected = (_ITEM.findall(match[part][1:-1]) for part in ("received", "expected"))
    return len(received) > 1 and received != expected and sorted(received) == sorted(expected)


def _chooses_an_order(attempt: Attempt) -> bool:
    return any(one.text and _CHOOSES.search(one.text) for one in attempt.artefacts if one.role == "output")


def calls_an_unnamed_function(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The tests call a function that the answer lacks and the task does not name, though it names others."""
    where, tests = _failed(attempt, case)
    task = task_text(case) if tests and case is not None else ""
    if "`" not in task:  # a task that names nothing leaves the names to somebody else
        return

    calls = [match for test in tests if (match := _NO_FUNCTION.search(test.text))]
    unnamed = [match for match in calls if re.search(rf"\b{re.escape(match['name'])}\b", task) is None]
    yield from _observed(attempt, where, unnamed, len(tests), ("unnamed_function", "task", "grader"))


def demands_exact_floats(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """Only the noise of binary numbers differs, `0.30000000000000004` and `0.3`, and the task names no precision."""
    where, tests = _failed(attempt, case)
    if case is None or not tests or _ROUNDED.search(task_text(case)):
        return
    pairs = [match for test in tests if (match := _NUMBERS.search(test.message))]
    noise = [match for match in pairs if _is_noise(float(match["received"]), float(match["expected"]))]
    yield from _observed(attempt, where, noise, len(tests), ("exact_floats", "grader", "task"))


def _is_noise(received: float, expected: float) -> bool:
    return received != expected and abs(received - expected) <= NOISE * max(abs(expected), 1e-6)


def _failed(attempt: Attempt, case: Case | None) -> tuple[str, tuple[FailedJsTest, ...]]:
    if case is None or attempt.outcome not in ("fail", "partial"):
        return "", ()
    return failed_js_tests(attempt)


def _observed(
    attempt: Attempt, where: str, matches: list[re.Match[str]], tests: int, claim: tuple[str, Owner, Owner]
) -> Iterator[Observed]:
    """Likely only where nothing but this demand failed."""
    if matches:
        name, owner, other = claim
        strength: Confidence = "likely" if len(matches) == tests else "weak"
        quote = _line_of(matches[0])
        yield Observed(signal=signal(name, strength, where, quote, attempt.ref), owner=owner, also=(other,))


def _line_of(match: re.Match[str]) -> str:
    start = match.string.rfind("\n", 0, match.start()) + 1
    return match.string[start:].partition("\n")[0]


RULES = (demands_an_order, demands_exact_floats, calls_an_unnamed_function)
MEANS = {
    "unnamed_order": "the tests demand an order that the task does not ask for",
    "exact_floats": "the tests refuse a number that differs only by the noise of binary numbers",
    "unnamed_function": "the tests call a function that the task does not name",
}
