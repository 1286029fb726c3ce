"""A document as markdown (CommonMark with tables, as git hosts show it)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import msgspec

from errata.render.document import (
    Anchors,
    Block,
    Card,
    CategoryMap,
    Chart,
    Code,
    Diff,
    Document,
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
    Quotes,
    Ranking,
    ScoreChart,
    Section,
    Snippet,
    Strong,
    Table,
    Text,
    line,
)
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import REMEMBERED, outgoing_line, outgoing_lines, outgoing_tree

_ADDRESS = lazy_regex(r"(?:[a-zA-Z][a-zA-Z0-9+.-]{1,20}://|www\.|mailto:)[^\s<>`|]+")
_SPECIAL = lazy_regex(r"[\\`*\[\]<|~]|\$(?!\d)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=#?\w+;)")
_SUSPECT = lazy_regex(r"[\\`*\[\]<|~$_&@#]|://|www\.|mailto:|GH-")
"""A text without any of these needs no escaping."""
_STARTS = lazy_regex(r"^(\s*)([#>+=-]|\d{1,9}[.)](?=\s|$))")
_CALLS = lazy_regex(r"(?<![\w`])@(?=\w)|(?<!\w)#(?=\d)|(?<=\w)#(?=\d)|\bGH-(?=\d)")
GAP = "\u200b"
"""Breaks a mention or a reference where nobody sees it."""
_ACTS = lazy_regex(r"<(?=[A-Za-z/!?])|\](?=[(\[])|:(?=//)|www(?=\.)|mailto(?=:)")
_TICKS = lazy_regex(r"`+")


def inline_text(text: str, *, edges: bool = False) -> str:
    """Plain text on one line, without anything that markdown would act on; with its blanks at both ends if `edges`."""
    made = _plain(text)
    return with_edges(made, text) if edges else made


@lru_cache(REMEMBERED)
def _plain(text: str) -> str:
    clean = outgoing_line(text)
    if not _SUSPECT.search(clean):  # as most texts are
        return clean
    pieces, at = [], 0
    for match in _ADDRESS.finditer(clean):
        pieces += [_escaped(clean[at : match.start()]), code(match[0])]
        at = match.end()
    pieces.append(_escaped(clean[at:]))
    return "".join(pieces)


def with_edges(made: str, text: str) -> str:
    """What was made of a text, with a blank where the text begins or ends with one."""
    if not text:
        return made
    return f"{' ' if text[:1].isspace() else ''}{made}{' ' if text[-1:].isspace() and made else ''}"


def code(text: str) -> str:
    """Letter for letter, on one line; a bar is escaped, since a table would take it for the end of a cell."""
    clean = outgoing_line(text)
    if not clean:
        return ""
    ticks = ticks_around(clean)
    pad = " " if clean.startswith("`") or clean.endswith("`") else ""
    return f"{ticks}{pad}{clean.replace('|', chr(92) + '|')}{pad}{ticks}"


def ticks_around(text: str, least: int = 1) -> str:
    """More backticks than stand together anywhere in the text."""
    return "`" * max(least, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))


def neutral(text: str) -> str:
    """Without mentions and references: the text of a log notifies nobody and links or closes no issue."""
    return _CALLS.sub(lambda found: f"{found[0]}{GAP}", text)


def plain_title(title: str) -> str:
    """A title that is not markdown but may be read as such: as it is, with gaps where it would be more than text."""
    return _ACTS.sub(lambda found: f"{found[0]}{GAP}", neutral(outgoing_line(title)))


def not_a_start(text: str) -> str:
    """A line whose first letters would start a heading, a list or a quote does not."""
    return _STARTS.sub(_shielded, text)


def _shielded(match: re.Match[str]) -> str:
    blank, mark = match.groups()
    return f"{blank}{mark[:-1]}\\{mark[-1]}" if mark[0].isdigit() else f"{blank}\\{mark}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: "&lt;" if found[0] == "<" else f"\\{found[0]}", neutral(text))


PROVISIONAL = "Automatic; not yet reviewed."
MEMORY, PART = "errata:memory", "errata:part"
DEEPEST, WIDEST_GRID = 6, 60
_LANGUAGE = lazy_regex(r"[a-z0-9+#-]{1,20}")
_MARKS = {"points": "-", "tasks": "- [ ]"}
BAR = 40


def to_markdown(document: Document) -> str:
    return "\n\n".join(_MarkdownPage(document).parts()) + "\n"


def blocks_to_markdown(blocks: Iterable[Block]) -> str:
    """Blocks alone, without a title."""
    return "\n\n".join(_MarkdownPage(Document(title=""))._blocks(blocks))


class _MarkdownPage:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._anchors = Anchors(document)

    def parts(self) -> Iterator[str]:
        document = self._document
        yield f"# {inline_text(document.title)}"
        if document.is_part:
            yield f"<!-- {PART} -->"
        if facts := [*document.facts, *_status(document)]:
            yield self._fields(Fields(tuple(facts)))
        yield from self._blocks(document.blocks)
        for section in document.sections:
            yield from self._section(section, 2)
        if document.memory:
            yield _memory(document.memory)

    def _section(self, section: Section, level: int) -> Iterator[str]:
        yield f"{'#' * min(level, DEEPEST)} {inline_text(section.title)}"
        yield from self._blocks(section.blocks)
        for inner in section.sections:
            yield from self._section(inner, level + 1)

    def _blocks(self, blocks: Iterable[Block]) -> Iterator[str]:
        yield from filter(None, map(self._block, blocks))

    def _block(self, block: Block) -> str:
        match block:
            case Paragraph():
                return not_a_start(self._line(block.line))
            case Items():
                return "\n".join(self._items(block))
            case Table():
                return self._table(block)
            case Snippet():
                return self._snippet(block)
            case Fields():
                return self._fields(block)
            case Quotes():
                return "\n".join(self._items(_quoted(block)))
            case Diff():
                sides = (
                    Snippet(block.left, block.language, block.left_caption),
                    Snippet(block.right, block.language, block.right_caption),
                )
                return "\n\n".join(map(self._snippet, sides))
            case Card():
                return self._card(block)
            case _:
                return self._picture(block)

    def _picture(self, block: Chart | ScoreChart | OwnerStrip | Ranking | CategoryMap | Grid) -> str:
        """What a page shows as a picture."""
        match block:
            case ScoreChart():
                return self._table(block.table) if block.table is not None else ""
            case OwnerStrip():
                return self._line(line(" · ".join(f"{one.owner} {one.count:,}" for one in block.counts)))
            case Ranking():
                return "\n".join(self._items(_ranked(block)))
            case Grid():
                return self._snippet(Snippet(_grid(block))) if len(block.columns) <= WIDEST_GRID else ""
            case Chart() if block.in_markdown:
                return f"{inline_text(block.title)}\n\n{self._snippet(Snippet(_bars(block)))}"
            case Chart() | CategoryMap():
                return ""

    def _card(self, card: Card) -> str:
        inner = "\n\n".join(self._blocks(card.blocks)) if card.in_markdown else ""
        return f"**{inline_text(card.title)}**\n\n{inner}" if inner else ""

    def _fields(self, block: Fields) -> str:
        return "\n".join(f"- **{inline_text(name)}**: {self._line(value)}" for name, value in block.rows)

    def _items(self, items: Items) -> Iterator[str]:
        for at, item in enumerate(items.lines, 1):
            yield f"{_MARKS.get(items.kind, f'{at}.')} {not_a_start(self._line(item))}"

    def _table(self, table: Table) -> str:
        marks = ("---:" if name in table.right else "---" for name in table.header)
        lines = [_row(inline_text(name) for name in table.header), _row(marks)]
        lines += [_row(self._line(cell) for cell in row) for row in table.rows]
        above = f"*{PROVISIONAL}*\n\n" if table.provisional else ""
        return above + "\n".join(lines)

    def _snippet(self, snippet: Snippet) -> str:
        text = outgoing_lines(snippet.text)
        fence = ticks_around(text, least=3)
        language = snippet.language if _LANGUAGE.fullmatch(snippet.language) else "text"
        caption = f"{not_a_start(self._line(snippet.caption))}\n\n" if snippet.caption else ""
        return f"{caption}{fence}{language}\n{text}\n{fence}"

    def _line(self, parts: Line) -> str:
        return "".join(map(self._inline, parts)).strip()

    def _inline(self, part: Inline) -> str:
        match part:
            case Text():
                return inline_text(part.text, edges=True)
            case OwnerName() | OwnerChip():
                return inline_text(part.text)
            case Strong():
                return f"**{inline_text(part.text)}**" if part.text.strip() else ""
            case Code():
                return code(part.text)
            case Link():
                shown, target = inline_text(part.text), self._anchors.target(part.target)
                return f"[{shown}]({target})" if target else shown


def _status(document: Document) -> Iterator[tuple[str, Line]]:
    if document.coverage:
        word = document.status.upper() if document.status == "provisional" else document.status
        yield "Status", line(f"{word}. " if word else "", document.coverage)


def _quoted(block: Quotes) -> Items:
    lines = (
        line(
            Code(quote.place),
            f": {quote.stated}" if quote.stated else "",
            *((": ", Code(quote.text)) if quote.text else ()),
            f" ({quote.means})" if quote.means else "",
        )
        for quote in block.quotes
    )
    return Items(tuple(lines))


def _ranked(block: Ranking) -> Items:
    lines = (
        line(f"{cause.count:,}× {cause.owner}: ", cause.title, "; " if cause.note else "", cause.note)
        for cause in block.causes
    )
    return Items(tuple(lines), "numbers")


def _bars(chart: Chart) -> str:
    label = max((len(bar.label) for bar in chart.bars), default=0)
    most = chart.total or max((bar.value for bar in chart.bars), default=0) or 1
    rows = (f"{bar.label:<{label}} {bar.value:>5,.0f}  {'█' * round(BAR * bar.value / most)}" for bar in chart.bars)
    return "\n".join(map(str.rstrip, rows))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _grid(grid: Grid) -> str:
    wide = max((len(name) for name in grid.rows), default=0)
    columns = [max(2, len(name)) for name in grid.columns]
    head = " ".join(name.rjust(width) for name, width in zip(grid.columns, columns, strict=True))
    lines = [f"{'':<{wide}} {head}"]
    for name, cells in zip(grid.rows, grid.cells, strict=True):
        row = " ".join(cell.rjust(width) for cell, width in zip(cells, columns, strict=True))
        lines.append(f"{name:<{wide}} {row}")
    legend = " · ".join(f"{letter} {meaning}" for letter, meaning in grid.legend.items())
    return "\n".join(one.rstrip() for one in [*lines, "", legend])


def _memory(memory: Mapping[str, object]) -> str:
    """For errata's own eyes. No text can end the comment: `-` and `>` are written as JSON allows."""
    encoded = msgspec.json.encode(outgoing_tree(dict(memory)), order="sorted").decode("utf-8")
    safe = encoded.replace("--", "-\\u002d").replace(">", "\\u003e").replace("<", "\\u003c")
    return f"<!-- {MEMORY} {safe} -->"
