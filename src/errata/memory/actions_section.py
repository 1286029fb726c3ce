"""Add an entry to the section "Actions taken" of a report, or remove it; the rest of the file stays byte for byte.

Existing text stays as people wrote it: a list is continued in its own style, a table gets a row, `None` is replaced.
Every edit is parsed again before it is returned: it must have added its entry to the section, and nothing else.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

import msgspec

from errata.memory.entries import ActionEntry, columns_of, is_blank, is_entry, is_none, is_row, row_of
from errata.text.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


LONGEST = 300
_LINES = lazy_regex(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "hr": "rule",
}


class Item(msgspec.Struct, frozen=True):
    start: int
    end: int
    """The line after its last one that is not blank."""
    cells: tuple[str, ...]
    """Of an item, the text of its first paragraph."""

    @property
    def text(self) -> str:
        return " | ".join(self.cells)


class MarkdownBlock(msgspec.Struct, frozen=True):
    kind: str
    start: int
    end: int
    level: int = 0
    text: str = ""
    items: tuple[Item, ...] = ()
    header: tuple[str, ...] = ()


def lines_of(text: str) -> list[str]:
    return _LINES.findall(text)


def blocks_of(text: str) -> list[MarkdownBlock]:
    lines = lines_of(text)
    tokens = _parser().parse(text)
    return [_block(tokens[at:end], lines) for at, end in _top_level(tokens)]


@cache
def _parser() -> "MarkdownIt":
    # it takes a while to import, and few commands edit reports
    from markdown_it import MarkdownIt  # noqa: PLC0415

    return MarkdownIt("commonmark").enable("table").disable("inline")


def _top_level(tokens: Sequence["Token"]) -> Iterator[tuple[int, int]]:
    start = 0
    for at, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0:
            start = at
        if token.level == 0 and token.nesting <= 0:
            yield start, at + 1


def _block(tokens: Sequence["Token"], lines: Sequence[str]) -> MarkdownBlock:
    first = tokens[0]
    is_comment = first.type == "html_block" and first.content.lstrip().startswith("<!--")
    kind = "comment" if is_comment else _KINDS.get(first.type, "other")
    start, end = _span(first, lines)
    if kind == "heading":
        return MarkdownBlock(kind, start, end, level=int(first.tag[1:]), text=tokens[1].content)
    if kind == "paragraph":
        return MarkdownBlock(kind, start, end, text=tokens[1].content)
    if kind == "list":
        return MarkdownBlock(kind, start, end, items=tuple(_items(tokens, lines)))
    if kind == "table":
        header, *rows = _rows(tokens, lines)
        return MarkdownBlock(kind, start, end, items=tuple(rows), header=header.cells)
    return MarkdownBlock(kind, start, end, text=first.content)


def _items(tokens: Sequence["Token"], lines: Sequence[str]) -> Iterator[Item]:
    for at, token in enumerate(tokens):
        if token.type == "list_item_open" and token.level == 1:
            begins_with_text = tokens[at + 1].type == "paragraph_open"
            yield Item(*_span(token, lines), (tokens[at + 2].content if begins_with_text else "",))


def _rows(tokens: Sequence["Token"], lines: Sequence[str]) -> Iterator[Item]:
    starts = [at for at, token in enumerate(tokens) if token.type == "tr_open"]
    for at, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        cells = tuple(token.content for token in tokens[at:end] if token.type == "inline")
        yield Item(*_span(tokens[at], lines), cells)


def _span(token: "Token", lines: Sequence[str]) -> tuple[int, int]:
    start, end = token.map or (0, 0)
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return start, end


_MORE = r"(?: so far| to date| since\b.*)?(?:\s*[:(\[–—-].*)?"
_ACTIONS = lazy_regex(rf"actions? (?:taken|done){_MORE}", re.IGNORECASE)
_BARE_ACTIONS = lazy_regex(r"actions", re.IGNORECASE)
_DRESSING = lazy_regex(r"^[\W_]*(?:\d+[.)]\s+)?[\W_]*|[\s*_:]+$")


class ActionsSection(msgspec.Struct, frozen=True):
    head: MarkdownBlock
    body: tuple[MarkdownBlock, ...]
    below: tuple[MarkdownBlock, ...] = ()

    @property
    def all(self) -> tuple[MarkdownBlock, ...]:
        return self.body + self.below


def find_section(blocks: Sequence[MarkdownBlock]) -> ActionsSection | None:
    """The topmost, and of several the last one; a bare "Actions" only if no heading is "Actions taken"."""
    headings = [block for block in blocks if block.kind == "heading"]
    named = [block for block in headings if is_head(block)]
    bare = [block for block in headings if block.level <= 2 and _BARE_ACTIONS.fullmatch(undressed(block.text))]
    named.sort(key=lambda block: (-block.level, block.start))
    head = next((some[-1] for some in (named, bare) if some), None)
    if head is None:
        return None
    after = blocks[blocks.index(head) + 1 :]
    is_next = (block.kind == "heading" and block.level <= head.level for block in after)
    rest = after[: next((at for at, ends in enumerate(is_next) if ends), len(after))]
    below = next((at for at, block in enumerate(rest) if block.kind == "heading"), len(rest))
    return ActionsSection(head, tuple(rest[:below]), tuple(rest[below:]))


def undressed(heading: str) -> str:
    """Without emphasis, a number in front, a colon behind."""
    return " ".join(_DRESSING.sub("", heading[:LONGEST]).split())


def is_head(block: MarkdownBlock) -> bool:
    return block.kind == "heading" and _ACTIONS.fullmatch(undressed(block.text)) is not None


def section_text(text: str) -> str:
    """The text of the section; empty if it is empty or `None`."""
    section = find_section(blocks_of(text))
    if section is None:
        return ""
    lines = lines_of(text)
    content = "".join(lines[section.head.end : _end(section, lines)]).strip("\r\n")
    return "" if is_none(content.strip()) else content


def with_section_text(text: str, content: str) -> str:
    """The report with this in its section; as it was where there is nothing to say or no section."""
    section = find_section(blocks_of(text)) if content else None
    if section is None:
        return text
    lines = lines_of(text)
    body = content.strip("\r\n")
    return "".join(lines[: section.head.end]) + f"\n{body}\n" + "".join(lines[_end(section, lines) :])


def _end(section: ActionsSection, lines: Sequence[str]) -> int:
    """Behind its last block that is not a comment: what errata remembers at the end of a file is not part of it."""
    own = (block for block in section.all if not lines[block.start].lstrip().startswith("<!--"))
    return max((block.end for block in own), default=section.head.end)


LARGEST = 2 * 1024 * 1024
UTF8_MARK = "\ufeff"

TITLE = "Actions taken"
APART = ("", "<!-- -->", "")
"""What is indented would go on a list before it, were there no comment between them."""
_NET_IMPACT = lazy_regex(r"net impact(?:\W.*)?", re.IGNORECASE)
_MARKER = lazy_regex(r"( {0,3})([-*+]|(\d{1,9})([.)]))([ \t]+|$)")

Shape = list[tuple[str, int]]


class NoPlaceError(ValueError):
    """A file that has no place for an entry."""


class Patch(msgspec.Struct, frozen=True):
    start: int
    end: int
    """The lines from `start` up to here are replaced; none where they are equal."""
    lines: tuple[str, ...]


class Edited(msgspec.Struct, frozen=True):
    data: bytes
    line: int
    """The entry's line, now or before; counted from 1."""
    text: str
    state: Literal["written", "there"] = "written"

    @property
    def changed(self) -> bool:
        return self.state == "written"


