"""A document as markdown (CommonMark with tables, as git hosts show it).

Every text is cleaned, redacted and escaped here. A text can't start a heading, a list, a link, a table cell or markup
of its own; addresses in it are shown as code, so that nobody follows one that a log has planted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from errata.report.document import (
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
from errata.text.clean import clean
from errata.text.redact import redact, redact_tree

PROVISIONAL = "PROVISIONAL: this table comes from rules; nobody has read all of it."
MEMORY = "errata:memory"
DEEPEST = 6

_ADDRESS = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9+.-]{1,20}://|www\.|mailto:)[^\s<>`|]+")
_SPECIAL = re.compile(r"[\\`*\[\]<>|~]|\$(?!\d)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=#?\w+;)")
_STARTS = re.compile(r"^(\s*)([#>+=-]|\d{1,9}[.)](?=\s|$))")
_ENTITIES = {"<": "&lt;", ">": "&gt;"}
_CALLS = re.compile(r"(?<![\w`])@(?=\w)|(?<!\w)#(?=\d)|(?<=\w)#(?=\d)|\bGH-(?=\d)")
GAP = "\u200b"
"""Breaks a mention or a reference where nobody sees it."""
_TICKS = re.compile(r"`+")
_LANGUAGE = re.compile(r"[a-z0-9+#-]{1,20}")
_NO_ANCHOR = re.compile(r"[^\w\- ]")
_TARGET = re.compile(r"(?:#[\w%.-]+|(?!/)[\w%./-]+(?:#[\w%.-]+)?)")


def to_markdown(document: Document) -> str:
    parts = [f"# {inline_text(document.title)}", "\n".join(_facts(document)), *_blocks(document.blocks)]
    anchors = anchors_of(document)
    for section in document.sections:
        parts += _section(section, 2, anchors)
    if document.memory:
        parts.append(_memory(document.memory))
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(document: Document) -> Iterator[str]:
    for name, value in document.facts:
        yield f"- **{inline_text(name)}**: {render_line(value)}"


def _section(section: Section, level: int, anchors: Mapping[int, str]) -> Iterator[str]:
    heading = f"{'#' * min(level, DEEPEST)} {inline_text(section.title)}"
    wanted = section.anchor
    if wanted and wanted != anchors[id(section)]:
        heading = f'<a id="{wanted}"></a>\n\n{heading}'
    yield heading
    yield from _blocks(section.blocks)
    for one in section.sections:
        yield from _section(one, level + 1, anchors)


def anchors_of(document: Document) -> dict[int, str]:
    """Section → the anchor that a git host makes of its title."""
    seen: dict[str, int] = {}
    found: dict[int, str] = {}
    for section in every_section(document.sections):
        made = anchor_of(section.title)
        often = seen.get(made, 0)
        seen[made] = often + 1
        found[id(section)] = f"{made}-{often}" if often else made
    return found


def every_section(sections: Iterable[Section]) -> Iterator[Section]:
    for section in sections:
        yield section
        yield from every_section(section.sections)


def anchor_of(title: str) -> str:
    return _NO_ANCHOR.sub("", _washed(title).lower()).replace(" ", "-")


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        rendered = _block(block)
        if rendered:
            yield rendered


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return _not_a_start(render_line(block.line))
        case Items():
            marks = (f"{at}." if block.numbered else "-" for at in range(1, len(block.lines) + 1))
            return "\n".join(
                f"{mark} {_not_a_start(render_line(one))}" for mark, one in zip(marks, block.lines, strict=True)
            )
        case Table():
            return _table(block)
        case Snippet():
            return _snippet(block)
        case Grid():
            return _grid(block)
        case Chart():
            return ""


def _table(table: Table) -> str:
    marks = ("---:" if name in table.right else "---" for name in table.header)
    lines = [_row(inline_text(name) for name in table.header), _row(marks)]
    lines += [_row(render_line(cell, in_table=True) for cell in row) for row in table.rows]
    above = f"*{PROVISIONAL}*\n\n" if table.provisional else ""
    return above + "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _snippet(snippet: Snippet) -> str:
    text = clean(redact(snippet.text)).strip("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    language = snippet.language if _LANGUAGE.fullmatch(snippet.language) else ""
    caption = f"{_not_a_start(render_line(snippet.caption))}\n\n" if snippet.caption else ""
    return f"{caption}{fence}{language}\n{text}\n{fence}"


def _grid(grid: Grid) -> str:
    wide = max((len(name) for name in grid.rows), default=0)
    columns = [max(2, len(name)) for name in grid.columns]
    head = " ".join(name.rjust(width) for name, width in zip(grid.columns, columns, strict=True))
    lines = [f"{'':<{wide}} {head}"]
    for name, cells in zip(grid.rows, grid.cells, strict=True):
        lines.append(
            f"{name:<{wide}} " + " ".join(cell.rjust(width) for cell, width in zip(cells, columns, strict=True))
        )
    legend = " · ".join(f"{letter} {meaning}" for letter, meaning in grid.legend.items())
    return _snippet(Snippet("\n".join(one.rstrip() for one in [*lines, "", legend])))


def render_line(parts: Line, *, in_table: bool = False) -> str:
    rendered = "".join(_inline(part) for part in parts).strip()
    return rendered.replace("\n", " ") if in_table else rendered


def _inline(part: Inline) -> str:
    match part:
        case Text():
            return inline_text(part.text, edges=True)
        case Strong():
            return f"**{inline_text(part.text)}**" if part.text.strip() else ""
        case Code():
            return code(part.text)
        case Link():
            return _link(part)


def _link(link: Link) -> str:
    shown = inline_text(link.text)
    return f"[{shown}]({link.target})" if is_safe_target(link.target) else shown


def is_safe_target(target: str) -> bool:
    """A place in this document, or a file beside or below it."""
    return _TARGET.fullmatch(target) is not None and ".." not in target.split("/")


def code(text: str) -> str:
    """Letter for letter, on one line; a bar is escaped, since a table would take it for the end of a cell."""
    washed = _washed(text)
    if not washed:
        return ""
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(washed)), default=0))
    pad = " " if washed.startswith("`") or washed.endswith("`") else ""
    return f"{ticks}{pad}{washed.replace('|', chr(92) + '|')}{pad}{ticks}"


def inline_text(text: str, *, edges: bool = False) -> str:
    """Plain text on one line, without anything that markdown would act on."""
    washed = _washed(text)
    pieces, at = [], 0
    for found in _ADDRESS.finditer(washed):
        pieces += [_escaped(washed[at : found.start()]), code(found[0])]
        at = found.end()
    pieces.append(_escaped(washed[at:]))
    made = "".join(pieces)
    if not edges or not text:
        return made
    return f"{' ' if text[:1].isspace() else ''}{made}{' ' if text[-1:].isspace() and made else ''}"


def neutral(text: str) -> str:
    """Without mentions and references: nobody is called, and no issue is named or closed, by what a log says."""
    return _CALLS.sub(lambda found: f"{found[0]}{GAP}", text)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), neutral(text))


def _not_a_start(text: str) -> str:
    """A line whose first letters would start a heading, a list or a quote does not."""
    return _STARTS.sub(lambda found: f"{found[1]}\\{found[2]}" if not found[2][0].isdigit() else _number(found), text)


def _number(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2][:-1]}\\{found[2][-1]}"


def _washed(text: str) -> str:
    return " ".join(clean(redact(text)).split())


def _memory(memory: Mapping[str, object]) -> str:
    """For errata's own eyes. No text can end the comment: `-` and `>` are written as JSON allows."""
    encoded = msgspec.json.encode(redact_tree(dict(memory)), order="sorted").decode("utf-8")
    safe = encoded.replace("--", "-\\u002d").replace(">", "\\u003e").replace("<", "\\u003c")
    return f"<!-- {MEMORY} {safe} -->"
