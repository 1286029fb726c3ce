"""Markdown as a reader sees it: pieces in order with their lines, and which of their text is code or bold."""

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
"""Characters of one paragraph or cell that are read."""
_MARKUP = lazy_regex(r"[*`\[\]<>&\\~!]|(?<!\w)_|_(?!\w)")
_BREAK = lazy_regex(r"(?i)<br\s*/?>")

Span = tuple[int, int]


class Words(msgspec.Struct, frozen=True):
    text: str
    codes: tuple[Span, ...] = ()
    bold: tuple[Span, ...] = ()

    @property
    def code_texts(self) -> tuple[str, ...]:
        return tuple(self.text[start:end] for start, end in self.codes)

    def cut(self, start: int, end: int | None = None) -> "Words":
        """A part of it, with its own marks."""
        stop = len(self.text) if end is None else end
        moved = [
            tuple((max(a, start) - start, min(b, stop) - start) for a, b in spans if a < stop and b > start)
            for spans in (self.codes, self.bold)
        ]
        return Words(self.text[start:stop], *moved)


def words_of(source: str) -> Words:
    source = source[:LONGEST]
    if not _MARKUP.search(source):  # most lines have none, and parsing costs more than all that follows
        return Words(source)
    taken = _PlainText()
    for token in _inline_parser().parseInline(source)[0].children or ():
        taken.add(token)
    return Words(taken.text, tuple(taken.codes), tuple(taken.bold))


@cache
def _inline_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 it takes a while to import, and many commands read no report

    return MarkdownIt("commonmark", {"html": True}).enable("strikethrough")


class _PlainText:
    def __init__(self) -> None:
        self.text = ""
        self.codes: list[Span] = []
        self.bold: list[Span] = []
        self._bold_from: list[int] = []
        self._struck = 0

    def add(self, token: "Token") -> None:
        match token.type:
            case "s_open":
                self._struck += 1
            case "s_close":
                self._struck -= 1
            case _ if self._struck:
                return
            case "strong_open":
                self._bold_from.append(len(self.text))
            case "strong_close":
                self.bold.append((self._bold_from.pop(), len(self.text)))
            case "code_inline":
                self.codes.append((len(self.text), len(self.text) + len(token.content)))
                self.text += token.content
            case "softbreak" | "hardbreak":
                self.text += "\n"
            case "html_inline":
                self.text += "\n" if _BREAK.fullmatch(token.content) else ""
            case _:
                self.text += token.content


MOST = 20_000
"""Pieces that are read of one file."""
INNER = 7
"""The level of text in the head of a collapsed part: below every heading."""

Kind = Literal["heading", "item", "text", "row", "comment", "code"]

