"""The section "Actions taken" of a report, edited in place; the rest of the file stays byte for byte.

What is there is kept as people wrote it: a list goes on in its own way, a table gets a row, `None` makes room. Every
edit is read again before it is given back: it must have added its entry to the section, and nothing else.
"""

from typing import Literal

import msgspec

from errata.memory.entries import Entry, columns_of, is_about, is_entry, is_row
from errata.memory.outline import Item, blocks_of, lines_of
from errata.memory.patches import Patch, applied, inside, new_section
from errata.memory.section import Section, find_section

LONGEST = 16_000_000
UTF8_MARK = "\ufeff"


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
    for patch in patches:
        made = applied(patch, lines)
        now = find_section(blocks_of(made))
        stands = _standing(now, entry)
        if stands and _headings(made, without=None if section else now) == _headings(text):
            return Edited(_encoded(made, data), stands.start + 1, lines_of(made)[stands.start].rstrip("\r\n"))
    raise NoPlaceError


def without_entry(data: bytes, entry: Entry) -> Edited | None:
    """The report without the entry's line; none where it is not there, or people have written more below it."""
    text = _decoded(data)
    lines, section = lines_of(text), find_section(blocks_of(text))
    found = _standing(section, entry)
    if section is None or found is None or found.end - found.start > 1:
        return None
    only = [block.items for block in section.all if block.kind != "rule"] == [(found,)]
    is_row = any(block.kind == "table" for block in section.all)
    patch = Patch(found.start, found.end, ("None",) if only and not is_row else ())
    return Edited(_encoded(applied(patch, lines), data), found.start + 1, lines[found.start].rstrip("\r\n"))


def has_section(data: bytes) -> bool:
    return find_section(blocks_of(_decoded(data))) is not None


def is_editable(data: bytes) -> bool:
    """Text in UTF-8, or in anything like it: what is no UTF-8 elsewhere in the file is kept as it is."""
    return len(data) <= LONGEST and b"\0" not in data and not data.startswith((b"\xff\xfe", b"\xfe\xff"))


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


def _headings(text: str, *, without: Section | None = None) -> list[tuple[int, str]]:
    blocks = [block for block in blocks_of(text) if block.kind == "heading" and (not without or block != without.head)]
    return [(block.level, block.text) for block in blocks]


def _decoded(data: bytes) -> str:
    """Bytes that are no UTF-8 come back as they were."""
    return data.decode("utf-8", "surrogateescape").removeprefix(UTF8_MARK)


def _encoded(text: str, before: bytes) -> bytes:
    mark = UTF8_MARK.encode() if before.startswith(UTF8_MARK.encode()) else b""
    return mark + text.encode("utf-8", "surrogateescape")
