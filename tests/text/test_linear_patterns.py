"""Every regular expression of errata takes time in proportion to its text, whatever the text is made of."""

import re
import signal
import time
from types import FrameType

import pytest

from errata.text.secret_rules import shapes
from patterns import Pattern, hard_texts, patterns

SMALL, LARGE, ALL = 2_000, 25_000, 100_000
LONGEST = 1.0
"""Seconds of this process for 100 kB: a linear pattern takes 0.01."""
WORTH_ASKING = 0.15
MOST_GROWTH = 8
"""From 25 to 100 kB: 4 is linear, 16 quadratic."""


class TooLongError(Exception):
    pass


def interrupt(_number: int, _frame: FrameType | None) -> None:
    raise TooLongError


def seconds(pattern: re.Pattern[str], text: str, *, searches: bool) -> float:
    start = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
        try:
            for _ in pattern.finditer(text) if searches else [pattern.match(text)]:
                pass
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except TooLongError:
        return LONGEST
    return time.process_time() - start


def is_slow(pattern: re.Pattern[str], text: tuple[str, str, str], *, searches: bool) -> bool:
    """Twice, as a machine with other work may be slow once."""
    return all(_is_slow(pattern, text, searches=searches) for _ in range(2))


def _is_slow(pattern: re.Pattern[str], text: tuple[str, str, str], *, searches: bool) -> bool:
    whole = seconds(pattern, made_of(*text, ALL), searches=searches)
    if whole <= WORTH_ASKING or whole >= LONGEST:
        return whole >= LONGEST
    return whole > MOST_GROWTH * seconds(pattern, made_of(*text, LARGE), searches=searches)


def made_of(before: str, unit: str, after: str, size: int) -> str:
    return before + unit * (size // len(unit)) + after


@pytest.mark.req("X-07")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer on Windows")
def test_every_pattern_takes_time_in_proportion_to_the_text():
    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        slow = sorted(
            {found.where for found in patterns() if not found.where.startswith(REWRITTEN) and takes_long(found)}
        )
    finally:
        signal.signal(signal.SIGVTALRM, before)

    assert slow == []


REWRITTEN = "memory/reading"


def takes_long(pattern: Pattern) -> bool:
    """Measured on the text that took it longest when it was short."""
    compiled = re.compile(pattern.text, pattern.flags)
    timed: list[tuple[float, tuple[str, str, str]]] = []
    for text in hard_texts(pattern):
        timed.append((seconds(compiled, made_of(*text, SMALL), searches=pattern.searches), text))
        if timed[-1][0] > WORTH_ASKING:
            break
    return any(is_slow(compiled, text, searches=pattern.searches) for _, text in sorted(timed)[-1:])


def test_the_measure_finds_quadratic_patterns():
    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        for text in (r"\s+x", r"\w+@", r"a.*b", r"\S+: \d"):
            assert takes_long(Pattern("", text, 0, searches=True)), text
    finally:
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.req("X-07")
def test_marks_of_secrets_end_in_a_letter_and_a_separator():
    """The search for them skips runs of separators by this."""
    odd = {mark for marked in shapes().after_separator.values() for mark, _ in marked if not mark[-2].isalnum()}

    assert odd == {"ls__"}
