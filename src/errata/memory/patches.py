"""Where in a report an entry may go, the best place first, and how it is put there: whole lines, and no other."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from errata.memory.entries import Entry, columns_of, is_blank, is_none, row_of
from errata.memory.outline import Block
from errata.memory.section import LABEL, Section, undressed

TITLE = "Actions taken"
APART = ("", "<!-- -->", "")
"""What is indented would go on a list before it, were there no comment between them."""
_NET_IMPACT = re.compile(r"net impact(?:\W.*)?", re.IGNORECASE)
_MARKER = re.compile(r"( {0,3})([-*+]|(\d{1,9})([.)]))([ \t]+|$)(\[[ xX]\][ \t]+)?")


class Patch(msgspec.Struct, frozen=True):
    start: int
    end: int
    """The lines from `start` up to here are replaced; none where they are equal."""
    lines: tuple[str, ...]


def applied(patch: Patch, lines: Sequence[str]) -> str:
    """Lines end as the one before them does; a file whose last line has no end is left without one."""
    near = (*reversed(lines[: patch.start]), *lines[patch.start :])
    end = next((line[len(line.rstrip("\r\n")) :] for line in near if line.endswith(("\r", "\n"))), "\n")
    before, after = "".join(lines[: patch.start]), "".join(lines[patch.end :])
    made = end.join(patch.lines)
    if before and not before.endswith(("\r", "\n")):
        return f"{before}{end}{made}"
    ended = bool(after) or not lines or "".join(lines[patch.start : patch.end] or lines[-1:]).endswith(("\r", "\n"))
    return f"{before}{made}{end if ended and patch.lines else ''}{after}"


def inside(section: Section, lines: Sequence[str], entry: Entry) -> Iterator[Patch]:
    """Where it may go, the best place first."""
    said = [block for block in section.body if block.kind not in ("rule", "comment")]
    for block in reversed(said):
        patch = _goes_on(block, lines, entry)
        if patch:
            yield patch
            break
    else:
        none = next((block for block in said if block.kind == "paragraph" and is_none(block.text)), None)
        if none:
            yield Patch(none.start, none.end, (f"1. {entry.line}",))
        elif section.head.kind == "paragraph" and (label := LABEL.fullmatch(section.head.text)) and label[2]:
            at = section.head.end - 1
            yield Patch(at, at + 1, (lines[at][: lines[at].rindex(label[2])], "", f"1. {entry.line}"))
        yield from _lists_at((said[-1] if said else section.head).end, lines, entry)
    yield from _lists_at(section.head.end, lines, entry)


def _goes_on(block: Block, lines: Sequence[str], entry: Entry) -> Patch | None:
    """A list or table, one longer."""
    if block.kind == "list":
        return _longer_list(block, lines, entry)
    return _longer_table(block, lines, entry) if block.kind == "table" else None


def _longer_list(block: Block, lines: Sequence[str], entry: Entry) -> Patch | None:
    last = block.items[-1]
    marker = _MARKER.match(lines[last.start].rstrip("\r\n"))
    if marker is None:
        return None
    indent, bullet, number, dot, space, box = marker.groups()
    if len(block.items) == 1 and is_none(last.text) and last.end - last.start == 1:
        return Patch(last.start, last.end, (f"{indent}{bullet}{space or ' '}{entry.line}",))
    if number:
        bullet = f"{_next_number(block, lines, int(number))}{dot}"
    loose = len(block.items) > 1 and not lines[last.start - 1].strip()
    line = f"{indent}{bullet}{space or ' '}{'[x] ' if box else ''}{entry.line}"
    return Patch(last.end, last.end, ("", line) if loose else (line,))


def _next_number(block: Block, lines: Sequence[str], last: int) -> int:
    """One more; in a list that leaves the counting to whoever shows it, the same again."""
    marker = _MARKER.match(lines[block.items[-2].start]) if len(block.items) > 1 else None
    return last if marker and marker[3] and int(marker[3]) == last else last + 1


def _longer_table(block: Block, lines: Sequence[str], entry: Entry) -> Patch | None:
    columns = columns_of(block.header)
    said = [item for item in block.items if not all(is_none(cell) or is_blank(cell) for cell in item.cells)]
    cells = row_of(columns, entry, len(said) + 1)
    if cells is None:
        return None
    head = lines[block.start].strip()
    row = " | ".join(cell or " " for cell in cells)
    row = f"{'| ' if head.startswith('|') else ''}{row}{' |' if head.endswith('|') else ''}"
    if block.items and not said:
        return Patch(block.items[0].start, block.items[0].end, (row,))
    return Patch(block.end, block.end, (row,))


def _lists_at(at: int, lines: Sequence[str], entry: Entry) -> Iterator[Patch]:
    yield Patch(at, at, ("", f"1. {entry.line}", *_blank_before(at, lines)))
    yield Patch(at, at, ("", f"1. {entry.line}", *APART))


def new_section(blocks: Sequence[Block], lines: Sequence[str], entry: Entry) -> Iterator[Patch]:
    headings = [block for block in blocks if block.kind == "heading"]
    impact = [block for block in headings if _NET_IMPACT.fullmatch(undressed(block.text))]
    levels = [block.level for block in impact[-1:]] or [block.level for block in headings if block.level > 1] or [2]
    section = (f"{'#' * min(levels)} {TITLE}", "", f"1. {entry.line}")
    # before what has no end of its own, such as code that is never closed, there is always a place
    for at in (*(block.start for block in impact[-1:]), len(lines), *(block.start for block in blocks[-1:]), 0):
        before = ("",) if at and lines[at - 1].strip() else ()
        yield Patch(at, at, (*before, *section, *_blank_before(at, lines)))
        yield Patch(at, at, (*before, *section, *APART))


def _blank_before(at: int, lines: Sequence[str]) -> tuple[str, ...]:
    """A blank line, where text follows."""
    return ("",) if at < len(lines) and lines[at].strip() else ()
