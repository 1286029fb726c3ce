"""The recommendations and patterns in a report."""

import re
from collections.abc import Iterator, Sequence

from errata.memory.entries import is_none
from errata.memory.reading.cases import names_in
from errata.memory.reading.markdown import MarkdownPiece
from errata.memory.reading.sections import in_sections, is_title
from errata.memory.reading.vocabulary import Vocabulary
from errata.memory.spelling import folded
from errata.model import SourceRef
from errata.model.prior_report import PriorRecommendation
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

TEXT = 600
_GROUPS = (
    ("none", re.compile(r"^(?:no-action|nothing|none|leave)")),
    ("config", re.compile(r"^(?:lint|config|configuration|harness|tooling|runner|ci)\b")),
    ("model", re.compile(r"^(?:model|models)\b")),
    ("eval", re.compile(r"^(?:evals?|tasks?|graders?|tests?|benchmark|suite|guidelines?|prompts?)\b")),
)
_PREFIX = lazy_regex(r"^\s*([A-Za-z][\w /&-]{0,40}?)\s*:\s+")


def recommendations_in(pieces: Sequence[MarkdownPiece], known: Vocabulary, path: str) -> Iterator[PriorRecommendation]:
    group = ""
    for piece in in_sections(pieces, "recommendations"):
        if piece.kind == "heading" or is_title(piece):
            group = group_of(piece.text)
            continue
        text, own = _without_group(piece)
        if is_none(text) or not re.search(r"\w", text):
            continue
        cells = piece.cells or (piece.words,)
        cases = tuple(dict.fromkeys(name for words in cells for _, name in sorted(names_in(words, known))))
        ref = SourceRef(file=path, line=piece.line)
        yield PriorRecommendation(text=one_line(text, TEXT), group=own or group, cases=cases, ref=ref)


def patterns_in(pieces: Sequence[MarkdownPiece]) -> Iterator[str]:
    for piece in in_sections(pieces, "patterns"):
        text = _row_text(piece) if piece.kind == "row" else "" if piece.kind == "heading" else piece.text
        if text and not is_none(text):
            yield one_line(text, TEXT)


def group_of(title: str) -> str:
    """The group of recommendations that a title means; unchanged if it is none of the four."""
    name = folded(title)
    return next((group for group, form in _GROUPS if form.search(name)), one_line(title, 40).rstrip(":"))


def _without_group(piece: MarkdownPiece) -> tuple[str, str]:
    if piece.kind == "row":
        group = group_of(piece.cells[0].text) if piece.cells else ""
        is_group = group in ("eval", "config", "model", "none")
        return (_row_text(piece).partition(" · ")[2], group) if is_group else (_row_text(piece), "")
    text = piece.text
    match = _PREFIX.match(text)
    group = group_of(match[1]) if match else ""
    if match is None or group not in ("eval", "config", "model", "none"):
        return text, ""
    return text[match.end() :], group


def _row_text(piece: MarkdownPiece) -> str:
    texts = tuple(cell.text for cell in piece.cells)
    return "" if texts == piece.header else " · ".join(filter(None, texts))
