"""Whether a quote is evidence: it is in the place it names, word for word, and errata did not write it.

Only white space is folded, and no word or number is cut. Text that errata wrote is not evidence, nor is text that
addresses the reviewer.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from errata.model import Packet, PacketPlace, Quote
from errata.model.suspects import TASKS
from errata.review.instructions import labels_of, spans
from errata.review.passages import Folded, Letters, Nearest, Passage, fold
from errata.review.places import Kind, kind_of
from errata.text.clean import one_line

CORE: frozenset[Kind] = frozenset(("output", "log", "error", "grader", "judge"))
"""At least one quote must be from the output, a log, an error, or the grader."""
GAP = re.compile(r"\[… (?:[\d,]+ characters left out|the text of `(?:task|output)`) …\]")
"""A note that errata inserts into the text of a place."""
LARGEST = 1_000_000
"""Texts longer than this are not searched for similar passages."""
NEAREST = 400
"""Characters of the actual text that are offered for copying."""
PASSAGES = 1_000
"""If the same words occur more often than this, the first occurrences are enough."""
_INSTRUCTION = re.compile(r"(?:user|system)\b")
_SIMULATED = re.compile(r"user simulated\b")
SHORTEST = 15
"""Characters that are no space; a whole line may be shorter."""
LONGEST = 1_000
MOST = 20
SHOWN = 100
NAMED = 12
OWN_WORDS = frozenset(
    ("signals", "observations", "timeline", "facts", "question", "rule", "left_out", "left-out", "history",
     "failure_key", "run", "size", "packet")
)  # fmt: skip
REDACTION = re.compile(r"\[redacted:[a-z0-9-]+\]")
WIDEST = 40
"""Characters of a redaction."""
_LINES = re.compile(r"(.+?)[:#]L?(\d+)(?:\s*[-–]\s*L?(\d+))?\Z")


class Near(NamedTuple):
    place: str
    text: str
    whole: bool


class PlaceIndex:
    """The places of a redacted packet, to look quotes up in."""

    def __init__(self, packet: Packet) -> None:
        self._of_task = packet.question.taxonomy == TASKS
        self._books = tuple(_IndexedPlace(place, labels_of(packet)) for place in packet.places)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(book.name for book in self._books))

    @cached_property
    def core(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(book.name for book in self._books if self._is_core(book.place)))

    def _is_core(self, place: PacketPlace) -> bool:
        """A fault of a task may show in its own text and its reference."""
        return is_core(place) or (self._of_task and kind_of(place.place) in ("task", "expected"))

    @cached_property
    def simulated(self) -> tuple[str, ...]:
        """Messages of a simulated user: evidence against the simulator."""
        steps = (book for book in self._books if book.name.startswith("steps/"))
        return tuple(dict.fromkeys(book.name for book in steps if _SIMULATED.match(book.text)))

    def called(self, name: str) -> str:
        """As the place is really called: some file systems write an accent as two characters, models as one."""
        return name if name in self.names else self._composed_names.get(_composed(name), name)

    @cached_property
    def _composed_names(self) -> dict[str, str]:
        return {_composed(name): name for name in self.names if not name.isascii()}

    def with_name(self, name: str) -> list["_IndexedPlace"]:
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


class _IndexedPlace:
    """One place, and what of it was worked out so far."""

    def __init__(self, place: PacketPlace, labels: tuple[str, ...]) -> None:
        self.place, self.name, self.text = place, place.place, place.text
        self._labels = labels

    @cached_property
    def folded(self) -> Folded:
        return Folded(self.text)

    def passages(self, quote: str) -> list[Passage]:
        """All occurrences. A composed and a decomposed accent are equal."""
        passages = list(islice(self.folded.passages(quote), PASSAGES))
        if passages or (quote.isascii() and self.text.isascii()):
            return passages
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
        alike = self._alike(quote)
        if alike is None or touches(alike.passage, self.silent):
            return None
        return Near(self.name, one_line(self.text[slice(*alike.passage)], NEAREST), alike.whole)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", fold(text))


def is_core(place: PacketPlace) -> bool:
    """Messages of a user or a system prompt in a transcript are not output."""
    is_instruction = place.place.startswith("steps/") and _INSTRUCTION.match(place.text)
    return kind_of(place.place) in CORE and not is_instruction


def touches(passage: Passage, silent: Iterable[Passage]) -> bool:
    return any(passage.start < other.end and other.start < passage.end for other in silent)


class CheckedQuotes(NamedTuple):
    quotes: tuple[Quote, ...]
    reasons: tuple[str, ...]
    """In words that a reviewer can act on; none where all is well."""


def check_quotes(given: Sequence[Quote], index: PlaceIndex, *, owner: str = "") -> CheckedQuotes:
    """Each quote with its actual lines, or the reasons why a quote is rejected."""
    if not given:
        return CheckedQuotes(
            (), (f"there is no evidence: quote what shows it, for example from {_listed(index.core)}",)
        )
    if len(given) > MOST:
        return CheckedQuotes((), (f"there are {len(given)} quotes: give those that decide, {MOST} at most",))
    quotes: dict[tuple[str, str], Quote] = {}
    reasons: list[str] = []
    for quote in given:
        checked = _checked(quote, index)
        if isinstance(checked, Quote):
            quotes.setdefault((checked.place, checked.quote), checked)
        else:
            reasons.append(checked)
    taken = tuple(quotes.values())
    core = (*index.core, *index.simulated) if owner == "simulator" else index.core
    if not reasons and core and not any(quote.place in core for quote in taken):
        reasons.append(f"no quote is from the output, a log, an error or the grader: add one from {_listed(core)}")
    return CheckedQuotes(taken, tuple(reasons))


def _checked(given: Quote, index: PlaceIndex) -> Quote | str:
    name, lines = _place_named(given, index)
    text = given.quote.strip()
    shown = f"the quote `{one_line(text, SHOWN)}`"
    if not text:
        return f"a quote from `{one_line(name, SHOWN)}` is empty"
    if len(text) > LONGEST:
        return f"{shown} is too long: {LONGEST} characters at most, those that decide"
    books = index.with_name(name)
    if not books:
        return _no_place(name, text, shown, index)
    matches = [(book, one) for book in books for one in book.passages(text)]
    if not matches:
        return _not_there(name, text, shown, index)
    heard = [(book, one) for book, one in matches if not touches(one, book.silent)]
    if not heard:
        return f"{shown} in `{name}` is no evidence: it talks to the reviewer, or errata wrote it; quote something else"
    long = [(book.text, one) for book, one in heard if _is_long_enough(book.text, one)]
    if not long:
        return f"{shown} is too short: {SHORTEST} characters or a whole line of `{name}`"
    return _quote_at(name, long, lines)


def _place_named(given: Quote, index: PlaceIndex) -> tuple[str, tuple[int, int] | None]:
    """`run.log:13` is line 13 of `run.log`, where no place is named so."""
    name = index.called(given.place.strip().strip("`'\"").strip())
    parts = _LINES.match(name)
    if name in index.names or not parts or parts[1] not in index.names or len(name) > LONGEST:
        return name, given.lines
    return parts[1], given.lines or (int(parts[2][:9]), int((parts[3] or parts[2])[:9]))


def _no_place(name: str, text: str, shown: str, index: PlaceIndex) -> str:
    elsewhere = index.holding(text)
    if name.partition("/")[0].partition(".")[0].lower() in OWN_WORDS:
        places = _listed(elsewhere or index.core)
        return f"{shown}: `{one_line(name, SHOWN)}` is not a place but errata's own words; quote {places}"
    hint = f"; the quote is in {_listed(elsewhere)}" if elsewhere else f"; there are {_listed(index.names)}"
    return f"{shown}: there is no place `{one_line(name, SHOWN)}`{hint}"


def _not_there(name: str, text: str, shown: str, index: PlaceIndex) -> str:
    elsewhere = index.holding(text)
    if elsewhere:
        return f"{shown} is not in `{name}`; it is in {_listed(elsewhere)}"
    for book in index.with_name(name):
        if fold(text) in book.folded.text:
            return f"{shown} cuts a word or a number of `{name}` in two: quote whole ones"
    near = index.nearest(text, name)
    if near and near.whole:
        where = "the" if near.place == name else f"`{near.place}` has the"
        return f"{shown} is not in `{name}` word for word; {where} actual text: `{near.text}`"
    if "…" in text or "..." in text:
        return f"{shown} is not in `{name}`: a quote is one passage, with nothing left out of it"
    hint = f"; the nearest, in `{near.place}`, is `{near.text}`" if near else ""
    return f"{shown} is not in `{name}`, nor anywhere else: copy it character for character{hint}"


def _is_long_enough(text: str, passage: Passage) -> bool:
    """What was redacted does not count."""
    quote = text[passage.start : passage.end]
    letters = "".join(_without_redactions(text, passage).split())
    start = text.rfind("\n", 0, passage.start) + 1
    end = text.find("\n", passage.end)
    line = text[start : len(text) if end < 0 else end]
    return len(letters) >= SHORTEST or (bool(letters) and line.strip() == quote.strip())


def _without_redactions(text: str, passage: Passage) -> str:
    """Also without one that the quote has only a part of."""
    pieces, at = [], passage.start
    for redaction in REDACTION.finditer(text, max(0, passage.start - WIDEST), passage.end + WIDEST):
        pieces.append(text[at : max(at, min(redaction.start(), passage.end))])
        at = max(at, redaction.end())
    return "".join((*pieces, text[at : max(at, passage.end)]))


def _quote_at(name: str, matches: Sequence[tuple[str, Passage]], lines: tuple[int, int] | None) -> Quote:
    """If it occurs several times, the occurrence nearest to the given lines."""
    standing = [(_lines_of(text, one), text[one.start : one.end]) for text, one in (matches if lines else matches[:1])]
    wanted = lines[0] if lines else 0
    at, quote = min(standing, key=lambda one: abs(one[0][0] - wanted))
    return Quote(place=name, quote=quote, lines=at)


def _lines_of(text: str, passage: Passage) -> tuple[int, int]:
    first = text.count("\n", 0, passage.start) + 1
    return first, first + text.count("\n", passage.start, passage.end)


def _listed(names: Sequence[str]) -> str:
    shown: Iterator[str] = (f"`{one_line(name, SHOWN)}`" for name in names[:NAMED])
    return (", ".join(shown) + (" …" if len(names) > NAMED else "")) or "any place"
