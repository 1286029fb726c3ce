"""The section "Actions taken" of a report, edited in place; the rest of the file stays byte for byte.

What is there is kept as people wrote it: a list goes on in its own way, a table gets a row, `None` makes room. Every
edit is read again before it is given back: it must have added its entry to the section, and nothing else.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from errata.memory.entries import Entry, columns_of, is_about, is_entry, is_none, is_row
from errata.memory.outline import Block, Item, blocks_of, lines_of
from errata.memory.patches import APART, Patch, applied, inside, new_section
from errata.memory.section import Section, find_section, is_head

LARGEST = 2 * 1024 * 1024
UTF8_MARK = "\ufeff"

Shape = list[tuple[str, int]]


class NoPlaceError(ValueError):
    """A file in which no entry can be put so that it is read as one."""


class Edited(msgspec.Struct, frozen=True):
    data: bytes
    line: int
    """Where the entry stands, or stood; counted from 1."""
    text: str
    """The line itself."""
    state: Literal["written", "there", "reworded"] = "written"

    @property
    def changed(self) -> bool:
        return self.state == "written"


def with_entry(data: bytes, entry: Entry, *, was_written: bool = False) -> Edited:
    """The report with the entry in its section; unchanged where it stands there already.

    Where it was written before, a line about the same is it: somebody has changed the words by hand.
    """
    text = _decoded(data)
    blocks, lines = blocks_of(text), lines_of(text)
    section = find_section(blocks)
    found = _standing(section, entry)
    same = found or (_about(section, entry) if was_written else None)
    if same:
        text_of_it = lines[same.start].rstrip("\r\n")
        return Edited(data, same.start + 1, text_of_it, "there" if found else "reworded")
    patches = inside(section, lines, entry) if section else new_section(blocks, lines, entry)
    best = _best([*patches], lines, entry, _shape(blocks))
    if best is None:
        raise NoPlaceError
    made, item = best
    return Edited(_encoded(made, data), item.start + 1, lines_of(made)[item.start].rstrip("\r\n"))


def without_entry(data: bytes, entry: Entry) -> Edited | None:
    """The report without the entry's line; none where it is not there, or people have written more below it."""
    text = _decoded(data)
    lines, section = lines_of(text), find_section(blocks_of(text))
    found = _standing(section, entry)
    if section is None or found is None or found.end - found.start > 1:
        return None
    only = [block.items for block in section.all if block.kind not in ("rule", "comment")] == [(found,)]
    is_row = any(block.kind == "table" for block in section.all)
    patch = Patch(found.start, found.end, ("None",) if only and not is_row else ())
    return Edited(_encoded(applied(patch, lines), data), found.start + 1, lines[found.start].rstrip("\r\n"))


def has_section(data: bytes) -> bool:
    return find_section(blocks_of(_decoded(data))) is not None


def is_editable(data: bytes) -> bool:
    """Text in UTF-8, or in anything like it: what is no UTF-8 elsewhere in the file is kept as it is."""
    return len(data) <= LARGEST and b"\0" not in data and not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def _standing(section: Section | None, entry: Entry) -> Item | None:
    for block in section.all if section else ():
        columns = columns_of(block.header)
        for item in block.items:
            if is_row(item.cells, columns, entry) if block.kind == "table" else is_entry(item.text, entry):
                return item
    return None


def _about(section: Section | None, entry: Entry) -> Item | None:
    items = (item for block in section.all for item in block.items) if section else ()
    return next((item for item in items if is_about(item.text, entry)), None)


def _best(patches: Sequence[Patch], lines: Sequence[str], entry: Entry, shape: Shape) -> tuple[str, Item] | None:
    """The first edit that adds the entry and leaves all else what it was; else the first that adds it at all."""
    second = None
    for patch in patches:
        made = applied(patch, lines)
        blocks = blocks_of(made)
        item = _standing(find_section(blocks), entry)
        if item and _shape(blocks, without=item) == shape:
            return made, item
        second = second or ((made, item) if item else None)
    return second


def _shape(blocks: Sequence[Block], *, without: Item | None = None) -> Shape:
    """What a document consists of, but for what an edit may add to it, or put into the place of `None`."""
    shape = []
    for block in blocks:
        if block.kind in ("list", "table"):
            shape += [(item.text, item.end - item.start) for item in block.items if item != without]
        elif not (is_head(block) or block.text.strip() == APART[1]):
            shape.append((f"{block.kind} {block.level} {block.text}", block.end - block.start))
    return [one for one in shape if not is_none(one[0].removeprefix("paragraph 0 "))]


def _decoded(data: bytes) -> str:
    """Bytes that are no UTF-8 come back as they were."""
    return data.decode("utf-8", "surrogateescape").removeprefix(UTF8_MARK)


def _encoded(text: str, before: bytes) -> bytes:
    mark = UTF8_MARK.encode() if before.startswith(UTF8_MARK.encode()) else b""
    return mark + text.encode("utf-8", "surrogateescape")
