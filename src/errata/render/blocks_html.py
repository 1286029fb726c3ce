"""Blocks as HTML, for a report and for any other page. `page_text` is the gate for every text of a log."""

from collections.abc import Callable, Iterable
from html import escape

from errata.render import charts
from errata.render.diff import diff_html
from errata.render.document import (
    Block,
    Card,
    CategoryMap,
    Chart,
    Code,
    Diff,
    Fields,
    Grid,
    Inline,
    Items,
    Line,
    Link,
    OwnerChip,
    OwnerName,
    OwnerStrip,
    Paragraph,
    QuoteLine,
    Quotes,
    Ranking,
    ScoreChart,
    Snippet,
    Strong,
    Table,
    Text,
)
from errata.render.markdown import PROVISIONAL, with_edges
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import outgoing_line, outgoing_lines, short_line

FOLDED, LONGEST = 30, 200
"""Rows of a table from which on it is folded, and rows that are shown."""


UNBROKEN = 34
"""Characters that fit into a line of a small screen."""
_NAME = lazy_regex(r"(?<![\w.@])[\w.@]++(?:[-/][\w.@]++)+|\d %")
_BREAKS_AFTER = lazy_regex(r"[(=,/]")


def page_text(text: str, width: int = 0) -> str:
    """On one line, cleaned, redacted, then cut to `width`, and escaped."""
    return escape(short_line(text, width) if width else outgoing_line(text))


