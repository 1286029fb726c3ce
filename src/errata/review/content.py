"""Whether a quote has enough in it to name a place: letters and digits, and enough of them."""

import unicodedata
from functools import lru_cache

from errata.review.borders import Passage
from errata.text.lazy_regex import lazy_regex

SHORTEST = 15
"""Characters without spaces, wide ones twice; a whole line may be shorter."""
FEWEST = 3
"""Letters and digits among them."""
REDACTION = lazy_regex(r"\[redacted:[a-z0-9-]+\]")
LOOKED_AT = 2_000
"""Characters of a passage; what is enough is in the first of them."""
WIDEST = 40
"""Characters of a redaction."""


def is_enough(text: str, passage: Passage, *, has_lines: bool) -> bool:
    """A short line is enough if it is there once, or if the reviewer gives its number. Redactions do not count."""
    rest = "".join(_without_redactions(text, passage).split())[:LOOKED_AT]
    if len(letters_in(rest)) >= FEWEST and _width(rest) >= SHORTEST:
        return True
    if not letters_in(rest) or not is_line(text, passage):
        return False
    return has_lines or _count_lines(text, text[passage.start : passage.end]) == 1


def has_letters(text: str, passage: Passage) -> bool:
    return bool(letters_in(_without_redactions(text, passage)))


def letters_in(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


def _width(text: str) -> int:
    """A character of Chinese, Japanese or Korean holds as much as two letters."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" and char.isalnum() else 1 for char in text)


def is_line(text: str, passage: Passage) -> bool:
    start, end = _line(text, passage)
    return text[start:end].strip() == text[passage.start : passage.end].strip()


def with_more(text: str, passage: Passage) -> Passage:
    """The lines of a passage, with lines before and after it until they are enough."""
    lines = _line(text, passage)
    while not is_enough(text, lines, has_lines=False):
        wider = _line(text, Passage(max(0, lines.start - 1), lines.end))
        if wider == lines:
            wider = _line(text, Passage(lines.start, min(len(text), lines.end + 1)))
        if wider == lines:
            break
        lines = wider
    blank = len(text[slice(*lines)]) - len(text[slice(*lines)].lstrip())
    return Passage(lines.start + blank, lines.start + len(text[slice(*lines)].rstrip()))


def _line(text: str, passage: Passage) -> Passage:
    end = text.find("\n", passage.end)
    return Passage(text.rfind("\n", 0, passage.start) + 1, len(text) if end < 0 else end)


def _count_lines(text: str, line: str) -> int:
    return _count(text, line.strip())


@lru_cache(maxsize=16)
def _count(text: str, wanted: str) -> int:
    return sum(one.strip() == wanted for one in text.split("\n") if wanted in one)


def _without_redactions(text: str, passage: Passage) -> str:
    """Also without one that the quote has only a part of."""
    pieces, at = [], passage.start
    for redaction in REDACTION.finditer(text, max(0, passage.start - WIDEST), passage.end + WIDEST):
        pieces.append(text[at : max(at, min(redaction.start(), passage.end))])
        at = max(at, redaction.end())
    return "".join((*pieces, text[at : max(at, passage.end)]))
