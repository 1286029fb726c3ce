"""A long document as two: one that people read, of about 400 lines of Markdown, and the details in a file beside it."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from errata.render.document import (
    Anchors,
    Block,
    Card,
    CategoryMap,
    Chart,
    Diff,
    Document,
    Fields,
    Grid,
    Items,
    Line,
    Link,
    OwnerStrip,
    Paragraph,
    Quotes,
    Ranking,
    ScoreChart,
    Section,
    Snippet,
    Table,
    every_section,
    line,
    paragraph,
)
from errata.render.figures import plural

LINES = 400
LONGEST_TABLE = 30
"""Rows of a table that stay in a document that is too long."""
LEAST = 40
"""Lines for the parts that can be left out, however long the others are."""


class Pages(msgspec.Struct, frozen=True):
    main: Document
    details: Document | None = None
    """What the main document has no room for; none where it has room for all."""


def paged(document: Document, beside: str, *, hint: Line = ()) -> Pages:
    """`beside` is the file of the details. Where there will be none it is empty, and `hint` is how to get one."""
    if lines_of_document(document) <= LINES:
        return Pages(document)
    more = line(" in ", Link(beside, beside), ".") if beside else line(": ", hint, ".")
    long = [one for one in document.sections if one.can_overflow or any(map(_is_long, one.blocks))]
    fixed = lines_of_document(msgspec.structs.replace(document, sections=()))
    short = {id(one): msgspec.structs.replace(one, blocks=tuple(_short_tables(one.blocks, more))) for one in long}
    fixed += sum(_lines(one) for one in document.sections if id(one) not in short)
    fixed += sum(_lines_of(one.blocks) + 4 for one in short.values())
    kept = {id(one) for one in _chosen(long, max(LEAST, LINES - fixed))}
    main = [_cut(short[id(one)], kept, more) if id(one) in short else one for one in document.sections]
    details = Document(title=f"{document.title}: details", sections=tuple(long), is_part=True)
    elsewhere = _elsewhere(details, main, beside) if beside else {}
    return Pages(msgspec.structs.replace(document, sections=tuple(main), elsewhere=elsewhere), details)


def _elsewhere(details: Document, main: Iterable[Section], beside: str) -> dict[str, str]:
    here = {one.key for one in every_section(main)}
    anchors = Anchors(details)
    return {
        section.key: f"{beside}#{anchors.of(section)}"
        for section in every_section(details.sections)
        if section.key and section.key not in here
    }


def _is_long(block: Block) -> bool:
    return isinstance(block, Table) and len(block.rows) > LONGEST_TABLE


def _short_tables(blocks: Iterable[Block], more: Line) -> Iterator[Block]:
    for block in blocks:
        if not isinstance(block, Table) or not _is_long(block):
            yield block
            continue
        yield msgspec.structs.replace(block, rows=block.rows[:LONGEST_TABLE])
        yield paragraph(plural(len(block.rows) - LONGEST_TABLE, "more row"), more)


def _chosen(sections: Sequence[Section], room: int) -> Iterator[Section]:
    """Items that fit: the first of each group, then the second of each, and so on."""
    groups = [group for section in sections if section.can_overflow for group in section.sections]
    turn = 0
    while True:
        items = [(one.sections[turn : turn + 1] if one.sections else (one,)[turn:]) for one in groups]
        if not any(items):
            return
        for group, next_items in zip(groups, items, strict=True):
            for item in next_items:
                room -= _lines(item) + (0 if turn or item is group else 4)
                if room < 0:
                    return
                yield item
        turn += 1


def _cut(section: Section, kept: set[int], more: Line) -> Section:
    """Without the items that were not chosen; a group without any is only counted."""
    if not section.can_overflow:
        return section
    groups, left = [], 0
    for group in section.sections:
        inner = tuple(one for one in group.sections if id(one) in kept)
        if group.sections and not inner:
            left += len(group.sections)
        elif group.sections:
            rest = len(group.sections) - len(inner)
            blocks = (
                *group.blocks,
                *([paragraph(f"{len(inner)} of {len(group.sections)}; the others", more)] if rest else []),
            )
            groups.append(msgspec.structs.replace(group, blocks=blocks, sections=inner))
        elif id(group) in kept:
            groups.append(group)
        else:
            left += 1
    blocks = (*section.blocks, *([paragraph(f"{left:,} more", more)] if left else []))
    return msgspec.structs.replace(section, blocks=blocks, sections=tuple(groups))


def lines_of_document(document: Document) -> int:
    """As Markdown."""
    facts = len(document.facts) + bool(document.coverage)
    return 2 + (facts + 1 if facts else 0) + _lines_of(document.blocks) + sum(map(_lines, document.sections))


def _lines(section: Section) -> int:
    return 2 + _lines_of(section.blocks) + sum(map(_lines, section.sections))


def _lines_of(blocks: Iterable[Block]) -> int:
    return sum(map(_lines_in, blocks))


def _lines_in(block: Block) -> int:
    """Each text is one line, but for snippets; a blank line follows each block."""
    match block:
        case Paragraph():
            return 2
        case Items():
            return len(block.lines) + 1
        case Table():
            return len(block.rows) + 3 + 2 * block.provisional
        case Snippet():
            return block.text.count("\n") + 4 + 2 * bool(block.caption)
        case Diff():
            return block.left.count("\n") + block.right.count("\n") + 12
        case Fields():
            return len(block.rows) + 1
        case Quotes():
            return len(block.quotes) + 1
        case Card():
            return 2 + _lines_of(block.blocks) if block.in_markdown else 0
        case ScoreChart():
            return _lines_in(block.table) if block.table is not None else 0
        case Ranking():
            return len(block.causes) + 1
        case Grid():
            return len(block.rows) + 6
        case OwnerStrip():
            return 2
        case Chart():
            return (len(block.bars) + 4) * block.in_markdown
        case CategoryMap():
            return 0
