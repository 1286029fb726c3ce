"""Look behind encodings: what a text holds once escapes, entities, colours and invisible characters are undone.

The decoded text is only searched, never shown. A place in it leads back to the place in the text as it was, so that a
secret is taken out with all of its encoding, and everything else stays as it is.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from html.entities import html5
from typing import NamedTuple

from errata.text.lazy_regex import lazy_regex

DEEPEST = 6
"""Encodings inside of encodings: JSON in an address in JSON has three."""

# controls, every format character of Unicode, and what else is drawn as nothing; a test compares it with `unicodedata`
_INVISIBLE = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_FULL_WIDTH = "\uff01-\uff5e"
_HIDDEN = lazy_regex(f"[{_INVISIBLE}]")
# one character leads in, so that texts are searched fast; each branch looks back at it
_ENCODED = lazy_regex(
    rf"[\\%&\[{_INVISIBLE}{_FULL_WIDTH}](?:"
    r"(?<=\\)(?<!\\\\)\\*(?:u(?P<u>[0-9a-fA-F]{4})|u\{(?P<braced>[0-9a-fA-F]{1,6})\}|U(?P<U>[0-9a-fA-F]{8})"
    r"|x(?P<x>[0-9a-fA-F]{2})|(?P<octal>[0-3][0-7]{2})|(?P<letter>[nrtbfve0])|(?P<itself>[!-/:-@\[\]-`{-~]))"
    r"|(?<=%)(?P<percent>[0-9a-fA-F]{2})"
    r"|(?<=&)(?:#(?P<decimal>[0-9]{1,7})|#[xX](?P<hex>[0-9a-fA-F]{1,6})|(?P<entity>[A-Za-z]{2,24}));?"
    r"|(?<=\x1b)(?:\[[0-?]*[ -/]*[@-~]|\][0-9]*;?|[ -/]*[0-~])"
    r"|(?<=\x9b)[0-?]*[ -/]*[@-~]"
    # a colour whose escape character was lost; not one whose escape character is encoded
    r"|(?<=\[)(?<!1[bB]\[)(?<!033\[)(?<!\\e\[)(?<!1[bB];\[)(?<!27;\[)[0-9]{1,3}(?:;[0-9]{1,3}){0,6}m"
    rf"|(?<=[{_INVISIBLE}{_FULL_WIDTH}]))"
)
_LETTERS = {"n": "\n", "r": "\n", "t": "\t", "b": "", "f": "\n", "v": "\n", "e": "\x1b", "0": ""}


class Decoded(NamedTuple):
    """One encoding undone everywhere."""

    text: str
    after: list[int]
    """Places in the text behind each thing that was decoded, and"""
    after_before: list[int]
    """the same places as they were."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the text was before."""
        at = bisect_right(self.after, start) - 1
        first = start if at < 0 else self.after_before[at] + start - self.after[at]
        at = bisect_left(self.after, end)
        if at < len(self.after) and self.after[at] == end:
            return first, self.after_before[at]
        return first, end if at == 0 else self.after_before[at - 1] + end - self.after[at - 1]


def decode(text: str) -> Decoded | None:
    """One level of encoding undone; None if there is none."""
    if not _may_be_encoded(text):
        return None
    pieces: list[str] = []
    after, after_before = [], []
    at = length = 0
    for match in _ENCODED.finditer(text):
        decoded = _decoded(match)
        if decoded is None:
            continue
        literal = text[at : match.start()]
        pieces += (literal, decoded)
        at = match.end()
        length += len(literal) + len(decoded)
        after.append(length)
        after_before.append(at)
    if not after:
        return None
    pieces.append(text[at:])
    return Decoded("".join(pieces), after, after_before)


def visible(text: str) -> str:
    """The text without invisible characters."""
    return text if text.isascii() and text.isprintable() else _HIDDEN.sub("", text)


def undo_invisible(text: str) -> Decoded | None:
    """The text without invisible characters, and the way back; None if it has none."""
    if text.isascii() and text.isprintable():
        return None
    hidden = [match.start() for match in _HIDDEN.finditer(text)]
    if not hidden:
        return None
    return Decoded(_HIDDEN.sub("", text), [at - number for number, at in enumerate(hidden)], [at + 1 for at in hidden])


def levels(text: str) -> Iterator[list[Decoded]]:
    """The text with one encoding undone, then with two, and so on; each with all that leads back."""
    done: list[Decoded] = []
    while len(done) < DEEPEST and (decoded := decode(text)) is not None:
        done.append(decoded)
        text = decoded.text
        yield done


def place_before(done: list[Decoded], start: int, end: int) -> tuple[int, int]:
    """Where a part of the innermost text was in the first one."""
    for decoded in reversed(done):
        start, end = decoded.span(start, end)
    return start, end


def _may_be_encoded(text: str) -> bool:
    if text.isascii() and "\\" not in text and "%" not in text and "&" not in text and "[" not in text:
        return len(text.encode("ascii").translate(None, _CONTROLS)) < len(text)
    return True


_CONTROLS = bytes(code for code in (*range(32), 127) if chr(code) not in "\n\t\r")
"""Of ASCII, only these are invisible."""


def _decoded(match: re.Match[str]) -> str | None:
    """None if the match only looks encoded."""
    kind, value = match.lastgroup, match[match.lastgroup or 0]
    if kind is None:
        lead = match[0][0]
        return chr(ord(lead) - 0xFEE0) if "\uff01" <= lead <= "\uff5e" else ""
    if kind == "letter":
        return _LETTERS[value]
    if kind == "itself":
        return value
    if kind == "entity":
        return html5.get(f"{value};") if match[0].endswith(";") else None
    code = int(value, {"octal": 8, "decimal": 10}.get(kind, 16))
    return chr(code) if code <= 0x10FFFF else None