_FRONT = lazy_regex(r"\A---[ \t]*\r?\n(.*?\r?\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_SUMMARY = lazy_regex(r"(?is)<summary>(.*?)</summary>")
_HTML_ROW = lazy_regex(r"(?is)<tr\b[^<>]*>(.*?)(?:</tr>|(?=<tr\b)|\Z)")
_HTML_CELL = lazy_regex(r"(?is)<t[hd]\b[^<>]*>(.*?)(?:</t[hd]>|(?=<t[hd]\b)|\Z)")
_HTML_ITEM = lazy_regex(r"(?is)<li\b[^<>]*>(.*?)(?:</li>|(?=<li\b)|\Z)")
LONGEST_HTML = 60_000
_TAG = lazy_regex(r"<[^<>\n]{1,400}>")


class MarkdownPiece(msgspec.Struct, frozen=True, kw_only=True):
    kind: Kind
    line: int
    """1-based."""
    level: int = 0
    """Of a heading; for an item and the text in it, the depth."""
    words: Words = Words("")
    header: tuple[str, ...] = ()
    cells: tuple[Words, ...] = ()
    topic: str = ""
    """What the section of a heading is about, where what follows shows it better than its words."""

    @property
    def text(self) -> str:
        return self.words.text


def pieces_of(text: str) -> list[MarkdownPiece]:
    """A comment is kept whole, for readers that know its format; code, because some put the facts of a run into it."""
    front, body = _without_front(text)
    pieces = front
    for piece in _pieces(_block_parser().parse(body)):
        if len(pieces) >= MOST:
            break
        pieces.append(piece)
    return pieces


@cache
def _block_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 it takes a while to import, and many commands read no report

    # text inside a line is parsed where it is needed; links by reference are never resolved
    return MarkdownIt("commonmark", {"html": True}).enable("table").disable(["inline", "reference"])


def _without_front(text: str) -> tuple[list[MarkdownPiece], str]:
    """The front matter above a text, between two lines of hyphens; the lines below keep their numbers."""
    match = _FRONT.match(text[:20_000])
    if match is None:
        return [], text
    lines = match[1].splitlines()
    pieces = [
        MarkdownPiece(kind="text", line=at, words=Words(line.strip()))
        for at, line in enumerate(lines, 2)
        if line.strip()
    ]
    return pieces, "\n" * match[0].count("\n") + text[match.end() :]


def _pieces(tokens: Sequence["Token"]) -> Iterator[MarkdownPiece]:
    depth, heading, starts_item, in_table = 0, 0, False, False
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
                in_table = True
                yield from _without_letters(list(_rows(tokens, at)))
            case "table_close":
                in_table = False
            case "inline" if not in_table:
                kind: Kind = "heading" if heading else "item" if starts_item else "text"
                yield MarkdownPiece(kind=kind, line=_line(token), level=heading or depth, words=words_of(token.content))
                starts_item = False
            case "fence" | "code_block" if token.content.strip():
                line = _line(token) + (token.type == "fence")
                yield MarkdownPiece(kind="code", line=line, level=depth, words=Words(token.content[:LONGEST]))
            case "html_block":
                yield from _html(token.content, _line(token), depth)


def _rows(tokens: Sequence["Token"], start: int) -> Iterator[MarkdownPiece]:
    """Of the table that begins there; the first is its header."""
    header: tuple[str, ...] = ()
    line, cells = 0, list[Words]()
    for at in range(start, len(tokens)):
        token = tokens[at]
        match token.type:
            case "tr_open":
                line, cells = _line(token), []
            case "inline":
                cells.append(words_of(token.content))
            case "tr_close":
                header = header or tuple(cell.text for cell in cells)
                yield MarkdownPiece(kind="row", line=line, header=header, cells=tuple(cells))
            case "table_close":
                return


def _without_letters(rows: Sequence[MarkdownPiece]) -> Sequence[MarkdownPiece]:
    """A spreadsheet has letters over its columns and numbers before its rows; its own header comes first below."""
    numbers = [row.cells[0].text.strip() for row in rows[1:] if row.cells]
    letters = "".join(title.strip() for title in rows[0].header)
    if numbers[:2] != ["1", "2"] or not "ABCDEFGHIJKLMNOPQRSTUVWXYZ".startswith(letters or "-"):
        return rows
    header = tuple(cell.text for cell in rows[1].cells[1:])
    return [msgspec.structs.replace(row, header=header, cells=row.cells[1:]) for row in rows[1:]]


def _line(token: "Token") -> int:
    return token.map[0] + 1 if token.map else 0


def _html(content: str, line: int, depth: int) -> Iterator[MarkdownPiece]:
    if content.lstrip().startswith("<!--"):
        yield MarkdownPiece(kind="comment", line=line, words=Words(content))
        return
    if _HTML_ROW.search(content) or _HTML_ITEM.search(content):
        yield from _html_parts(content[:LONGEST_HTML], line)
        return
    content = content[:LONGEST]
    for summary in _SUMMARY.findall(content):
        yield MarkdownPiece(
            kind="heading", line=line, level=INNER, words=words_of(_TAG.sub(_without_tag, summary.strip()))
        )
    rest = _TAG.sub("", _SUMMARY.sub("", content)).strip()
    if rest:
        yield MarkdownPiece(kind="text", line=line, level=depth, words=words_of(rest))


def _html_parts(content: str, line: int) -> Iterator[MarkdownPiece]:
    """The rows of a table and the items of a list that are written as HTML."""
    header: tuple[str, ...] = ()
    for row in _HTML_ROW.finditer(content):
        cells = tuple(words_of(_TAG.sub(_without_tag, cell).strip()) for cell in _HTML_CELL.findall(row[1]))
        header = header or tuple(cell.text for cell in cells)
        at = line + content.count("\n", 0, row.start())
        yield MarkdownPiece(kind="row", line=at, header=header, cells=cells)
    for item in _HTML_ITEM.finditer(content):
        words = words_of(_TAG.sub(_without_tag, item[1]).strip())
        yield MarkdownPiece(kind="item", line=line + content.count("\n", 0, item.start()), level=1, words=words)


def _without_tag(tag: re.Match[str]) -> str:
    """Bold and code become markdown."""
    name = tag[0].strip("</>").lower()
    return {"b": "**", "strong": "**", "code": "`"}.get(name, "")
