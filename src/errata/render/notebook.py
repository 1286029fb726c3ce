"""A table for a notebook: plain HTML without scripts, every text cleaned, redacted and escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from errata.text.outgoing import short_line

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