class BlockHtml:
    """`target` gives the address of a link, empty where it leads nowhere."""

    def __init__(self, target: Callable[[str], str]) -> None:
        self._target = target
        self.keeps_names = False
        """On the first screen, names of cases and dates go on below only after a slash."""

    def block(self, block: Block) -> str:
        match block:
            case Paragraph():
                return f"<p>{self.line(block.line)}</p>"
            case Items():
                return self._items(block)
            case Table():
                return self._table(block)
            case Snippet():
                return self._snippet(block)
            case Fields():
                return self._fields(block)
            case Quotes():
                return f'<ul class="quotes">{"".join(map(_quote, block.quotes))}</ul>'
            case Diff():
                captions = (self.line(block.left_caption), self.line(block.right_caption))
                return diff_html(block.left, block.right, captions=captions, clean=outgoing_lines)
            case Card():
                return self._card(block)
            case _:
                return self._picture(block)

    def _picture(self, block: Chart | ScoreChart | OwnerStrip | Ranking | CategoryMap | Grid) -> str:
        match block:
            case Chart():
                return charts.bar_chart(block, page_text)
            case ScoreChart():
                table = (
                    f"<details><summary>as a table</summary>{self._table(block.table)}</details>" if block.table else ""
                )
                return f'<div class="charted">{charts.score_bars(block.bars, page_text, block.scale)}{table}</div>'
            case OwnerStrip():
                listed = "" if block.label else charts.owner_list(block, page_text)
                return charts.owner_strip(block, page_text) + listed
            case Ranking():
                return self._ranking(block)
            case CategoryMap():
                return charts.case_map(block, page_text, lambda key: escape(self._target(f"#{key}")))
            case Grid():
                return charts.matrix(block, page_text)

    def _card(self, card: Card) -> str:
        warning = "alert blocking" if card.is_blocking else "alert"
        kind = warning if card.is_warning else "card wide" if card.is_wide else "card"
        note = f' <span class="note">{self.line(card.note)}</span>' if card.note else ""
        inner = "".join(map(self.block, card.blocks))
        return f'<section class="{kind}"><h2>{page_text(card.title)}{note}</h2>{inner}</section>'

    def _ranking(self, ranking: Ranking) -> str:
        rows = "".join(
            f'<li><b class="count">{cause.count:,}</b>{charts.chip(cause.owner, page_text)}<div>'
            f'{self.line(cause.title)}<span class="note">{self.line(cause.note)}</span></div></li>'
            for cause in ranking.causes
        )
        return f'<ol class="causes">{rows}</ol>'

    def _items(self, items: Items) -> str:
        tag, mark = ("ol", "") if items.kind == "numbers" else ("ul", "☐ " if items.kind == "tasks" else "")
        return f"<{tag}>{''.join(f'<li>{mark}{self.line(one)}</li>' for one in items.lines)}</{tag}>"

    def _fields(self, block: Fields) -> str:
        groups: list[tuple[str, list[str]]] = []
        for name, value in block.rows:
            if name or not groups:
                groups.append((name, []))
            groups[-1][1].append(f"<dd>{self.line(value)}</dd>")
        rows = "".join(f"<div><dt>{page_text(name)}</dt>{''.join(values)}</div>" for name, values in groups)
        return f'<dl class="fields">{rows}</dl>'

    def _table(self, table: Table) -> str:
        """A long one is folded, and cut with a count."""
        numbers = [' class="number"' if name in table.right else "" for name in table.header]
        named = zip(table.header, numbers, strict=True)
        head = "".join(f'<th scope="col"{kind}>{_breakable(name)}</th>' for name, kind in named)
        body = "".join(f"<tr>{self._row(row, numbers)}</tr>" for row in table.rows[:LONGEST])
        notice = f'<p class="notice">{page_text(PROVISIONAL)}</p>' if table.provisional else ""
        whole = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        shown = scrolling(whole, ", ".join(name for name in table.header if name) or "facts")
        count = len(table.rows)
        if count > LONGEST:
            shown += f'<p class="more">{count - LONGEST:,} more rows are in the Markdown report.</p>'
        folded = f"<details><summary>{count:,} rows</summary>{shown}</details>" if count > FOLDED else shown
        return notice + folded

    def _row(self, row: Iterable[Line], kinds: Iterable[str]) -> str:
        return "".join(f"<td{kind}>{self.line(cell)}</td>" for cell, kind in zip(row, kinds, strict=True))

    def _snippet(self, snippet: Snippet) -> str:
        code = f'<pre tabindex="0"><code>{escape(outgoing_lines(snippet.text))}</code></pre>'
        if not snippet.caption:
            return code
        return f"<figure><figcaption>{self.line(snippet.caption)}</figcaption>{code}</figure>"

    def line(self, parts: Line) -> str:
        return "".join(map(self._inline, parts)).strip()

    def _inline(self, part: Inline) -> str:
        match part:
            case Text():
                return with_edges(self._text(part.text), part.text)
            case Strong():
                return f"<strong>{page_text(part.text)}</strong>" if part.text.strip() else ""
            case Code():
                shown = page_text(part.text)
                shown = _BREAKS_AFTER.sub(r"\g<0><wbr>", shown) if self.keeps_names else shown
                return f"<code>{shown}</code>" if part.text.strip() else ""
            case OwnerName():
                return charts.named_chip(part.text, page_text)
            case OwnerChip():
                return charts.chip(part.text, page_text)
            case Link():
                shown, target = page_text(part.text), self._target(part.target)
                return f'<a href="{escape(target)}">{shown}</a>' if target else shown

    def _text(self, text: str) -> str:
        shown = page_text(text)
        return (
            _NAME.sub(lambda name: "/<wbr>".join(map(_unbroken, name[0].split("/"))), shown)
            if self.keeps_names
            else shown
        )


def _unbroken(word: str) -> str:
    can_break = "-" in word or " " in word
    return f'<span class="nb">{word}</span>' if can_break and len(word) <= UNBROKEN else word


def scrolling(table: str, label: str) -> str:
    """What is wider than the page scrolls by itself, by keyboard as well."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{page_text(label)}">{table}</div>'


def _quote(quote: QuoteLine) -> str:
    means = f'<span class="note">{page_text(quote.means)}</span>' if quote.means else ""
    words = page_text(quote.stated) + (f"<mark>{page_text(quote.text)}</mark>" if quote.text else "")
    return f'<li><code class="place">{page_text(quote.place)}</code>{words}{means}</li>'


def _breakable(name: str) -> str:
    """A long name of a column may go on below after each underscore."""
    return page_text(name).replace("_", "_<wbr>")
