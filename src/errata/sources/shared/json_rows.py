"""Rows of a file of JSON, whichever way they were saved: a list, a page with a list in it, lines, or one object."""

import re
from collections.abc import Iterator
from pathlib import Path

from errata.model import Unreadable
from errata.sources.base import LINE_CAP, Row, decode, head_of, json_file, json_lines
from errata.sources.shared.documents import is_file
from errata.sources.shared.long_documents import long_document

HEAD = 4 * 1024


def json_rows(path: Path, *, source: str, root: Path, paged: str = "") -> Iterator[Row | Unreadable]:
    """`paged` is the field that has the rows where a page of an API was saved; it stands first there."""
    listed = list_in(head_of(path, HEAD), paged)
    if listed is not None:
        document = long_document(path, listed, source=source, root=root)
        if isinstance(document, Unreadable):
            yield document
            return
        yield from document.rows()
        yield from document.problems()
    elif _is_lines(path):
        yield from json_lines(path, source=source, root=root)
    else:
        yield json_file(path, source=source, root=root)


def holds_one(path: Path, paged: str = "") -> bool:
    """Whether a file is one row alone: an object, and neither a list nor lines of them."""
    if not is_file(path) or list_in(head_of(path, HEAD), paged) is not None:
        return False
    if not _is_lines(path):
        return True
    with path.open("rb") as file:
        file.readline(LINE_CAP)
        return not file.read(HEAD).strip()


def list_in(head: bytes, paged: str) -> str | None:
    """The field that has the list; empty where the document is the list, none where there is no such list."""
    head = head.lstrip()
    if head.startswith(b"["):
        return ""
    return paged if paged and re.match(rb'\{\s*"' + paged.encode() + rb'"\s*:\s*\[', head) else None


def _is_lines(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            decode(file.readline(LINE_CAP))
    except (OSError, ValueError):
        return False
    return True
