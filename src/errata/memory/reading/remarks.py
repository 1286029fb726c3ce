"""What a report recommends, and which patterns it sees."""

import re
from collections.abc import Iterator, Sequence

from errata.memory.entries import is_none
from errata.memory.reading.cases import Vocabulary, names_in
from errata.memory.reading.pieces import Piece
from errata.memory.reading.sections import in_sections
from errata.memory.spelling import folded
from errata.model import SourceRef
from errata.model.prior_report import PriorRecommendation
from errata.text.clean import one_line

MOST = 500
TEXT = 600
_GROUPS = (
    ("none", re.compile(r"^(?:no-action|nothing|none|leave)")),
    ("config", re.compile(r"^(?:lint|config|configuration|harness|tooling|runner|ci)\b")),
    ("model", re.compile(r"^(?:model|models)\b")),
    ("eval", re.compile(r"^(?:evals?|tasks?|graders?|tests?|benchmark|suite|guidelines?|prompts?)\b")),
)
_PREFIX = re.compile(r"^\s*([A-Za-z][\w /&-]{0,40}?)\s*:\s+")


def recommendations_in(pieces: Sequence[Piece], known: Vocabulary, path: str) -> Iterator[PriorRecommendation]:
    group = ""
    for piece in in_sections(pieces, "recommendations"):
        if piece.kind == "heading" or _is_title(piece):
            group = group_of(piece.text)
            continue
        text, own = _without_group(piece)
        if is_none(text) or not re.search(r"\w", text):
            continue
        said = piece.cells or (piece.words,)
        cases = tuple(dict.fromkeys(name for words in said for _, name in sorted(names_in(words, known))))
        ref = SourceRef(file=path, line=piece.line)
        yield PriorRecommendation(text=one_line(text, TEXT), group=own or group, cases=cases, ref=ref)


def patterns_in(pieces: Sequence[Piece]) -> Iterator[str]:
    for piece in in_sections(pieces, "patterns"):
        text = _row_text(piece) if piece.kind == "row" else "" if piece.kind == "heading" else piece.text
        if text and not is_none(text):
            yield one_line(text, TEXT)


def group_of(title: str) -> str:
    """The group of recommendations that a title means; as it stands there where it is none of the four."""
    name = folded(title)
    return next((group for group, form in _GROUPS if form.search(name)), one_line(title, 40).rstrip(":"))


def _is_title(piece: Piece) -> bool:
    """A paragraph of nothing but bold words."""
    bare = piece.text.strip().rstrip(":")
    return piece.kind == "text" and any(
        piece.text[start:end].strip().rstrip(":") == bare for start, end in piece.words.bold
    )


def _without_group(piece: Piece) -> tuple[str, str]:
    if piece.kind == "row":
        group = group_of(piece.cells[0].text) if piece.cells else ""
        is_group = group in ("eval", "config", "model", "none")
        return (_row_text(piece).partition(" · ")[2], group) if is_group else (_row_text(piece), "")
    text = piece.text
    found = _PREFIX.match(text)
    group = group_of(found[1]) if found else ""
    if found is None or group not in ("eval", "config", "model", "none"):
        return text, ""
    return text[found.end() :], group


def _row_text(piece: Piece) -> str:
    texts = tuple(cell.text for cell in piece.cells)
    return "" if texts == piece.header else " · ".join(filter(None, texts))
