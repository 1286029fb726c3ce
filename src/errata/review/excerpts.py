"""The parts of a long text that are shown: its start, its end, and the surroundings of search words.

A text may be cut where both sides, each redacted on its own, equal the redacted whole. Only nearby text is checked,
so that a log of many megabytes costs no more than a short one.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.secret_rules import shape

Tell = Callable[[str], str]
"""Makes a text safe to show: cleans it, and removes secrets and identities if it leaves the machine."""
REACH = 1_000
"""Characters that are checked on both sides, up to the end of the next word."""
LONGEST_WORD = 20_000
"""A text without a blank is not checked beyond this."""
NAMED = 200
TRIES = 8
"""How many ends of words are tried one after the other; then whole stretches are skipped."""
_KEY = "private-key"
"""The only secret that spans several lines."""
_SPACE = lazy_regex(r"\s")
SNAP = 80
"""A window ends at the end of a line if one is this close."""
FOCUSED = 0.5
"""The share of the room for search words, if there are any."""
FEWEST = 240
"""Characters on both sides of a search word together."""
SEARCHED = 1_000_000
"""Characters of a text that are searched, from both ends."""


def as_is(text: str) -> str:
    """Redacts nothing."""
    return text


class CutPoints:
    def __init__(self, text: str, tell: Tell) -> None:
        self._text = text
        self.tell = tell

    def after(self, at: int, end: int) -> int:
        """The first cut point from a position on; `end` if none comes before it."""
        tries = 0
        while at < end and not self._is_cut_point(at):
            tries += 1
            inside = next((last for first, last in self._keys if first < at < last), 0)
            space = _SPACE.search(self._text, at, end)
            at = inside or (at + REACH if tries > TRIES else space.end() if space else end)
        return min(at, end)

    def before(self, at: int, start: int) -> int:
        """The last cut point up to a position; `start` if none comes after it."""
        tries = 0
        while at > start and not self._is_cut_point(at):
            tries += 1
            inside = next((first for first, last in self._keys if first < at < last), -1)
            space = max(self._text.rfind(" ", start, at), self._text.rfind("\n", start, at))
            at = inside if inside >= 0 else at - REACH if tries > TRIES else space
        return max(at, start)

    def _is_cut_point(self, at: int) -> bool:
        if at <= 0 or at >= len(self._text):
            return True
        if any(first < at < last for first, last in self._keys):
            return False
        if self.tell is as_is:
            return True
        start = self._word_start(self._word_start(at - REACH) - NAMED)  # a long word may have its name before it
        left, right = self._text[start:at], self._text[at : self._word_end(at + REACH)]
        return self.tell(left) + self.tell(right) == self.tell(left + right)

    @cached_property
    def _keys(self) -> list[tuple[int, int]]:
        return [found.span() for found in shape(_KEY).pattern.finditer(self._text)]

    def _word_start(self, at: int) -> int:
        at = max(at, 0)
        from_on = max(at - LONGEST_WORD, 0)
        return max(self._text.rfind(" ", from_on, at), self._text.rfind("\n", from_on, at), from_on - 1) + 1

    def _word_end(self, at: int) -> int:
        last = min(len(self._text), at + LONGEST_WORD)
        ends = (self._text.find(" ", at, last), self._text.find("\n", at, last))
        return min((end for end in ends if end >= 0), default=last)


def opening(text: str, most: int, tell: Tell) -> str:
    """The start of a text, safe to show: `most` characters or more, to be cut anywhere."""
    return tell(text if len(text) <= 2 * most else text[: CutPoints(text, tell).after(2 * most, len(text))])


def in_short(text: str, width: int, tell: Tell) -> str:
    """On one line of at most `width` characters."""
    line = cut_line(opening(text, width, tell), width, tell)
    return line if line.endswith("…") or len(text) <= 2 * width else f"{line[: width - 1]}…"


def cut_line(text: str, width: int, tell: Tell) -> str:
    """`one_line`, which redacts what it cuts, unless nothing is to be redacted."""
    if tell is not as_is:
        return one_line(text, width)
    line = one_line(text)
    return line if len(line) <= width else f"{line[: width - 1]}…"


class Excerpt(NamedTuple):
    text: str
    left_out: int
    """Characters; 0 where the text is whole."""


def weight(text: str) -> int:
    """In bytes, which predict tokens better than characters."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def gap(count: int) -> str:
    return f"[… {count:,} characters left out …]"


GAP = weight(gap(10**9)) + 2


def excerpt(
    text: str, room: int, *, needles: Sequence[str] = (), tail: float = 0.4, cut_points: CutPoints | None = None
) -> Excerpt:
    """The text in at most `room` bytes; a note marks each gap.

    With `cut_points` the text is not redacted yet: it is cut only at these points, and its parts are redacted.
    """
    whole = weight(text)
    if whole <= room:
        return Excerpt(cut_points.tell(text) if cut_points else text, 0)
    size = room * len(text) // whole
    while size > 0:
        made = _joined(text, _spans(text, size, needles, tail), cut_points)
        over = weight(made.text) - room
        if over <= 0:
            return made
        size -= max(over * len(text) // whole, 1)
    return Excerpt(gap(len(text)), len(text))


def _spans(text: str, size: int, needles: Sequence[str], tail: float) -> list[tuple[int, int]]:
    """From where to where, in order and apart from each other."""
    size -= 2 * GAP
    spans = []
    places = list(_needle_positions(text, needles))[: max(int(size * FOCUSED) // (FEWEST + GAP), 0)]
    if places:
        each = int(size * FOCUSED) // len(places) - GAP
        spans = [_snapped(text, at - each // 3, at + each - each // 3) for at in places]
        size -= int(size * FOCUSED)
    end = max(int(size * tail), 0)
    head = max(size - end, 0)
    return _merged([_snapped(text, 0, head), *spans, _snapped(text, len(text) - end, len(text))])


def _needle_positions(text: str, needles: Iterable[str]) -> Iterable[int]:
    """The first position of each word."""
    seen: set[int] = set()
    for needle in needles:
        at = text.find(needle, 0, SEARCHED)
        if at < 0 and len(text) > SEARCHED:
            at = text.find(needle, len(text) - SEARCHED)
        if needle and at >= 0 and at not in seen:
            seen.add(at)
            yield at


def _snapped(text: str, start: int, end: int) -> tuple[int, int]:
    start, end = max(start, 0), min(end, len(text))
    if start > 0:
        line = text.find("\n", start, min(start + SNAP, end))
        start = line + 1 if line >= 0 else start
    if end < len(text):
        line = text.rfind("\n", max(end - SNAP, start), end)
        end = line if line >= 0 else end
    return start, max(end, start)


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start - merged[-1][1] < GAP:  # the note would be as long as the gap
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _joined(text: str, spans: list[tuple[int, int]], cut_points: CutPoints | None) -> Excerpt:
    if cut_points is not None:
        spans = [
            (start, cut_points.before(end, start))
            for start, end in ((cut_points.after(*span), span[1]) for span in spans)
        ]
        spans = [span for span in spans if span[0] < span[1]]
    parts: list[str] = []
    done = 0
    for start, end in [*spans, (len(text), len(text))]:
        if start > done:
            parts.append(gap(start - done))
        if end > start:
            parts.append(cut_points.tell(text[start:end]) if cut_points else text[start:end])
        done = end
    kept = sum(end - start for start, end in spans)
    return Excerpt("\n".join(parts), len(text) - kept)
