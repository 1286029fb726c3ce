"""A document as one static page: no scripts, nothing loaded, readable on a phone, in light and in dark.

Every text is cleaned, redacted and escaped by `page_text`; nothing else writes what came from a log into the page.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from errata.render import charts, palette
from errata.render.blocks_html import BlockHtml, page_text, scrolling
from errata.render.document import Anchors, Card, Document, Section
from errata.text.outgoing import short_line

OPEN_GROUPS = 3
IN_FULL = 600_000
"""Characters of the page up to which failures are shown in full; after that, each is a row of a table …"""
IN_SHORT = 750_000
"""… and after that they are counted."""
TOP, ABOUT = "Top", "About"
"""Anchors of titles have no capitals."""
MARK = (
    '<svg width="18" height="18" aria-hidden="true"><rect width="18" height="18" rx="4.5"/>'
    '<path d="M3.8 6.4h4.4M9.8 6.4h4.4M5.6 13.4 9 8.6l3.4 4.8"/></svg>'
)


def to_html(document: Document) -> str:
    style = page_style()
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
            f"<title>{page_text(document.title)}</title>",
            f"<style>{style}</style>",
            "</head>",
            '<body class="report">',
            *page.parts(),
            "</body>",
            "</html>",
            "",
        )
    )


@cache
def page_style() -> str:
    """Of this page, and of every other that shows the same blocks."""
    return palette.stylesheet() + files("errata.render").joinpath("page.css").read_text(encoding="utf-8")


def _policy(style: str) -> str:
    digest = b64encode(sha256(style.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src &#39;none&#39;; style-src &#39;sha256-{digest}&#39;; base-uri &#39;none&#39;; "
        "form-action &#39;none&#39;"
    )


class _HtmlPage:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._anchors = Anchors(document)
        self._blocks = BlockHtml(self._anchors.target)
        self._groups = 0
        self._written = 0

    def parts(self) -> Iterator[str]:
        document = self._document
        yield f'<header class="top"><a class="brand" href="#{TOP}">{MARK}errata</a>{self._contents()}</header>'
        yield f'<main id="{TOP}">'
        yield from self._head()
        yield from self._laid_out()
        for section in document.sections:
            yield from self._section(section, 2)
        if document.facts:
            facts = "".join(
                f"<div><dt>{page_text(name)}</dt><dd>{self._blocks.line(value)}</dd></div>"
                for name, value in document.facts
            )
            yield f'<section><h2 id="{ABOUT}">About this report</h2><dl class="facts">{facts}</dl></section>'
        yield "</main>"

    def _contents(self) -> str:
        links = [
            f'<a href="#{self._id(section)}">{page_text(section.short or section.title)}</a>'
            for section in self._document.sections
        ]
        if self._document.facts:
            links.append(f'<a href="#{ABOUT}">About</a>')
        return f'<nav aria-label="Contents" tabindex="0">{"".join(links)}</nav>'

    def _head(self) -> Iterator[str]:
        document = self._document
        yield f'<div class="head"><h1>{page_text(document.title)}</h1>'
        if document.brief:
            yield f'<p class="brief">{self._blocks.line(document.brief)}</p>'
        status = document.status.upper() if document.status == "provisional" else document.status or ""
        if status or document.coverage or document.warning:
            badge = f'<b class="badge {status.lower().replace(" ", "-")}">{status}</b>' if status else ""
            if document.warning:
                badge += f' <b class="badge unfit">{page_text(document.warning)}</b>'
            yield f'<p class="status">{badge} {self._blocks.line(document.coverage)}</p>'
        yield "</div>"

    def _laid_out(self) -> Iterator[str]:
        """Cards that follow each other share a row, and so do warnings."""
        row = ""
        self._blocks.keeps_names = True
        for block in self._document.blocks:
            kind = ("alerts" if block.is_warning else "cards") if isinstance(block, Card) else ""
            if kind != row:
                yield "</div>" * bool(row) + f'<div class="{kind}">' * bool(kind)
                row = kind
            yield self._blocks.block(block)
        self._blocks.keeps_names = False
        if row:
            yield "</div>"

    def _id(self, section: Section) -> str:
        return escape(self._anchors.of(section))

    def _section(self, section: Section, level: int, *, is_open: bool = True) -> Iterator[str]:
        head = min(level, 6)
        owner = f"{charts.chip(section.owner, page_text)} " if section.owner else ""
        title = f'<h{head} id="{self._id(section)}">{owner}{page_text(section.title)}</h{head}>'
        is_item = bool(section.brief)
        if section.is_folded:
            self._groups += 1
            is_open = is_open and self._groups <= OPEN_GROUPS
        if section.is_folded or is_item:
            kind, brief = ("item", section.brief) if is_item else ("group", ())
            line = f'<span class="brief">{self._blocks.line(brief)}</span>' if brief else ""
            yield f'<details class="{kind}"{" open" if is_open else ""}><summary>{title}{line}</summary>'
            yield '<div class="inner">'
        else:
            yield f"<section>{title}"
        yield from map(self._blocks.block, section.blocks)
        yield from self._inner(section.sections, level + 1, is_open=is_open)
        yield "</div></details>" if section.is_folded or is_item else "</section>"

    def _inner(self, sections: Iterable[Section], level: int, *, is_open: bool) -> Iterator[str]:
        """Those of one kind in full as long as the page has room; only the first item is open."""
        left: list[Section] = []
        first = True
        for section in sections:
            if section.brief and self._written >= IN_FULL:
                left.append(section)
                continue
            for part in self._section(section, level, is_open=is_open and (first or not section.brief)):
                self._written += len(part) if section.brief else 0
                yield part
            first = False
        yield from self._rest(left)

    def _rest(self, left: list[Section]) -> Iterator[str]:
        if not left:
            return
        rows = []
        for section in left:
            if self._written >= IN_SHORT:
                break
            row = (
                f'<tr id="{self._id(section)}"><td>{page_text(section.title)}</td>'
                f"<td>{self._blocks.line(section.brief)}</td></tr>"
            )
            self._written += len(row)
            rows.append(row)
        more = f" {len(left) - len(rows):,} of them are only counted." if len(rows) < len(left) else ""
        yield f'<p class="more">{len(left):,} more in short; the Markdown and JSON reports have them in full.{more}</p>'
        head = '<thead><tr><th scope="col">case</th><th scope="col">in short</th></tr></thead>'
        if rows:
            yield scrolling(f"<table>{head}<tbody>{''.join(rows)}</tbody></table>", "the rest, in short")


# --- a table for a notebook: plain HTML without scripts, every text cleaned, redacted and escaped


CELL = 200
"""Characters of a cell; a reason may quote a whole stack trace."""


def html_table(header: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str, note: str = "") -> str:
    head = "".join(f"<th>{_cell(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    below = f"<p>{_cell(note)}</p>" if note else ""
    table = f"<table><caption>{_cell(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{table}{below}</div>"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return escape(short_line(text, CELL))
