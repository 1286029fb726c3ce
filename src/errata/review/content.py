"""Whether a quote has enough in it to name a place: letters and digits, and enough of them."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from errata.review.passages import Passage
from errata.text.lazy_regex import lazy_regex

SHORTEST = 15
"""Characters without spaces, wide ones twice; a whole line may be shorter."""
FEWEST = 3
"""Letters and digits among them."""
REDACTION = lazy_regex(r"\[redacted:[a-z0-9-]+\]")
NEAR = 500
"""Characters of a line that are quoted before and after what was given."""
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


def cuts_word(text: str, passage: Passage) -> bool:
    """Whether it begins or ends inside of a word or number; scripts of wide characters have no spaces to tell."""
    inside = (at for at in passage if 0 < at < len(text) and text[at - 2 : at - 1] != "\\")
    return any(_is_narrow(text[at - 1]) and _is_narrow(text[at]) for at in inside)


def _is_narrow(char: str) -> bool:
    return char.isalnum() and unicodedata.east_asian_width(char) not in "WF"


def whole_lines(text: str, passage: Passage, silent: Iterable[Passage]) -> Passage:
    """The lines that a passage is in: what part of them denies or limits it is quoted with it, in every language.

    Of a very long line as much as is near; never what is not evidence.
    """
    start, end = _line(text, passage)
    if start < passage.start - NEAR:
        start = text.find(" ", passage.start - NEAR, passage.start) + 1 or passage.start - NEAR
    if end > passage.end + NEAR:
        end = max(text.rfind(" ", passage.end, passage.end + NEAR), passage.end)
    start = max(start, *(each.end for each in silent if each.end <= passage.start), 0)
    end = min(end, *(each.start for each in silent if each.start >= passage.end), len(text))
    while start < passage.start and text[start].isspace():
        start += 1
    while end > passage.end and text[end - 1].isspace():
        end -= 1
    return Passage(start, end)


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
