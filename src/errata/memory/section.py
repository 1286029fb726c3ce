"""The section "Actions taken" of a report: where it is, and how it is copied from an older report into a newer one."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from errata.memory.entries import is_none
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
    """With their ends, so that they can be put together again."""
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
    """The text before any heading inside the section."""
    below: tuple[MarkdownBlock, ...] = ()
    """The text under headings inside the section."""

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
