"""A document as one static page: no scripts, nothing loaded, readable on a phone, in light and in dark.

Every text is cleaned, redacted and escaped here, by `_text`; nothing else writes into the page what came from a log.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files

from errata.render.anchors import Anchors
from errata.render.document import (
    Bar,
    Block,
    Chart,
    Code,
    Document,
    Grid,
    Inline,
    Items,
    Line,
    Link,
    Paragraph,
    Section,
    Snippet,
    Strong,
    Table,
    Text,
)
from errata.render.markdown import PROVISIONAL
from errata.render.markdown_text import with_edges
from errata.text.private import outgoing_line, outgoing_lines

IN_FULL = 500
"""Sections of one kind that are shown in full; the others become rows of a table."""
PASSING = frozenset(". ")


def to_html(document: Document) -> str:
    style = files("errata.render").joinpath("page.css").read_text(encoding="utf-8")
    page = _HtmlPage(document)
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{_text(document.title)}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            *page.parts(),
            "</body>",
            "</html>",
            "",
        )
    )


def _policy(style: str) -> str:
    digest = b64encode(sha256(style.encode("utf-8")).digest()).decode("ascii")
    return f"default-src &#39;none&#39;; style-src &#39;sha256-{digest}&#39;"


class _HtmlPage:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._anchors = Anchors(document)
        self._shown = 0

    def parts(self) -> Iterator[str]:
        document = self._document
        yield f"<h1>{_text(document.title)}</h1>"
        if document.status is not None:
            yield f'<p class="status {document.status.replace(" ", "-")}">{document.status.upper()}</p>'
        if document.facts:
            facts = (f"<dt>{_text(name)}</dt><dd>{self._line(value)}</dd>" for name, value in document.facts)
            yield f"<dl>{''.join(facts)}</dl>"
        yield from map(self._block, document.blocks)
        if len(document.sections) > 1:
            yield self._contents(document.sections)
        for section in document.sections:
            yield from self._section(section, 2)

    def _contents(self, sections: Iterable[Section]) -> str:
        links = (f'<li><a href="#{self._id(one)}">{_text(one.title)}</a></li>' for one in sections)
        return f'<nav aria-label="Contents"><ul>{"".join(links)}</ul></nav>'

    def _id(self, section: Section) -> str:
        return escape(self._anchors.of(section))

    def _section(self, section: Section, level: int) -> Iterator[str]:
        head = min(level, 6)
        yield "<section>"
        yield f'<h{head} id="{self._id(section)}">{_text(section.title)}</h{head}>'
        yield from map(self._block, section.blocks)
        left: list[Section] = []
        for inner in section.sections:
            if inner.brief and self._shown >= IN_FULL:
                left.append(inner)
                continue
            self._shown += bool(inner.brief)
            yield from self._section(inner, level + 1)
        yield from self._rest(left)
        yield "</section>"

    def _rest(self, left: list[Section]) -> Iterator[str]:
        if not left:
            return
        yield f"<p>{len(left):,} more in short; the markdown and JSON reports have them in full.</p>"
        rows = (
            f'<tr id="{self._id(section)}"><td>{_text(section.title)}</td><td>{self._line(section.brief)}</td></tr>'
            for section in left
        )
        head = '<thead><tr><th scope="col">case</th><th scope="col">in short</th></tr></thead>'
        yield _scrolling(f"<table>{head}<tbody>{''.join(rows)}</tbody></table>", "the rest, in short")

    def _block(self, block: Block) -> str:
        match block:
            case Paragraph():
                return f"<p>{self._line(block.line)}</p>"
            case Items():
                return self._items(block)
            case Table():
                return self._table(block)
            case Snippet():
                return self._snippet(block)
            case Chart():
                return chart(block, _text)
            case Grid():
                return _grid(block)

    def _items(self, items: Items) -> str:
        tag, mark = ("ol", "") if items.kind == "numbers" else ("ul", "☐ " if items.kind == "tasks" else "")
        return f"<{tag}>{''.join(f'<li>{mark}{self._line(one)}</li>' for one in items.lines)}</{tag}>"

    def _table(self, table: Table) -> str:
        numbers = [' class="number"' if name in table.right else "" for name in table.header]
        named = zip(table.header, numbers, strict=True)
        head = "".join(f'<th scope="col"{kind}>{_breakable(name)}</th>' for name, kind in named)
        body = "".join(f"<tr>{self._row(row, numbers)}</tr>" for row in table.rows)
        notice = f'<p class="notice">{_text(PROVISIONAL)}</p>' if table.provisional else ""
        whole = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return notice + _scrolling(whole, ", ".join(name for name in table.header if name) or "facts")

    def _row(self, row: Iterable[Line], kinds: Iterable[str]) -> str:
        return "".join(f"<td{kind}>{self._line(cell)}</td>" for cell, kind in zip(row, kinds, strict=True))

    def _snippet(self, snippet: Snippet) -> str:
        code = f'<pre tabindex="0"><code>{escape(outgoing_lines(snippet.text))}</code></pre>'
        if not snippet.caption:
            return code
        return f"<figure><figcaption>{self._line(snippet.caption)}</figcaption>{code}</figure>"

    def _line(self, parts: Line) -> str:
        return "".join(map(self._inline, parts)).strip()

    def _inline(self, part: Inline) -> str:
        match part:
            case Text():
                return with_edges(_text(part.text), part.text)
            case Strong():
                return f"<strong>{_text(part.text)}</strong>" if part.text.strip() else ""
            case Code():
                return f"<code>{_text(part.text)}</code>" if part.text.strip() else ""
            case Link():
                shown, target = _text(part.text), self._anchors.target(part.target)
                return f'<a href="{escape(target)}">{shown}</a>' if target else shown


def _scrolling(table: str, label: str) -> str:
    """What is wider than the page scrolls by itself, by keyboard as well."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{_text(label)}">{table}</div>'