def with_entry(data: bytes, entry: ActionEntry) -> Edited:
    """The report with the entry in its section; unchanged if it is already there."""
    text = _decode(data)
    blocks, lines = blocks_of(text), lines_of(text)
    section = find_section(blocks)
    if same := _find_item(section, entry):
        return Edited(data, same.start + 1, lines[same.start].rstrip("\r\n"), "there")
    patches = inside(section, lines, entry) if section else new_section(blocks, lines, entry)
    best = _best([*patches], lines, entry, _shape(blocks))
    if best is None:
        raise NoPlaceError
    made, item = best
    return Edited(_encode(made, data), item.start + 1, lines_of(made)[item.start].rstrip("\r\n"))


def without_entry(data: bytes, entry: ActionEntry) -> Edited | None:
    """The report without the entry's line; none where it is not there, or people have written more below it."""
    text = _decode(data)
    lines, section = lines_of(text), find_section(blocks_of(text))
    item = _find_item(section, entry)
    if section is None or item is None or item.end - item.start > 1:
        return None
    only = [block.items for block in section.all if block.kind not in ("rule", "comment")] == [(item,)]
    is_row = any(block.kind == "table" for block in section.all)
    patch = Patch(item.start, item.end, ("None",) if only and not is_row else ())
    return Edited(_encode(apply_patch(patch, lines), data), item.start + 1, lines[item.start].rstrip("\r\n"))


def has_section(data: bytes) -> bool:
    return find_section(blocks_of(_decode(data))) is not None


def is_editable(data: bytes) -> bool:
    """Text in UTF-8, or in anything like it: what is not UTF-8 elsewhere in the file is kept as it is."""
    return len(data) <= LARGEST and b"\0" not in data and not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def _find_item(section: ActionsSection | None, entry: ActionEntry) -> Item | None:
    for block in section.all if section else ():
        columns = columns_of(block.header)
        for item in block.items:
            if is_row(item.cells, columns, entry) if block.kind == "table" else is_entry(item.text, entry):
                return item
    return None


