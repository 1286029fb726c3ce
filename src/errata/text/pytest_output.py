"""What a pytest session reports itself, apart from what its tests printed."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from errata.text.lazy_regex import lazy_regex

_START = lazy_regex(r"=+ test session starts =+\s*")
_END = lazy_regex(r"=+ (?P<counts>(?:\d+ [a-z]+|no tests ran)(?:, \d+ [a-z]+)*+) in [\d.]+ ?s(?:econds)?\b.*=\s*")
_PASSES = lazy_regex(r"=+ PASSES =+\s*")
_SUMMARY = lazy_regex(r"=+ short test summary info =+\s*")
_COUNT = lazy_regex(r"(?<!\d)(\d++) (passed|failed|error)s?\b")


class PytestCounts(NamedTuple):
    passed: int
    failed: int
    """Or with an error before or after the test."""


class _PytestSession(NamedTuple):
    first: int
    """-1 where the log begins within it."""
    last: int


@lru_cache(maxsize=8)
def own_output(text: str) -> str:
    """Without the sessions that tests started and what passing tests printed; all other lines keep their numbers."""
    if " test session starts =" not in text and " PASSES =" not in text:
        return text
    lines = text.split("\n")
    for session in _nested(_sessions(lines)):
        lines[max(0, session.first) : session.last + 1] = [""] * (session.last + 1 - max(0, session.first))
    is_of_passes = False
    for number, line in enumerate(lines):
        if line.startswith("=="):
            is_of_passes = _PASSES.fullmatch(line) is not None or (
                is_of_passes and not _SUMMARY.fullmatch(line) and not _END.fullmatch(line)
            )
        if is_of_passes:
            lines[number] = ""
    return "\n".join(lines)


def counts_in(text: str) -> PytestCounts | None:
    """What the last session counts; give it only its own output."""
    ends = [match for line in text.split("\n") if line.startswith("=") and (match := _END.fullmatch(line))]
    if not ends:
        return None
    counts = {word: int(number) for number, word in _COUNT.findall(ends[-1]["counts"])}
    return PytestCounts(counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0)) if counts else None


def _sessions(lines: Sequence[str]) -> list[_PytestSession]:
    """The last end closes the outermost session: one that crashed within it has no end."""
    marks = [
        (number, _START.fullmatch(line) is not None)
        for number, line in enumerate(lines)
        if line.startswith("==") and (_START.fullmatch(line) or _END.fullmatch(line))
    ]
    begun: list[int] = []
    sessions: list[_PytestSession] = []
    for number, is_start in marks:
        if is_start:
            begun.append(number)
        else:
            sessions.append(_PytestSession(begun.pop() if begun else -1, number))
    if begun and sessions and sessions[-1].first > begun[0]:
        sessions[-1] = _PytestSession(begun[0], sessions[-1].last)
    return sessions


def _nested(sessions: Sequence[_PytestSession]) -> Iterator[_PytestSession]:
    """A session ends after those that its tests started, so it comes behind them."""
    first = len(sessions) and sessions[-1].last + 1
    for session in reversed(sessions):
        if session.first >= first or (session.first == -1 and first == -1):
            yield session
        else:
            first = session.first