def _grid(grid: Grid) -> str:
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in ("", *grid.columns))
    rows = "".join(
        f'<tr><th scope="row">{_text(name)}</th>{"".join(_cell(letter, grid.legend) for letter in cells)}</tr>'
        for name, cells in zip(grid.rows, grid.cells, strict=True)
    )
    legend = " · ".join(f"{_text(letter)} {_text(meaning)}" for letter, meaning in grid.legend.items())
    whole = f'<table class="grid"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f"<figure>{_scrolling(whole, 'runs and cases')}<figcaption>{legend}</figcaption></figure>"


def _cell(letter: str, legend: Mapping[str, str]) -> str:
    kind = "" if letter in PASSING else ' class="mark"'
    return f'<td{kind} title="{_text(legend.get(letter, ""))}">{_text(letter)}</td>'


def _breakable(name: str) -> str:
    """A long name of a column may go on below after each underscore."""
    return _text(name).replace("_", "_<wbr>")


def _text(text: str) -> str:
    return escape(outgoing_line(text))


def chart(drawn: Chart, text: Callable[[str], str]) -> str:
    """`text` makes a text safe for the page."""
    whole = drawn.total or max((bar.value for bar in drawn.bars), default=0) or 1
    rows = "".join(_bar(bar, whole, text) for bar in drawn.bars)
    return f'<figure><figcaption>{text(drawn.title)}</figcaption><div class="bars">{rows}</div></figure>'


def _bar(bar: Bar, whole: float, text: Callable[[str], str]) -> str:
    share = max(0.0, min(1.0, bar.value / whole))
    value = f"{bar.value:,.0f}" if bar.value == int(bar.value) else f"{bar.value:,.2f}"
    rects = "".join(
        f'<rect class="{kind}" width="{wide:.2f}%" height="100%" rx="3"/>'
        for kind, wide in (("of", 100), ("bar", 100 * share))
    )
    note = f' <span class="note">{text(bar.note)}</span>' if bar.note else ""
    drawn = f'<svg role="img" aria-label="{text(bar.label)}: {value}">{rects}</svg>'
    return f'<div><span class="label">{text(bar.label)}</span>{drawn}<span class="value">{value}{note}</span></div>'
