"""A report as a document: sections of blocks of lines. The document decides the content, the renderers the look.

Texts are data. No renderer takes markup from them; emphasis, code and links are parts of a line of their own.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

from errata.model.output.score import SpreadOutput
from errata.model.record import Struct
from errata.render.figures import decimal, hundredths, percent
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import outgoing_line

Status = Literal["provisional", "reviewed", "final", "not reviewed"]


class InlinePart(msgspec.Struct, frozen=True, gc=False, tag=True):
    text: str


class Text(InlinePart, frozen=True, gc=False, tag=True):
    """As it is."""


class Strong(InlinePart, frozen=True, gc=False, tag=True):
    """What must not be overlooked."""


class Code(InlinePart, frozen=True, gc=False, tag=True):
    """Text of a file or log, letter for letter."""


class Link(InlinePart, frozen=True, gc=False, tag=True):
    """`target` is `#` and the key of a section, or a path relative to the document; never an address."""

    target: str


class OwnerName(InlinePart, frozen=True, gc=False, tag=True):
    """Who has to act: the word, on a page beside its letter in its colour."""


class OwnerChip(InlinePart, frozen=True, gc=False, tag=True):
    """The same, on a page only the letter."""


Inline: TypeAlias = Text | Strong | Code | Link | OwnerName | OwnerChip
Line: TypeAlias = tuple[Inline, ...]
LineContent: TypeAlias = "str | Inline | Iterable[str | Inline]"
"""What a line can be made of."""


def line(*content: "LineContent") -> Line:
    """Strings are plain text."""
    return tuple(_parts(content))


def _parts(content: Iterable["LineContent"]) -> Iterator[Inline]:
    for part in content:
        if isinstance(part, str):
            if part:
                yield Text(part)
        elif isinstance(part, InlinePart):
            yield part
        else:
            yield from _parts(part)


def marked(text: str) -> Line:
    """Text between backticks is code, as reviewers write it; an unpaired backtick is a letter."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        pieces[-2:] = ["`".join(pieces[-2:])]
    return tuple(Code(part) if at % 2 else Text(part) for at, part in enumerate(pieces) if part)


class Paragraph(msgspec.Struct, frozen=True, gc=False, tag=True):
    line: Line


class Items(msgspec.Struct, frozen=True, gc=False, tag=True):
    lines: tuple[Line, ...]
    kind: Literal["points", "numbers", "tasks"] = "points"


class Table(msgspec.Struct, frozen=True, gc=False, tag=True):
    header: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    right: tuple[str, ...] = ()
    """Columns of numbers."""
    provisional: bool = False
    """Whether a notice above the table marks it as not reviewed."""


class Snippet(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Several lines of a file or log."""

    text: str
    language: str = ""
    caption: Line = ()


class Diff(msgspec.Struct, frozen=True, gc=False, tag=True):
    """An answer beside what was expected. A page shows where they differ; Markdown has both as snippets."""

    left: str
    right: str
    language: str = ""
    left_caption: Line = ()
    right_caption: Line = ()


class Fields(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Names and values; a value without a name is one more of the name above it."""

    rows: tuple[tuple[str, Line], ...]


class QuoteLine(msgspec.Struct, frozen=True, gc=False):
    place: str
    text: str
    stated: str = ""
    means: str = ""


class Quotes(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Evidence, letter for letter, each with its place."""

    quotes: tuple[QuoteLine, ...]


class Bar(msgspec.Struct, frozen=True, gc=False):
    label: str
    value: float
    note: str = ""


class Chart(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Bars. Markdown leaves them out where the table beside them has the same numbers."""

    title: str
    bars: tuple[Bar, ...]
    total: float | None = None
    in_markdown: bool = False


class Scale(msgspec.Struct, frozen=True, gc=False):
    """The ends of an axis: of rates, in per cent, or of numbers on a scale of their own."""

    low: float = 0.0
    high: float = 1.0
    of_rates: bool = True

    def share(self, value: float) -> float:
        """How far along the axis it is."""
        return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5

    def figure(self, value: float | None) -> str:
        return percent(value) if self.of_rates else decimal(value)

    def between(self, low: float | None, high: float | None) -> str:
        if low is None or high is None:
            return ""
        return "–".join(map(hundredths if self.of_rates else decimal, (low, high)))


PER_CENT = Scale()


def scale_of(spreads: Iterable[SpreadOutput | None]) -> Scale:
    """From the lowest number to the highest; where there are none, per cent."""
    known = [spread for spread in spreads if spread is not None]
    if not known:
        return PER_CENT
    return Scale(min(one.low for one in known), max(one.high for one in known), of_rates=False)


class ScoreBar(msgspec.Struct, frozen=True, gc=False):
    """A rate or a mean with its interval; a hollow point is a number that something else corrects."""

    label: str
    rate: float | None
    low: float | None = None
    high: float | None = None
    count: str = ""
    measured: float | None = None
    """The rate that the bar corrects, as a hollow point beside it."""
    policy: str = ""
    """How it is counted, where the label does not state it."""
    is_hollow: bool = False
    is_best: bool = False


class ScoreChart(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Rates on one axis. Markdown has the table, if any; a page both."""

    bars: tuple[ScoreBar, ...]
    table: Table | None = None
    doubt: str = ""
    """Why none of them is the best estimate."""
    scale: Scale = PER_CENT


class OwnerCount(msgspec.Struct, frozen=True, gc=False):
    owner: str
    count: int
    note: str = ""


class OwnerStrip(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Whose failures these are. `label` names the strip where several stand below each other."""

    counts: tuple[OwnerCount, ...]
    label: str = ""
    scale: int = 0
    """The count that fills the whole width, where several strips share it; else the strip's own total."""

    @property
    def total(self) -> int:
        return sum(one.count for one in self.counts)


class RankedCause(msgspec.Struct, frozen=True, gc=False):
    count: int
    owner: str
    title: Line
    note: Line = ()
    followers: int = 0
    """Knock-on failures, besides the count."""


class Ranking(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The most frequent causes, each with its owner."""

    causes: tuple[RankedCause, ...]


class MapCell(msgspec.Struct, frozen=True, gc=False):
    """A case that failed; `key` is the section about it."""

    owner: str
    case: str
    key: str = ""


class MapRow(msgspec.Struct, frozen=True, gc=False):
    name: str
    failed: tuple[MapCell, ...]
    others: int
    """Cases that passed."""
    note: str = ""
    unmeasured: int = 0
    """Cases without a result."""


class CategoryMap(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The cases of a run by category. Markdown leaves it out."""

    rows: tuple[MapRow, ...]
    rest: str = "passed"
    """What the other cases are, those without a result apart."""


class Grid(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Runs × cases, a letter each; `legend` explains the letters."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[str, ...]
    """A string for each row, a letter for each column."""
    legend: dict[str, str]
    owners: tuple[tuple[str, ...], ...] = ()
    """Of each cell who has to act, where it is a failure; on a page, its letter and colour replace the other."""
    groups: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """On a page, the columns in another order: titles, and the columns below each."""
    notes: tuple[str, ...] = ()
    """Of each row its score."""
    values: tuple[tuple[float | None, ...], ...] = ()
    """Of each cell its number, where it is neither a pass nor a failure; on a page, its shade."""
    scale: Scale = PER_CENT
    """Of the values."""
    targets: tuple[tuple[str, ...], ...] = ()
    """Of each cell the address of the page about it, where there is one; a report has none."""
    selected: int | None = None
    """The column that is looked at."""


class Card(msgspec.Struct, frozen=True, tag=True):
    """A part of the answer; on a page, cards that follow each other stand side by side."""

    title: str
    blocks: tuple["Block", ...]
    note: Line = ()
    is_wide: bool = False
    is_warning: bool = False
    is_blocking: bool = False
    """A warning that comes before the answer: without it, the answer misleads."""
    in_markdown: bool = True
    """False where a section has the same in words."""


Block: TypeAlias = (
    Paragraph | Items | Table | Snippet | Diff | Fields | Quotes | Chart | ScoreChart | OwnerStrip | Ranking
    | CategoryMap | Grid | Card
)  # fmt: skip


class Section(Struct):
    title: str
    short: str = ""
    """Its title in the contents of a page, where that has to fit in a line."""
    key: str = ""
    """By which links of the same document find it, whatever its title is."""
    blocks: tuple[Block, ...] = ()
    sections: tuple["Section", ...] = ()
    brief: Line = ()
    """A single line that replaces the section where a page has no room for all of them."""
    owner: str = ""
    """Who has to act, where it is about one owner's failures."""
    is_folded: bool = False
    """A page can hide it behind its title; the first ones are open."""
    can_overflow: bool = False
    """A document that is too long leaves sections of it to a file beside it."""


class Document(Struct):
    title: str
    brief: Line = ()
    """What it is about, below the title of a page; Markdown has the facts there."""
    status: Status | None = None
    coverage: Line = ()
    """How far the failures were reviewed."""
    warning: str = ""
    """A badge beside the status on a page: the runs are not fit for comparison. Markdown has the findings."""
    facts: tuple[tuple[str, Line], ...] = ()
    """Name and value: run, model, date … Markdown has them on top, a page at its end."""
    blocks: tuple[Block, ...] = ()
    """The answer, before the first section: the first screen of a page."""
    sections: tuple[Section, ...] = ()
    is_part: bool = False
    """It goes on where another file ends, and is not a report of its own."""
    elsewhere: dict[str, str] = {}
    """Keys of sections that are in another file → file and anchor."""
    memory: dict[str, object] = {}
    """What errata wants to find again when it reads the report as an earlier one; see docs/memory.md."""


def paragraph(*content: "LineContent") -> Paragraph:
    return Paragraph(line(*content))


def items(lines: Iterable["LineContent"], *, kind: Literal["points", "numbers", "tasks"] = "points") -> Items:
    return Items(tuple(line(one) for one in lines), kind)


def fields(rows: Iterable[tuple[str, "LineContent"]]) -> Fields:
    return Fields(tuple((name, line(value)) for name, value in rows))


def every_section(sections: Iterable[Section]) -> Iterator[Section]:
    """Each followed by those inside of it, as they are read."""
    for section in sections:
        yield section
        yield from every_section(section.sections)


def table(
    header: Iterable[str],
    rows: Iterable[Iterable["LineContent"]],
    *,
    right: Iterable[str] = (),
    provisional: bool = False,
) -> Table:
    cells = tuple(tuple(line(cell) for cell in row) for row in rows)
    return Table(tuple(header), cells, tuple(right), provisional)


_NO_ANCHOR = lazy_regex(r"[^\w\- ]")
_FILE = lazy_regex(r"(?!/)[\w%./-]+(?:#[\w%.-]+)?")
UNTITLED = "section"


class Anchors:
    """Every section has an anchor of its own, whatever its title and however many have the same."""

    def __init__(self, document: Document) -> None:
        self._of: dict[int, str] = {}
        self._by_key: dict[str, str] = {}
        self._elsewhere = document.elsewhere
        taken: dict[str, int] = {anchor_of(document.title): 0}
        for section in every_section(document.sections):
            anchor = self._of[id(section)] = _free(anchor_of(section.title) or UNTITLED, taken)
            if section.key:
                self._by_key.setdefault(section.key, anchor)

    def of(self, section: Section) -> str:
        return self._of[id(section)]

    def target(self, wanted: str) -> str:
        """Where a link leads; empty where it leads nowhere in this document, or out of its folder."""
        if wanted.startswith("#"):
            anchor = self._by_key.get(wanted[1:], "")
            return f"#{anchor}" if anchor else self._elsewhere.get(wanted[1:], "")
        return wanted if _FILE.fullmatch(wanted) and ".." not in wanted.split("/") else ""


def anchor_of(title: str) -> str:
    return _NO_ANCHOR.sub("", outgoing_line(title).lower()).replace(" ", "-")


def _free(anchor: str, taken: dict[str, int]) -> str:
    """As git hosts number what is there already: `a`, `a-1`, `a-2`."""
    free = anchor
    while free in taken:
        taken[anchor] += 1
        free = f"{anchor}-{taken[anchor]}"
    taken[free] = 0
    return free
