"""Rows of promptfoo that lie beside the document of the same evaluation, which tells more."""

from itertools import islice
from pathlib import Path

import msgspec

from errata.sources.base import Row, head_of, json_lines
from errata.sources.promptfoo.recognition import HEAD, holds_lines, is_document
from errata.sources.promptfoo.runs import NAME
from errata.sources.shared.documents import children

LOOKS = 200
WHOLE = 64 * 1024 * 1024


class _Named(msgspec.Struct):
    id: str


def fuller(path: Path) -> Path | None:
    """The document that has all these rows, by their ids."""
    if not _fits(path) or not holds_lines(path):
        return None
    ids = _ids(path)
    for beside in islice(children(path.parent), LOOKS) if ids else ():
        if beside != path and is_document(head_of(beside, HEAD)) and _fits(beside):
            document = beside.read_bytes()
            if all(one in document for one in ids):
                return beside
    return None


def _ids(path: Path) -> list[bytes]:
    """Nothing where a row has none."""
    rows = [row for row in json_lines(path, source=NAME, root=path, usual=_Named) if isinstance(row, Row)]
    named = [row.data.id for row in rows if isinstance(row.data, _Named) and row.data.id]
    return [f'"{one}"'.encode() for one in named] if len(named) == len(rows) else []


def _fits(path: Path) -> bool:
    try:
        return path.stat().st_size <= WHOLE
    except OSError:
        return False
