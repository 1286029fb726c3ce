"""Whether a quote is evidence: it is in the place it names, and errata did not write it.

White space, quotation marks and dashes may differ as people paste them. What is kept are the whole lines of the place,
so that no quote loses what denies or limits it. Text that errata wrote is not evidence, nor is text that addresses the
reviewer.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

from errata.model import Packet, PacketPlace, Quote
from errata.model.suspects import TASKS
from errata.review.instructions import labels_of, spans
from errata.review.passages import LARGEST, Folded, Passage, words_of
from errata.review.places import Kind, kind_of
from errata.text.clean import clean, one_line
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
    return has_lines or _count(text, text[passage.start : passage.end].strip()) == 1


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


CORE: frozenset[Kind] = frozenset(("output", "log", "error", "grader", "judge"))
"""At least one quote must be from the output, a log, an error, or the grader."""
GAP = lazy_regex(r"\[… (?:[\d,]+ characters left out|the text of `(?:task|output)`) …\]")
"""A note that errata inserts into the text of a place."""
FEWEST_SHARED = 12
"""Letters and digits that a line and a quote have in common, at least; fewer are found anywhere."""
NEAREST = 400
"""Characters of the actual text that are offered for copying."""
PASSAGES = 100
"""If the same words occur more often than this, the first occurrences are enough."""
_INSTRUCTION = lazy_regex(r"(?:user|system)\b")
_SIMULATED = lazy_regex(r"user simulated\b")
OMISSION = lazy_regex(r"(?:(?<!\s)\s++)?(?:[\[(]\s*+)?(?:…|(?<!\.)\.{3,}+)(?:\s*+[\])])?\s*+")
LONGEST = 1_000
MOST = 20
SHOWN = 100
NAMED = 12
OWN_WORDS = frozenset(
    ("signals", "observations", "timeline", "facts", "question", "rule", "left_out", "left-out", "history",
     "failure_key", "run", "size", "packet")
)  # fmt: skip
_LINES = lazy_regex(r"(.+?)[:#]L?(\d+)(?:\s*[-–]\s*L?(\d+))?\Z")


class Near(NamedTuple):
    shared: int
    """Letters and digits of the words that the quote and the line have in common."""
    place: str
    text: str


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

    def nearest(self, quote: str, name: str) -> Near | None:
        """The line with most of its words; where several places have such a line, of the place that is named."""
        words = words_of(quote)
        near = [one for book in self._books if (one := book.nearest(words)) is not None]
        return max(near, key=lambda one: (one.shared, one.place == name), default=None)


class _IndexedPlace:
    """One place, and what of it was worked out so far."""

    def __init__(self, place: PacketPlace, labels: tuple[str, ...]) -> None:
        self.place, self.name, self.text = place, place.place, place.text
        self._labels = labels

    @cached_property
    def folded(self) -> Folded:
        return Folded(self.text)

    def occurrences(self, quote: str) -> list[Passage]:
        """An accent is the same as one character and as two."""
        for form in dict.fromkeys((quote, *(unicodedata.normalize(form, quote) for form in ("NFC", "NFD")))):
            if occurrences := list(islice(self.folded.occurrences(form), PASSAGES)):
                return occurrences
        return []

    def whole(self, passage: Passage) -> str:
        """What to quote instead of a passage; nothing where it would be no evidence either."""
        wider = whole_lines(self.text, passage, self.silent)
        if not is_enough(self.text, wider, has_lines=False):
            wider = with_more(self.text, passage)
        is_evidence = not touches(wider, self.silent) and wider.end - wider.start <= LONGEST
        return _verbatim(self.text[slice(*wider)], LONGEST) if is_evidence else ""

    @cached_property
    def silent(self) -> list[Passage]:
        """The parts that are not evidence: where it talks to the reviewer, and what errata wrote into it."""
        talk = [Passage(span.start, span.end) for span in spans(self.text, self._labels)]
        return talk + [Passage(*found.span()) for found in GAP.finditer(self.text)]

    @cached_property
    def _lines(self) -> list[tuple[Passage, frozenset[str]]]:
        lines, at = [], 0
        for line in self.text.split("\n") if len(self.text) <= LARGEST else ():
            start = at + len(line) - len(line.lstrip())
            lines.append((Passage(start, start + len(line.strip())), words_of(line)))
            at += len(line) + 1
        return lines

    def nearest(self, words: frozenset[str]) -> Near | None:
        """Of lines with half of the words; nothing where it would be no evidence either."""
        shared = [(sum(map(len, words & own)), -at) for at, (_, own) in enumerate(self._lines)]
        most, line = max(shared, default=(0, 0))
        if most < FEWEST_SHARED or 2 * most < sum(map(len, words)):
            return None
        text = self.whole(self._lines[-line][0])
        return Near(most, self.name, _verbatim(text, NEAREST)) if text else None


def _verbatim(text: str, width: int) -> str:
    """As it is in its line; several lines become one."""
    shown = clean(text)
    return one_line(text, width) if "\n" in shown or len(shown) > width else shown


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


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
        checked = check_quote(quote, index)
        if isinstance(checked, str):
            reasons.append(checked)
        else:
            quotes.update({(one.place, one.quote): one for one in checked if (one.place, one.quote) not in quotes})
    taken = tuple(quotes.values())
    core = (*index.core, *index.simulated) if owner == "simulator" else index.core
    if not reasons and core and not any(quote.place in core for quote in taken):
        reasons.append(f"no quote is from the output, a log, an error or the grader: add one from {_listed(core)}")
    return CheckedQuotes(taken, tuple(reasons))


def check_quote(given: Quote, index: PlaceIndex) -> tuple[Quote, ...] | str:
    """The quote, or its parts if it leaves something out, or why it is refused."""
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
    if any(book.occurrences(text) for book in books):
        quoted = _quoted(text, lines, books)
        return (quoted,) if isinstance(quoted, Quote) else f"{shown} {quoted}"
    if OMISSION.search(text):
        return _elided(text, lines, books, shown)
    return _not_there(name, text, shown, index)


def _quoted(text: str, lines: tuple[int, int] | None, books: Sequence[_IndexedPlace]) -> Quote | str:
    """The quote of a text that is there, or what is wrong with it and what would be right."""
    name = books[0].name
    matches = [(book, one) for book in books for one in book.occurrences(text)]
    uncut = [(book, one) for book, one in matches if not cuts_word(book.text, one)]
    if not uncut:
        right = matches[0][0].whole(matches[0][1])
        return f"cuts a word or a number of `{name}` in two: {f'quote `{right}`' if right else 'quote the whole line'}"
    heard = [(book, one) for book, one in uncut if not touches(one, book.silent)]
    if not heard:
        return f"in `{name}` is not evidence: it talks to the reviewer, or errata wrote it; quote something else"
    enough = [(book, one) for book, one in heard if is_enough(book.text, one, has_lines=lines is not None)]
    if not enough:
        book, passage = heard[0]
        return _too_little(book, passage)
    return _quote_at(name, enough, lines)


def _too_little(book: _IndexedPlace, passage: Passage) -> str:
    right = book.whole(passage)
    hint = f"; for example `{right}`" if right else ""
    return (
        f"is too short for `{book.name}`: quote {SHORTEST} characters, a whole line that is there once, "
        f"or a line with its `lines`{hint}"
    )


def _elided(
    text: str, lines: tuple[int, int] | None, books: Sequence[_IndexedPlace], shown: str
) -> tuple[Quote, ...] | str:
    """Each part is a quote by itself, in the order of the place."""
    parts = OMISSION.split(text)
    if not all(parts):
        known = next(
            (book.whole(one) for part in parts if part for book in books for one in book.occurrences(part)), ""
        )
        hint = f": quote `{known}`" if known else ""
        return f"{shown} begins or ends with `…`, which may only be between two parts{hint}"
    for book in books:
        at, quotes = 0, []
        for part in parts:
            passages = [each for each in book.occurrences(part) if each.start >= at]
            fitting = [one for one in passages if not (cuts_word(book.text, one) or touches(one, book.silent))]
            if not fitting or not is_enough(book.text, fitting[0], has_lines=lines is not None):
                break
            at = fitting[0].end
            quotes.append(_quote_at(book.name, [(book, fitting[0])], None))
        else:
            return tuple(quotes)
    failing = next((part for part in parts if not any(book.occurrences(part) for book in books)), "")
    missing = f"; `{one_line(failing, SHOWN)}` is not in it" if failing else ""
    return (
        f"{shown} is not in `{books[0].name}` with its `…`: each part must be there, in this order, and long enough "
        f"by itself{missing}"
    )


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
    near = index.nearest(text, name)
    hint = f"; the nearest line, in `{near.place}`, is `{near.text}`" if near else ""
    return f"{shown} is not in `{name}`, nor anywhere else: copy it character for character{hint}"


def _quote_at(name: str, matches: Sequence[tuple[_IndexedPlace, Passage]], lines: tuple[int, int] | None) -> Quote:
    """The whole lines; if it occurs several times, of the occurrence nearest to the given lines."""
    wanted = lines[0] if lines else 0
    near = [(_lines_of(book.text, passage), book, passage) for book, passage in (matches if lines else matches[:1])]
    at, book, passage = min(near, key=lambda each: abs(each[0][0] - wanted))
    return Quote(place=name, quote=book.text[slice(*whole_lines(book.text, passage, book.silent))], lines=at)


def _lines_of(text: str, passage: Passage) -> tuple[int, int]:
    first = text.count("\n", 0, passage.start) + 1
    return first, first + text.count("\n", passage.start, passage.end)


def _listed(names: Sequence[str]) -> str:
    shown: Iterator[str] = (f"`{one_line(name, SHOWN)}`" for name in names[:NAMED])
    return (", ".join(shown) + (" …" if len(names) > NAMED else "")) or "any place"
