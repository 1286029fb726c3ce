"""What a text says where a quote says it otherwise: in other capitals, blanks, marks or accents, or not to the end."""

import re
import unicodedata
from array import array
from typing import NamedTuple

from errata.review.folding import Passage

FEWEST = 12
"""Letters and digits that two passages have in common, at least; fewer are found anywhere."""

_WORD = re.compile(r"[^\W_]+")


class Nearest(NamedTuple):
    passage: Passage
    whole: bool
    """Whether it says all that the quote says; else only so far as its beginning or its end goes."""


class Letters:
    """A text without all that is no letter and no digit; each knows where it stands in the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        pieces: list[str] = []
        self._at = array("q")
        for word in _WORD.finditer(text):
            for start, letters in _plain(word[0]):
                pieces.append(letters)
                at = word.start() + start
                self._at.extend(range(at, at + len(letters)) if letters.isascii() else [at] * len(letters))
        self._letters = "".join(pieces)

    def nearest(self, quote: str) -> Nearest | None:
        words = [word for word in ("".join(piece for _, piece in _plain(one)) for one in _WORD.findall(quote)) if word]
        whole = "".join(words)
        if (at := self._letters.find(whole) if whole else -1) >= 0:
            return Nearest(self._passage(at, at + len(whole)), whole=True)
        head, tail = self._begins(words, len(whole)), self._ends(words, len(whole))
        longest = max((one for one in (head, tail) if one), key=lambda one: one[1], default=None)
        return Nearest(self._passage(*longest[0]), whole=False) if longest else None

    def _begins(self, words: list[str], length: int) -> tuple[tuple[int, int], int] | None:
        """As many of the first words as stand there, and what follows them in place of the others."""
        for count in range(len(words) - 1, 0, -1):
            common = "".join(words[:count])
            if len(common) < FEWEST:
                return None
            if (at := self._letters.find(common)) >= 0:
                return (at, min(at + length, len(self._letters))), len(common)
        return None

    def _ends(self, words: list[str], length: int) -> tuple[tuple[int, int], int] | None:
        for first in range(1, len(words)):
            common = "".join(words[first:])
            if len(common) < FEWEST:
                return None
            if (at := self._letters.find(common)) >= 0:
                end = at + len(common)
                return (max(end - length, 0), end), len(common)
        return None

    def _passage(self, start: int, end: int) -> Passage:
        """Of whole words."""
        first, last = self._at[start], self._at[end - 1] + 1
        while first > 0 and _WORD.match(self._text[first - 1]):
            first -= 1
        while last < len(self._text) and _WORD.match(self._text[last]):
            last += 1
        return Passage(first, last)


def _plain(word: str) -> list[tuple[int, str]]:
    """Its letters in lower case and without accents, each piece with where it begins."""
    if word.isascii():
        return [(0, word.lower())]
    found = []
    for at, char in enumerate(word):
        bare = "".join(one for one in unicodedata.normalize("NFKD", char) if one.isalnum())
        if bare:
            found.append((at, bare.casefold()))
    return found
