"""A text to look quotes up in: white space is folded, nothing else, and what is found knows where it really stands."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple


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
        return next(self._found(self.text, fold(quote)), None) is not None

    def passages(self, quote: str) -> Iterator[Passage]:
        """Where it stands in the text as it was, one after the other."""
        return (self._unfolded(*one) for one in self._found(self.text, fold(quote)))

    @staticmethod
    def _found(text: str, quote: str) -> Iterator[Passage]:
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
    """Whether it begins or ends inside of a word or a number: `3` is not what a text says that has `30`."""
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
