"""The blocks of a markdown document and the lines they stand on, as CommonMark sees them; tables as on GitHub.

Only blocks of the document itself: headings in a quotation, in code or in an HTML comment do not count.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from errata.text.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

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
    """An item of a list, or a row of a table under its header."""

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
    """The line after its last one that is not blank."""
    level: int = 0
    """Of a heading."""
    text: str = ""
    """Of a heading, a paragraph, code or HTML."""
    items: tuple[Item, ...] = ()
    header: tuple[str, ...] = ()
    """Of a table."""


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
