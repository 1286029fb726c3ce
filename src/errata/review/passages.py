"""Find a quote in a text as people paste it."""

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from errata.text.lazy_regex import lazy_regex


class Passage(NamedTuple):
    start: int
    end: int


_WORD = lazy_regex(r"[^\W_]+")


# as editors and chat windows set what was typed
_TYPESET = dict(zip("‘’‚‛ʼ＇“”„‟＂‐‑‒–—―−－", "''''''\"\"\"\"\"--------", strict=True))
_SET = lazy_regex(f"[{''.join(_TYPESET)}]")
_PASTED = lazy_regex(r"…|\.{3}|--+|[\u00ad\u200b\u2060\ufeff]")
_INVISIBLE = lazy_regex("[\u00ad\u200b\u2060\ufeff]")
_PLAIN = lazy_regex("[A-Za-z0-9]{3,}")
_ESCAPED = lazy_regex(r"\\(?:u[0-9a-fA-F]{4}|[\"\\/bfnrt])")
LARGEST = 1_000_000
"""Longer texts are searched for what was typed only."""


def fold(text: str) -> str:
    return " ".join(_typed(text).split())


def _typed(text: str) -> str:
    """At equal length; `str.translate` looks up every character of a text that is not plain."""
    return text if text.isascii() else _SET.sub(lambda match: _TYPESET[match[0]], text)


class Folded:
    """A text; white space, the form of quotation marks and the length of dashes make no difference."""

    def __init__(self, text: str) -> None:
        self._original = text
        self.text = fold(text)

    def holds(self, quote: str) -> bool:
        return next(self.occurrences(quote), None) is not None

    def occurrences(self, quote: str) -> Iterator[Passage]:
        """All positions in the original text, in order."""
        places = self._find(fold(quote))
        first = next(places, None)
        if first is not None:
            yield first
            yield from places
        elif len(self._original) <= LARGEST and self._may_hold(quote):
            for rewritten in self._rewritten:
                yield from rewritten.occurrences(quote)

    def _may_hold(self, quote: str) -> bool:
        """Whether the longest word is there at all, before the text is rewritten for it."""
        words = _PLAIN.findall(_INVISIBLE.sub("", quote))
        return not words or max(words, key=len) in self._original or bool(_INVISIBLE.search(self._original))

    def _find(self, quote: str) -> Iterator[Passage]:
        at = self.text.find(quote) if quote else -1
        while at >= 0:
            yield self._unfolded(at, at + len(quote))
            at = self.text.find(quote, at + len(quote))

    @cached_property
    def _rewritten(self) -> tuple["_Rewritten", ...]:
        """As pasted; and as a program prints it, if it is JSON."""
        pasted = _Rewritten(self._original, (_PASTED,))
        has_escapes = "\\" in self._original and '"' in self._original
        return (pasted, _Rewritten(self._original, (_ESCAPED, _PASTED))) if has_escapes else (pasted,)

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


class _Rewritten:
    """A text with some sequences rewritten, and the position of each character in the original."""

    def __init__(self, text: str, patterns: Sequence[re.Pattern[str]]) -> None:
        self._at: Sequence[int] = range(len(text) + 1)
        text = _typed(text)
        for pattern in patterns:
            text = self._rewrite(text, pattern)
        self._folded = Folded(text)
        self._folded.__dict__["_rewritten"] = ()

    def _rewrite(self, text: str, pattern: re.Pattern[str]) -> str:
        pieces: list[str] = []
        at, done = array("q"), 0
        for match in pattern.finditer(text):
            pieces += [text[done : match.start()], _plain(match[0])]
            at.extend(self._at[done : match.start()])
            at.extend([self._at[match.start()]] * len(pieces[-1]))
            done = match.end()
        at.extend(self._at[done:])
        self._at = at
        return "".join((*pieces, text[done:]))

    def occurrences(self, quote: str) -> Iterator[Passage]:
        for start, end in self._folded.occurrences(_PASTED.sub(lambda match: _plain(match[0]), _typed(quote))):
            yield Passage(self._at[start], self._at[end])


def _plain(sequence: str) -> str:
    if sequence.startswith("\\"):
        decoded = json.loads(f'"{sequence}"')
        return decoded if isinstance(decoded, str) else sequence
    return "..." if sequence in ("…", "...") else "-" if sequence.startswith("-") else ""


def words_of(text: str) -> frozenset[str]:
    """Whatever their capitals."""
    return frozenset(_WORD.findall(text.casefold()))
