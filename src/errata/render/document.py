"""A report as a document: sections of blocks of lines. The document decides the content, the renderers the look.

Texts are data. No renderer takes markup from them; emphasis, code and links are parts of a line of their own.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

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


Inline: TypeAlias = Text | Strong | Code | Link
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


class Bar(msgspec.Struct, frozen=True, gc=False):
    label: str
    value: float
    note: str = ""


class Chart(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Bars. Markdown leaves them out: the table beside them has the same numbers."""

    title: str
    bars: tuple[Bar, ...]
    total: float | None = None


class Grid(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Runs × cases, a letter each; `legend` explains the letters."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[str, ...]
    """A string for each row, a letter for each column."""
    legend: dict[str, str]


Block: TypeAlias = Paragraph | Items | Table | Snippet | Chart | Grid


class Section(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    key: str = ""
    """By which links of the same document find it, whatever its title is."""
    blocks: tuple[Block, ...] = ()
    sections: tuple["Section", ...] = ()
    brief: Line = ()
    """A single line that replaces the section where a page has no room for all of them."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    status: Status | None = None
    facts: tuple[tuple[str, Line], ...] = ()
    """Name and value, on top: run, model, date …"""
    blocks: tuple[Block, ...] = ()
    """The answer, before the first section."""
    sections: tuple[Section, ...] = ()
    memory: dict[str, object] = {}
    """What errata wants to find again when it reads the report as an earlier one; see docs/memory.md."""


def paragraph(*content: "LineContent") -> Paragraph:
    return Paragraph(line(*content))


def items(lines: Iterable["LineContent"], *, kind: Literal["points", "numbers", "tasks"] = "points") -> Items:
    return Items(tuple(line(one) for one in lines), kind)


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
