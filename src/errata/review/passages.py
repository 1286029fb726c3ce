"""Find a quote in a text: only white space is folded. If it is not there, find the most similar passage."""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

FEWEST = 12
"""Letters and digits that two passages have in common, at least; fewer are found anywhere."""
MARKS = 12
"""That stand before or after the first and the last word."""
_WORD = re.compile(r"[^\W_]+")
_MARK = re.compile(r"(?:[^\w\s]|_)")


class Passage(NamedTuple):
    start: int
    end: int


def fold(text: str) -> str:
    return " ".join(text.split())


class Folded:
    def __init__(self, text: str) -> None:
        self._original = text
        self.text = fold(text)

    def holds(self, quote: str) -> bool:
        return next(self._exact(self.text, fold(quote)), None) is not None

    def passages(self, quote: str) -> Iterator[Passage]:
        """All positions in the original text, in order."""
        return (self._unfolded(*one) for one in self._exact(self.text, fold(quote)))

    @staticmethod
    def _exact(text: str, quote: str) -> Iterator[Passage]:
        at = text.find(quote) if quote else -1
        while at >= 0:
            end = at + len(quote)
            if not _is_cut(text, at, end):
                yield Passage(at, end)
            at = text.find(quote, end)

    @cached_property
    def _words(self) -> tuple[Sequence[int], Sequence[int]]:
        """Where each word begins, folded and as it was."""
        folded, original = array("q"), array("q")
        at = 0
        for word in re.finditer(r"\S+", self._original):
            folded.append(at)
            original.append(word.start())
            at += word.end() - word.start() + 1
        return folded, original

    def _unfolded(self, start: int, end: int) -> Passage:
        return Passage(self._at(start), self._at(end - 1) + 1)

    def _at(self, place: int) -> int:
        folded, original = self._words
        word = bisect_right(folded, place) - 1
        return original[word] + place - folded[word]


def _is_cut(text: str, start: int, end: int) -> bool:
    """Whether it starts or ends inside a word or number: `3` is not a quote of a text with `30`."""
    return begins_inside(text, start) or ends_inside(text, end)


def begins_inside(text: str, start: int) -> bool:
    before, first = text[max(0, start - 2) : start], text[start]
    head = first.isdigit() and before[-1:] in (".", ",") and before[:1].isdigit()
    return head or (_is_word(first) and _is_word(before[-1:]))


def ends_inside(text: str, end: int) -> bool:
    last, after = text[end - 1], text[end : end + 2]
    tail = last.isdigit() and after[:1] in (".", ",") and after[1:].isdigit()
    return tail or (_is_word(last) and _is_word(after[:1]))


def _is_word(char: str) -> bool:
    """Scripts without spaces have no words to cut."""
    return char.isascii() and (char.isalnum() or char == "_")


class Nearest(NamedTuple):
    passage: Passage
    whole: bool
    """Whether the passage has all words of the quote; otherwise, how far its start or end matches."""


class Letters:
    """The letters and digits of a text, each with its position in the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = array("q")
        pieces: list[str] = []
        for word in _WORD.finditer(text):
            start, end = word.span()
            if word[0].isascii():
                pieces.append(word[0].lower())
                self._at.extend(range(start, end))
            else:
                for at in range(start, end):
                    pieces.append(_bare(text[at]))
                    self._at.extend([at] * len(pieces[-1]))
        self._letters = "".join(pieces)

    def nearest(self, quote: str) -> Nearest | None:
        words = ["".join(map(_bare, word)) for word in _WORD.findall(quote)]
        whole = "".join(words)
        if whole and (at := self._letters.find(whole)) >= 0:
            return Nearest(self._with_marks(self._passage(at, at + len(whole)), quote), whole=True)
        known = range(1, len(words))
        # what holds many words holds fewer of them, too
        count = bisect_left(known, True, key=lambda count: "".join(words[:count]) not in self._letters)
        first = bisect_left(known, True, key=lambda first: "".join(words[first:]) in self._letters) + 1
        head, tail = "".join(words[:count]), "".join(words[first:])
        if max(len(head), len(tail)) < FEWEST:
            return None
        if len(head) >= len(tail):
            at = self._letters.find(head)
            return Nearest(self._passage(at, min(at + len(whole), len(self._letters))), whole=False)
        end = self._letters.find(tail) + len(tail)
        return Nearest(self._passage(max(end - len(whole), 0), end), whole=False)

    def _passage(self, start: int, end: int) -> Passage:
        """Of whole words and numbers."""
        first, last = self._at[start], self._at[end - 1] + 1
        while first > 0 and begins_inside(self._text, first):
            first -= 2 if self._text[first - 1] in ".," else 1
        while last < len(self._text) and ends_inside(self._text, last):
            last += 2 if self._text[last] in ".," else 1
        return Passage(first, last)

    def _with_marks(self, passage: Passage, quote: str) -> Passage:
        """And with as many marks before and after it, on its lines, as the quote has."""
        ends = _WORD.split(quote)
        before, after = (min(len(_MARK.findall(end)), MARKS) for end in (ends[0], ends[-1]))
        left = self._text[max(0, passage.start - 4 * MARKS) : passage.start]
        head = re.search(rf"(?:{_MARK.pattern}[^\S\n]{{0,3}}){{0,{before}}}\Z", left)
        tail = re.compile(rf"(?:[^\S\n]{{0,3}}{_MARK.pattern}){{0,{after}}}").match(self._text, passage.end)
        return Passage(passage.start - (len(head[0]) if head else 0), tail.end() if tail else passage.end)


def _bare(char: str) -> str:
    """In lower case, and without accents; nothing where it is no letter."""
    if char.isascii():
        return char.lower()
    return "".join(one for one in unicodedata.normalize("NFKD", char).casefold() if one.isalnum())