def _best(patches: Sequence[Patch], lines: Sequence[str], entry: ActionEntry, shape: Shape) -> tuple[str, Item] | None:
    """The first edit that adds the entry and leaves all else what it was; else the first that adds it at all."""
    second = None
    for patch in patches:
        made = apply_patch(patch, lines)
        blocks = blocks_of(made)
        item = _find_item(find_section(blocks), entry)
        if item and _shape(blocks, without=item) == shape:
            return made, item
        second = second or ((made, item) if item else None)
    return second


def _shape(blocks: Sequence[MarkdownBlock], *, without: Item | None = None) -> Shape:
    """What a document consists of, but for what an edit may add to it, or put into the place of `None`."""
    shape = []
    for block in blocks:
        if block.kind in ("list", "table"):
            shape += [(item.text, item.end - item.start) for item in block.items if item != without]
        elif not (is_head(block) or block.text.strip() == APART[1]):
            shape.append((f"{block.kind} {block.level} {block.text}", block.end - block.start))
    return [one for one in shape if not is_none(one[0].removeprefix("paragraph 0 "))]


def _decode(data: bytes) -> str:
    """Bytes that are not UTF-8 come back as they were."""
    return data.decode("utf-8", "surrogateescape").removeprefix(UTF8_MARK)


def _encode(text: str, before: bytes) -> bytes:
    mark = UTF8_MARK.encode() if before.startswith(UTF8_MARK.encode()) else b""
    return mark + text.encode("utf-8", "surrogateescape")


def apply_patch(patch: Patch, lines: Sequence[str]) -> str:
    """Lines end as the one before them does; a file whose last line has no end is left without one."""
    near = (*reversed(lines[: patch.start]), *lines[patch.start :])
    end = next((line[len(line.rstrip("\r\n")) :] for line in near if line.endswith(("\r", "\n"))), "\n")
    before, after = "".join(lines[: patch.start]), "".join(lines[patch.end :])
    made = end.join(patch.lines)
    if before and not before.endswith(("\r", "\n")):
        return f"{before}{end}{made}"
    ended = bool(after) or not lines or "".join(lines[patch.start : patch.end] or lines[-1:]).endswith(("\r", "\n"))
    return f"{before}{made}{end if ended and patch.lines else ''}{after}"


def inside(section: ActionsSection, lines: Sequence[str], entry: ActionEntry) -> Iterator[Patch]:
    """Where it may go, the best place first."""
    blocks = [block for block in section.body if block.kind not in ("rule", "comment")]
    for block in reversed(blocks):
        patch = _goes_on(block, lines, entry)
        if patch:
            yield patch
            break
    else:
        none = next((block for block in blocks if block.kind == "paragraph" and is_none(block.text)), None)
        if none:
            yield Patch(none.start, none.end, (f"1. {entry.line}",))
        yield from _lists_at((blocks[-1] if blocks else section.head).end, lines, entry)
    yield from _lists_at(section.head.end, lines, entry)


def _goes_on(block: MarkdownBlock, lines: Sequence[str], entry: ActionEntry) -> Patch | None:
    if block.kind == "list":
        return _longer_list(block, lines, entry)
    return _longer_table(block, lines, entry) if block.kind == "table" else None


def _longer_list(block: MarkdownBlock, lines: Sequence[str], entry: ActionEntry) -> Patch | None:
    last = block.items[-1]
    marker = _MARKER.match(lines[last.start].rstrip("\r\n"))
    if marker is None:
        return None
    indent, bullet, number, dot, space = marker.groups()
    is_empty = len(block.items) == 1 and is_none(last.text) and last.end - last.start == 1
    if number and not is_empty:
        bullet = f"{int(number) + 1}{dot}"
    return Patch(last.start if is_empty else last.end, last.end, (f"{indent}{bullet}{space or ' '}{entry.line}",))


def _longer_table(block: MarkdownBlock, lines: Sequence[str], entry: ActionEntry) -> Patch | None:
    columns = columns_of(block.header)
    items = [item for item in block.items if not all(is_none(cell) or is_blank(cell) for cell in item.cells)]
    cells = row_of(columns, entry, len(items) + 1)
    if cells is None:
        return None
    head = lines[block.start].strip()
    row = " | ".join(cell or " " for cell in cells)
    row = f"{'| ' if head.startswith('|') else ''}{row}{' |' if head.endswith('|') else ''}"
    if block.items and not items:
        return Patch(block.items[0].start, block.items[0].end, (row,))
    return Patch(block.end, block.end, (row,))


def _lists_at(at: int, lines: Sequence[str], entry: ActionEntry) -> Iterator[Patch]:
    yield Patch(at, at, ("", f"1. {entry.line}", *_blank_before(at, lines)))
    yield Patch(at, at, ("", f"1. {entry.line}", *APART))


def new_section(blocks: Sequence[MarkdownBlock], lines: Sequence[str], entry: ActionEntry) -> Iterator[Patch]:
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
    return ("",) if at < len(lines) and lines[at].strip() else ()
