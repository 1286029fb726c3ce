"""The places of a packet to look quotes up in, and which of them, or which parts, are evidence at all."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from errata.model import Packet, Place
from errata.review.folding import Folded, Passage, fold
from errata.review.instructions import labels_of, spans
from errata.review.nearest import Letters, Nearest
from errata.review.places import Kind, kind_of
from errata.text.clean import one_line

CORE: frozenset[Kind] = frozenset(("output", "log", "error", "grader", "judge"))
"""At least one quote is from the output, a log, what the harness says went wrong, or the grader."""
GAP = re.compile(r"\[… [\d,]+ characters left out …\]")
"""What errata writes into the text of a place."""
LARGEST = 1_000_000
"""Characters of a text that is looked through for what is only alike."""
NEAREST = 400
"""Characters of what is really written: it is to be copied."""
PASSAGES = 1_000
"""Where the same words stand so often, the first of them will do."""
_TOLD_OTHERS = re.compile(r"(?:user|system)\b")


class Near(NamedTuple):
    place: str
    text: str
    whole: bool


class Shelf:
    """The places of a redacted packet, to look quotes up in."""

    def __init__(self, packet: Packet) -> None:
        self._books = tuple(_Book(place, labels_of(packet)) for place in packet.places)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(book.name for book in self._books))

    @cached_property
    def core(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(book.name for book in self._books if is_core(book.place)))

    def called(self, name: str) -> str:
        """As the place is really called: some file systems write an accent as two characters, models as one."""
        return name if name in self.names else self._composed_names.get(_composed(name), name)

    @cached_property
    def _composed_names(self) -> dict[str, str]:
        return {_composed(name): name for name in self.names if not name.isascii()}

    def named(self, name: str) -> list["_Book"]:
        return [book for book in self._books if book.name == name]

    def holding(self, quote: str, kinds: Iterable[Kind] = ()) -> list[str]:
        """The places that say so."""
        wanted = frozenset(kinds)
        among = [book for book in self._books if not wanted or kind_of(book.name) in wanted]
        return [book.name for book in among if book.folded.holds(quote)]

    def nearest(self, quote: str, name: str) -> "Near | None":
        """What is written there, else in any place, where it is written otherwise; whole passages before others."""
        nearest = None
        for book in sorted(self._books, key=lambda book: book.name != name):
            near = book.nearest(quote)
            if near is not None and near.whole:
                return near
            nearest = nearest or near
        return nearest


class _Book:
    """One place, and what of it was worked out so far."""

    def __init__(self, place: Place, labels: tuple[str, ...]) -> None:
        self.place, self.name, self.text = place, place.place, place.text
        self._labels = labels

    @cached_property
    def folded(self) -> Folded:
        return Folded(self.text)

    def passages(self, quote: str) -> list[Passage]:
        """Where it stands. An accent is the same as one character and as two."""
        found = list(islice(self.folded.passages(quote), PASSAGES))
        if found or (quote.isascii() and self.text.isascii()):
            return found
        near = self._alike(quote)
        same = near is not None and _composed(self.text[slice(*near.passage)]) == _composed(quote)
        return [near.passage] if near is not None and same else []

    @cached_property
    def silent(self) -> list[Passage]:
        """What of it is no evidence: where it talks to the reviewer, and what errata wrote into it."""
        talk = [Passage(span.start, span.end) for span in spans(self.text, self._labels)]
        return talk + [Passage(*found.span()) for found in GAP.finditer(self.text)]

    def _alike(self, quote: str) -> Nearest | None:
        return self._letters.nearest(quote) if len(self.text) <= LARGEST else None

    @cached_property
    def _letters(self) -> Letters:
        return Letters(self.text)

    def nearest(self, quote: str) -> Near | None:
        """Nothing where it would be no evidence either."""
        found = self._alike(quote)
        if found is None or touches(found.passage, self.silent):
            return None
        return Near(self.name, one_line(self.text[slice(*found.passage)], NEAREST), found.whole)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", fold(text))


def is_core(place: Place) -> bool:
    """What a user or a system prompt says in a transcript is no output."""
    told = place.place.startswith("steps/") and _TOLD_OTHERS.match(place.text)
    return kind_of(place.place) in CORE and not told


def touches(one: Passage, silent: Iterable[Passage]) -> bool:
    return any(one.start < other.end and other.start < one.end for other in silent)
