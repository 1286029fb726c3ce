"""Where a long text may be cut: never inside of a secret, of somebody's name, or of what is masked for blind readers.

A place is a seam where both sides, each told for itself, are the same as the whole. Only what stands near is looked
at, so that a log of many megabytes costs no more than a short one.
"""

import re
from collections.abc import Callable
from functools import cached_property

from errata.text.clean import one_line
from errata.text.token_shapes import SHAPES

Tell = Callable[[str], str]
"""A text as it may be told: cleaned, and without secrets and people where it leaves the machine."""

REACH = 1_000
"""Characters on both sides that are looked at, and on to the end of the word there."""
NAMED = 200
TRIES = 8
"""Ends of words that are tried one after the other; then whole stretches are passed over."""

_KEY = next(shape.pattern for shape in SHAPES if shape.kind == "private-key")
"""The one secret that goes over any number of lines."""
_SPACE = re.compile(r"\s")


class Seams:
    def __init__(self, text: str, tell: Tell) -> None:
        self._text = text
        self.tell = tell

    def after(self, at: int, end: int) -> int:
        """The first seam from a place on; `end` where none comes before it."""
        tries = 0
        while at < end and not self._is_seam(at):
            tries += 1
            inside = next((last for first, last in self._keys if first < at < last), 0)
            found = _SPACE.search(self._text, at, end)
            at = inside or (at + REACH if tries > TRIES else found.end() if found else end)
        return min(at, end)

    def before(self, at: int, start: int) -> int:
        """The last seam up to a place; `start` where none comes after it."""
        tries = 0
        while at > start and not self._is_seam(at):
            tries += 1
            inside = next((first for first, last in self._keys if first < at < last), -1)
            space = max(self._text.rfind(" ", start, at), self._text.rfind("\n", start, at))
            at = inside if inside >= 0 else at - REACH if tries > TRIES else space
        return max(at, start)

    def _is_seam(self, at: int) -> bool:
        if at <= 0 or at >= len(self._text):
            return True
        if any(first < at < last for first, last in self._keys):
            return False
        start = self._word_start(self._word_start(at - REACH) - NAMED)  # what a very long word is may stand before it
        left, right = self._text[start:at], self._text[at : self._word_end(at + REACH)]
        return self.tell(left) + self.tell(right) == self.tell(left + right)

    @cached_property
    def _keys(self) -> list[tuple[int, int]]:
        return [found.span() for found in _KEY.finditer(self._text)]

    def _word_start(self, at: int) -> int:
        return max(self._text.rfind(" ", 0, max(at, 0)), self._text.rfind("\n", 0, max(at, 0))) + 1

    def _word_end(self, at: int) -> int:
        ends = (self._text.find(" ", at), self._text.find("\n", at))
        return min((end for end in ends if end >= 0), default=len(self._text))


def opening(text: str, most: int, tell: Tell) -> str:
    """The beginning of a text, told: `most` characters of it and more, to be cut where one likes."""
    return tell(text if len(text) <= 2 * most else text[: Seams(text, tell).after(2 * most, len(text))])


def in_short(text: str, width: int, tell: Tell) -> str:
    """In one line of at most so many characters."""
    line = one_line(opening(text, width, tell), width)
    return line if line.endswith("…") or len(text) <= 2 * width else f"{line[: width - 1]}…"
