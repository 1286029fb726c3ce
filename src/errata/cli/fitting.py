"""Measure, cut and fold text to the width of the terminal.

A Chinese character takes two columns and a combining mark none, so `len` does not give the width.
"""

import shutil
from collections.abc import Iterator
from unicodedata import category, east_asian_width

from errata.text.lazy_regex import lazy_regex
from errata.text.redact import beginning

NARROWEST_PAGE, WIDEST_PAGE = 60, 160
IN_A_PIPE = 100
"""Columns of a page where there is no terminal and `COLUMNS` is not set."""

TAB = 4


def page_width() -> int:
    """The columns of the terminal or of `COLUMNS`, within limits that stay readable."""
    size = shutil.get_terminal_size((IN_A_PIPE, 24)).columns
    return min(max(size, NARROWEST_PAGE), WIDEST_PAGE)


WIDTH = page_width()
"""Of the page, measured when the program starts. Only an id, or the path of a file that was written, may be wider."""


def columns(text: str) -> int:
    """How many columns a line takes on a terminal."""
    return len(text) if text.isascii() else sum(map(_width, text))


def cut(text: str, width: int) -> str:
    """The text, with an ellipsis for what does not fit."""
    return (
        text if columns(text) <= width else f"{_head(beginning(text, len(text) - 1), max(width - 1, 0)).rstrip('…')}…"
    )


OUTDENT = 4
"""Where a line begins that a long word would make too wide."""


def short_path(path: str, width: int = WIDTH - OUTDENT) -> str:
    """Of a path that is wider than a line, the first name and the last ones: they say where, and which file it is."""
    if columns(path) <= width or "/" not in path:
        return cut(path, width)
    first, *names = path.split("/")
    tail = names.pop()
    while names and columns(f"{first}/…/{names[-1]}/{tail}") <= width:
        tail = f"{names.pop()}/{tail}"
    return next((one for one in (f"{first}/…/{tail}", f"…/{tail}") if columns(one) <= width), cut(tail, width))


def padded(text: str, width: int, *, right: bool = False) -> str:
    gap = " " * (width - columns(text))
    return gap + text if right else text + gap


def fold(text: str, width: int, *, first: int | None = None, whole_words: bool = False) -> list[str]:
    """The lines of a text, broken at blanks, so that each fits; its own indentation stays.

    The very first line may have another width. With `whole_words` a word that is wider than a line stays in one piece,
    so that an id, a path or a command can be copied; a text in wide characters has no blanks and is still broken.
    """
    lines: list[str] = []
    for line in text.expandtabs(TAB).split("\n"):
        room = width if lines or first is None else first
        lines += _folded(line.rstrip(), max(width, 1), max(room, 1), whole_words=whole_words)
    return lines


def _folded(line: str, width: int, room: int, *, whole_words: bool) -> list[str]:
    if columns(line) <= room:
        return [line]
    lines: list[str] = []
    current = ""
    for word in _words(line, width):
        if columns(current + word) <= room:
            current += word
            continue
        if current:
            lines, room = [*lines, current], width
        current = word.lstrip(" ") if current else word
        while columns(current) > room and not (whole_words and columns(current) == len(current)):
            head = _breakable(current, room)
            lines, room, current = [*lines, head], width, current[len(head) :]
    return [*lines, current]


def _words(line: str, width: int) -> Iterator[str]:
    """A separator stays with the word behind it; where the two are too wide for a line, the end of a line separates."""
    for word in _WORDS.findall(line):
        head, dot, rest = word.partition("· ")
        if dot and not head.strip(" ") and columns(word.lstrip(" ")) > width:
            yield f" {rest}"
        else:
            yield word


_WORDS = lazy_regex(r"(?:(?<! ) ++)?(?:· ++)?[^ ]++(?: %)?")  # 12.5 % stays together


def _breakable(word: str, width: int) -> str:
    """As much of a long word as fits, up to a slash or comma where one is near the end."""
    head = _head(word, width) or word[0]
    for at in range(len(head) - 1, len(head) * 2 // 3, -1):
        if head[at] in "/,;&":
            return head[: at + 1]
    return head


def _head(text: str, width: int) -> str:
    if text.isascii():
        return text[:width]
    taken = 0
    for at, letter in enumerate(text):
        taken += _width(letter)
        if taken > width:
            return text[:at]
    return text


def _width(letter: str) -> int:
    if letter.isascii():
        return 1
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(letter) in ("W", "F") else 1
