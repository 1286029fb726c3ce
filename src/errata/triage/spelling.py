"""Assertions that refuse a text for its spelling alone: its case, a hyphen, or white space."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from errata.model import Attempt, Case
from errata.model.words import Confidence
from errata.text.lazy_regex import lazy_regex
from errata.triage.expected import task_text
from errata.triage.observed import Observed, signal
from errata.triage.runner_output import FailedTest, failed_tests

SHORTEST, LONGEST = 4, 80
"""Letters of a demanded text: shorter ones are in any text by chance, longer ones are not compared."""
_STRING = r"'(?:[^'\\\n]|\\.){1,400}'|\"(?:[^\"\\\n]|\\.){1,400}\""
# pytest's own words, then those of unittest; a terminal breaks long lines
_COMPARED = lazy_regex(
    rf"^E {{1,12}}(?:AssertionError: )?assert (?P<first>{_STRING}) (?P<how>in|==) (?P<second>['\"][\s\S]{{1,4000}}?)"
    r"(?=\nE |\n[ \t]*\n|\Z)"
    rf"|^E {{1,12}}AssertionError: (?P<left>{_STRING}) (?P<unittest>not found in|!=) (?P<right>['\"][\s\S]{{1,4000}}?)"
    r"(?=\nE |\n[ \t]*\n|\Z)",
    re.MULTILINE,
)
_CUT = "..."
"""In the place of the middle of a long text."""
_SEPARATORS = r"[\s\u2010-\u2015-]"
_ESCAPED_SPACE = lazy_regex(r"\\[nrt]")


class RefusedText(NamedTuple):
    """A text that a test demands, and did not find as it spells it."""

    demanded: str
    line: str


def refused_for_spelling(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The tests find the demanded text only in another spelling, and the task does not prescribe theirs.

    A spelling may be the point of a test. So it is a doubt, and the grader's only where the task itself spells it in
    another way and nothing else failed.
    """
    if attempt.outcome not in ("fail", "partial"):
        return
    tests = failed_tests(attempt)
    refusals = [(where, refusal) for where, test in tests if (refusal := refusal_in(test)) is not None]
    if not refusals:
        return
    task = task_text(case) if case is not None else ""
    unfair = [(where, refusal) for where, refusal in refusals if refusal.demanded not in task]
    if unfair:
        where, refusal = unfair[0]
        spelled_otherwise = all(_spellings(one.demanded).search(task) for _, one in unfair)
        strength: Confidence = "likely" if len(unfair) == len(tests) and spelled_otherwise else "weak"
        yield Observed(signal=signal("strict_match", strength, where, refusal.line, attempt.ref), owner="grader")


def refusal_in(test: FailedTest) -> RefusedText | None:
    match = _COMPARED.search(test.text)
    if match is None:
        return None
    first, second = match["first"] or match["left"], (match["second"] or match["right"]).replace("\n", "")
    demanded = _unquoted(first)
    if (match["how"] or match["unittest"]) in ("in", "not found in"):
        is_refused = _is_spelled_otherwise(demanded, second)
    else:
        demanded, second = _unquoted(second), f"'{demanded}'"  # `assert got == wanted`
        is_refused = _CUT not in first + second and _is_the_same(demanded, _unquoted(second))
    return RefusedText(demanded, match[0].partition("\n")[0].removeprefix("E").strip()) if is_refused else None


def _unquoted(literal: str) -> str:
    return literal[1:].removesuffix(literal[0])


def _is_the_same(demanded: str, given: str) -> bool:
    pattern = _spellings(demanded)
    return demanded != given and pattern.fullmatch(_ESCAPED_SPACE.sub(" ", given).strip()) is not None


def _is_spelled_otherwise(demanded: str, shown: str) -> bool:
    if demanded in shown or not SHORTEST <= len(_letters(demanded)) <= LONGEST:
        return False
    pieces = _ESCAPED_SPACE.sub(" ", shown).split(_CUT)
    if any(_spellings(demanded).search(piece) for piece in pieces):
        return True
    return any(pattern.match(piece) for pattern in _endings(demanded) for piece in pieces[1:])


def _letters(text: str) -> str:
    return re.sub(_SEPARATORS, "", _ESCAPED_SPACE.sub(" ", text))


@lru_cache(maxsize=1_000)
def _spellings(text: str) -> re.Pattern[str]:
    """In any case, with and without separators between the letters, as words of their own."""
    return re.compile(rf"(?<![^\W_]){_loose(_letters(text)[: LONGEST + 1])}(?![^\W_])", re.IGNORECASE)


@lru_cache(maxsize=1_000)
def _endings(text: str) -> tuple[re.Pattern[str], ...]:
    """What is left of it where its beginning was cut off."""
    letters = _letters(text)
    return tuple(
        re.compile(rf"{_loose(letters[at:])}(?![^\W_])", re.IGNORECASE) for at in range(1, len(letters) - SHORTEST + 1)
    )


def _loose(letters: str) -> str:
    return rf"{_SEPARATORS}*".join(map(re.escape, letters))
