"""The rows of a file, those of one trace together: a row, or the spans of which one is the whole."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from errata.model import Unreadable
from errata.sources.base import Row, decode, head_of
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.sources.shared.row_groups import Items, gathered

NAME = "braintrust"

HEAD = 64 * 1024
_LISTS = ("results", "events", "data")
_LISTED = re.compile(rb'(?<!\\)"(results|events|data)"\s*:\s*\[')


class _Trace(msgspec.Struct):
    root_span_id: Any = None

    def key(self) -> Any:
        return self.root_span_id if isinstance(self.root_span_id, str) and self.root_span_id else None


def groups_of(path: Path) -> Iterator[Row | Unreadable]:
    """A row for each group: its data are the rows themselves."""
    document = document_at(path)
    if document is None:
        yield from gathered(path, _Trace, _Trace.key, source=NAME, root=path.parent)
    elif isinstance(document, Unreadable):
        yield document
    else:
        yield from Items(document, _Trace, _Trace.key).together()


def document_at(path: Path) -> LongDocument | Unreadable | None:
    """None for a file of lines."""
    head = head_of(path, HEAD).lstrip()
    if head.startswith(b"["):
        return long_document(path, "", source=NAME, root=path.parent)
    if _is_line(head):
        return None
    listed = _LISTED.search(head)
    return long_document(path, listed[1].decode() if listed else "results", source=NAME, root=path.parent)


def _is_line(head: bytes) -> bool:
    """Whether the first line is a row of its own, and not the beginning of a document, or all of it."""
    line, end, _ = head.partition(b"\n")
    try:
        first = decode(line)
    except ValueError:
        # a broken first line is followed by others; a document goes on in the next line
        return line.strip() != b"{" and (bool(end) or b'"summary"' not in line) and b'"results"' not in line
    return isinstance(first, dict) and not any(
        isinstance(first.get(key), list) for key in ("results", "events", "data")
    )


def root_of(rows: tuple[Row, ...]) -> Row:
    """The span that is the whole of a trace; it need not stand first."""
    told = [row for row in rows if isinstance(row.data, dict)]
    return next((row for row in told if _is_root(row.data)), told[0])


def _is_root(row: dict[str, Any]) -> bool:
    return row.get("is_root") is True or (
        row.get("span_id") is not None and row.get("span_id") == row.get("root_span_id")
    )
