"""Every regular expression of errata takes time in proportion to its text, whatever the text is made of."""

import re
import signal
import time
from collections.abc import Callable
from types import FrameType

import pytest

from errata.text.secret_rules import shapes
from patterns import Pattern, hard_texts, parser, patterns, repeats

SMALL, LARGE = 4_000, 16_000
LONGEST = 0.25
"""Seconds of this thread for the longer text: most linear patterns take 0.001."""
WORTH_ASKING = 0.005
MOST_GROWTH = 8
"""For four times the text: 4 is linear, 16 quadratic."""


class TooLongError(Exception):
    pass


def interrupt(_number: int, _frame: FrameType | None) -> None:
    raise TooLongError


def seconds(pattern: re.Pattern[str], text: str, *, searches: bool) -> float:
    start = time.thread_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
        try:
            for _ in pattern.finditer(text) if searches else [pattern.match(text)]:
                pass
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except TooLongError:
        return LONGEST
    return time.thread_time() - start


def takes_long(pattern: Pattern) -> bool:
    """Only what repeats without a narrow bound can; measured on the text that takes it longest when it is short."""
    if not any(True for _ in repeats(parser.parse(pattern.text, pattern.flags), "")):
        return False
    compiled = re.compile(pattern.text, pattern.flags)

    def time_of(text: tuple[str, str, str], size: int) -> float:
        return seconds(compiled, made_of(*text, size), searches=pattern.searches)

    timed: list[tuple[float, tuple[str, str, str]]] = []
    for text in hard_texts(pattern):
        timed.append((time_of(text, SMALL), text))
        if timed[-1][0] >= LONGEST / MOST_GROWTH:
            break
    return any(is_slow(text, time_of) for _, text in sorted(timed)[-2:])


def is_slow(text: tuple[str, str, str], time_of: Callable[[tuple[str, str, str], int], float]) -> bool:
    """Twice, as a machine with other work may be slow once."""
    longer = [time_of(text, LARGE)]
    if longer[0] <= WORTH_ASKING:
        return False
    longer.append(time_of(text, LARGE))
    return min(longer) >= LONGEST or min(longer) > MOST_GROWTH * min(time_of(text, SMALL) for _ in longer)


def made_of(before: str, unit: str, after: str, size: int) -> str:
    return before + unit * (size // len(unit)) + after


@pytest.mark.req("X-07")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer on Windows")
def test_every_pattern_takes_time_in_proportion_to_the_text():
    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        slow = sorted({found.where for found in {*patterns()} if takes_long(found)})
    finally:
        signal.signal(signal.SIGVTALRM, before)

    assert slow == []


def test_the_measure_finds_quadratic_patterns():
    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        for text in (
            r"\s+x",
            r"\w+@",
            r"a.*b",
            r"\S+: \d",
            r"took \d+ s.*failed",
            r"^(?:-+ *)+x",
            r"(?:Traceback: )+x",
        ):
            assert takes_long(Pattern("", text, 0, searches=True)), text
    finally:
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.req("X-07")
def test_marks_of_secrets_end_in_a_letter_and_a_separator():
    """The search for them skips runs of separators by this."""
    odd = {mark for marked in shapes().after_separator.values() for mark, _ in marked if not mark[-2].isalnum()}

    assert odd == {"ls__"}
