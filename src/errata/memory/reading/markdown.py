"""Markdown as a reader sees it: headings, items, rows and paragraphs in order, with their lines and plain text."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

import msgspec

from errata.text.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 4_000
MOST = 20_000
SUMMARY = 7
"""The level of the head of a collapsed part: below every heading."""
_MARKUP = lazy_regex(r"[*`\[\]<>&\\~!]|(?<!\w)_|_(?!\w)")
_FRONT = lazy_regex(r"---[ \t]*\r?\n")
_FRONT_END = lazy_regex(r"(?m)^(?:---|\.\.\.)[ \t]*\r?$")
_TAG = lazy_regex(r"<[^<>\n]{1,400}>")
_TAGS = {"b": "**", "strong": "**", "code": "`", "br": "\n"}

Kind = Literal["heading", "item", "text", "row", "comment"]


class PlainText(msgspec.Struct, frozen=True):
    """Without markup and what is struck out; a bold name of a field gets its colon."""

    text: str
    codes: tuple[str, ...] = ()
    bold: str = ""


class ReportPart(msgspec.Struct, frozen=True, kw_only=True):
    kind: Kind
    line: int
    """1-based."""
    level: int = 0
    """Of a heading; of an item and the text in it, the depth."""
    words: PlainText = PlainText("")
    header: tuple[str, ...] = ()
    cells: tuple[PlainText, ...] = ()
    has_parts: bool = False

    @property
    def text(self) -> str:
        return self.words.text


def parts_of(text: str) -> list[ReportPart]:
    """A comment is kept whole, for readers that know its format. Code is left out: it shows what others wrote."""
    front, body = _without_front(text)
    parts = front
    for part in _parts(_parser().parse(body)):
        if len(parts) >= MOST:
            break
        parts.append(part)
    return parts


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 it takes a while to import, and many commands read no report

    # text inside a line is parsed where it is needed; links by reference are never resolved
    return MarkdownIt("commonmark", {"html": True}).enable("table").disable(["inline", "reference"])


@cache
def _inline_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 as above

    return MarkdownIt("commonmark", {"html": True}).enable("strikethrough")


def _without_front(text: str) -> tuple[list[ReportPart], str]:
    start = _FRONT.match(text)
    end = _FRONT_END.search(text, start.end(), 20_000) if start else None
    if start is None or end is None:
        return [], text
    lines = text[start.end() : end.start()].splitlines()
    parts = [
        ReportPart(kind="text", line=at, words=PlainText(line.strip()))
        for at, line in enumerate(lines, 2)
        if line.strip()
    ]
    return parts, "\n" * (len(lines) + 1) + text[end.end() :]


def _parts(tokens: Sequence["Token"]) -> Iterator[ReportPart]:
    depth, heading, starts_item = 0, 0, False
    header: tuple[str, ...] | None = None
    cells: list[PlainText] | None = None
    for at, token in enumerate(tokens):
        match token.type:
            case "list_item_open":
                depth, starts_item = depth + 1, True
            case "list_item_close":
                depth -= 1
            case "heading_open":
                heading = int(token.tag[1:])
            case "heading_close":
                heading = 0
            case "table_open":
                header = None
            case "tr_open":
                cells = []
            case "tr_close" if cells is not None:
                header = header or tuple(cell.text for cell in cells)
                yield ReportPart(kind="row", line=_line(token, tokens, at), header=header, cells=tuple(cells))
                cells = None
            case "inline" if cells is not None:
                cells.append(plain(token.content))
            case "inline":
                kind: Kind = "heading" if heading else "item" if starts_item else "text"
                inner = kind == "item" and tokens[at + 2 : at + 3] and tokens[at + 2].type.endswith("list_open")
                yield ReportPart(
                    kind=kind,
                    line=_line(token, tokens, at),
                    level=heading or depth,
                    words=plain(token.content),
                    has_parts=bool(inner),
                )
                starts_item = False
            case "html_block":
                yield from _html(token.content, _line(token, tokens, at), depth)


def _line(token: "Token", tokens: Sequence["Token"], at: int) -> int:
    while token.map is None and at:
        at -= 1
        token = tokens[at]
    return token.map[0] + 1 if token.map else 1


def _html(content: str, line: int, depth: int) -> Iterator[ReportPart]:
    if content.lstrip().startswith("<!--"):
        yield ReportPart(kind="comment", line=line, words=PlainText(content))
        return
    before, _, rest = content[:LONGEST].partition("<summary>")
    summary, _, after = rest.partition("</summary>")
    if summary.strip():
        yield ReportPart(kind="heading", line=line, level=SUMMARY, words=plain(_TAG.sub(_as_markdown, summary.strip())))
    text = _TAG.sub(" ", f"{before} {after}").strip()
    if text:
        yield ReportPart(kind="text", line=line, level=depth, words=plain(text))


def _as_markdown(tag: re.Match[str]) -> str:
    return _TAGS.get(tag[0].strip("</> ").lower(), "")


def plain(source: str) -> PlainText:
    source = source[:LONGEST]
    if not _MARKUP.search(source):  # most lines have none, and parsing costs more than all that follows
        return PlainText(source)
    text, bold, codes = "", "", list[str]()
    struck, strong_from = 0, -1
    for token in _inline_parser().parseInline(source)[0].children or ():
        kind = token.type
        if kind in ("s_open", "s_close"):
            struck += token.nesting
        elif struck:
            continue
        elif kind == "strong_open":
            strong_from = len(text)
        elif kind == "strong_close" and strong_from >= 0:
            bold = bold or (text[strong_from:] if not re.search(r"\w", text[:strong_from]) else "")
            strong_from = -1
        elif kind == "code_inline":
            codes.append(token.content)
            text += f"`{token.content}`"
        elif kind in ("softbreak", "hardbreak"):
            text += "\n"
        elif kind == "html_inline":
            text += "\n" if token.content.lower().startswith("<br") else ""
        else:
            text += token.content
    return PlainText(text, tuple(codes), bold)
