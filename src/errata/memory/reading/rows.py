"""Failures in the rows of a table."""

from errata.memory.reading.cases import names_in_cell
from errata.memory.reading.drafts import Draft
from errata.memory.reading.naming import Naming, fill, has_passed
from errata.memory.reading.pieces import Piece
from errata.memory.reading.roles import FAILURE, columns_of, role_of
from errata.memory.reading.words import Words
from errata.memory.spelling import folded

_VAGUE = frozenset(("category", "type", "kind", "class"))
"""Columns that may hold something else than labels."""


def read_row(piece: Piece, naming: Naming, subject: Draft | None, group: str) -> None:
    """`subject` is the failure of the heading above, `group` the label that it gives to all below."""
    columns = columns_of(piece.header, FAILURE)
    is_header = tuple(cell.text for cell in piece.cells) == piece.header
    names = [] if is_header else _names(piece, columns, naming)
    if not names and len(piece.cells) == 2 and "case" not in columns:
        role = role_of(piece.cells[0].text, FAILURE)
        if subject is not None and role:  # a table of names and values
            fill(subject, role, piece.cells[1], piece.line, naming.labels)
    if has_passed(_cell(piece, columns, "status").text):
        return
    for name in names:
        draft = naming.named(name, piece.line)
        draft.call(_label(piece, columns, naming) or group, piece.line)
        for role in ("step", "reasoning"):
            fill(draft, role, _cell(piece, columns, role), piece.line, naming.labels)


def _names(piece: Piece, columns: dict[str, int], naming: Naming) -> list[str]:
    if "case" in columns:
        at = columns["case"]
        found = names_in_cell(piece.cells[at], piece.header[at]) if at < len(piece.cells) else []
        return [name for name in found if naming.is_case(name)]
    leads = [lead for lead in map(naming.lead, piece.cells) if lead and lead.sure]
    return [leads[0].name] if leads and _label(piece, columns, naming) else []


def _label(piece: Piece, columns: dict[str, int], naming: Naming) -> str:
    """In its own column, whatever it is; in any other, only what is a label."""
    named, labels = _cell(piece, columns, "label").text, naming.labels
    found = labels.find(named) or labels.exact(named) or next(filter(None, map(labels.find, _texts(piece))), "")
    if found or "label" not in columns or folded(piece.header[columns["label"]]) in _VAGUE:
        return found
    return labels.given(named)


def _texts(piece: Piece) -> list[str]:
    return [cell.text for cell in piece.cells]


def _cell(piece: Piece, columns: dict[str, int], role: str) -> Words:
    at = columns.get(role)
    return piece.cells[at] if at is not None and at < len(piece.cells) else Words("")
