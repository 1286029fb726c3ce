"""Inspect AI: logs as `.eval` archives and `.json` documents, of all versions.

A document is recognised by its first bytes, an archive by the names of its members.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile

from errata.errors import SourceError
from errata.model import Harness, Item
from errata.sources.base import LogBasis, Match, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "inspect-ai"
TITLE = "Inspect AI: `.eval` and `.json` logs, finished or not"
HARNESS = Harness(name=NAME, title="Inspect", unit="sample")

HEADER = "header.json"
START = "_journal/start.json"
HEAD = 16 * 1024
ZIP = b"PK\x03\x04"

# the order of the fields is part of the format
_DOCUMENT = lazy_regex(
    rb'\s*\{\s*(?:"version"\s*:\s*\d+\s*,\s*)?"status"\s*:\s*"[^"]*"\s*,\s*"eval"\s*:\s*\{(?=[^{}]*"(?:task|run_id|eval_id)")'
)
_SORTED = lazy_regex(rb'\s*\{\s*"eval"\s*:\s*\{')
_OF_AN_EVAL = (b'"task_id"', b'"run_id"', b'"dataset"', b'"model"')
_LISTING = lazy_regex(rb'\s*\{\s*"[^"]+\.(?:eval|json)"\s*:\s*\{')


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if head.startswith(ZIP):
        return _recognise_archive(path, head)
    if _DOCUMENT.match(head) or (_SORTED.match(head) and all(name in head for name in _OF_AN_EVAL)):
        return Match.sure("`status` and `eval` of an Inspect log")
    return None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.inspect_ai.reader import read_log

    return read_log(path.absolute())


def basis_of(path: Path) -> LogBasis:
    return LogBasis((path,), ())


def is_archive(path: Path) -> bool:
    return head_of(path, HEAD).startswith(ZIP)


def explain(path: Path) -> str | None:
    head = head_of(path, HEAD)
    if _LISTING.match(head) and b'"task_id"' in head and b'"run_id"' in head:
        return "this is Inspect's listing of a folder of logs: import the folder with the `.eval` files"
    return None


def _recognise_archive(path: Path, head: bytes) -> Match | None:
    if _first_member(head) == START:
        return Match.sure(f"an archive that begins with `{START}`")
    from errata.sources.inspect_ai.logs import CAPS
    from errata.sources.shared.archives import open_archive

    try:
        with open_archive(path, CAPS) as archive:
            if START in archive or (HEADER in archive and archive.names("samples/")):
                return Match.sure(f"`{START if START in archive else HEADER}` in the archive")
    except (BadZipFile, SourceError, OSError):
        pass
    return None


def _first_member(head: bytes) -> str:
    """The name of the first member, from the archive's first bytes."""
    if len(head) < 30:
        return ""
    (length,) = struct.unpack_from("<H", head, 26)
    return head[30 : 30 + length].decode("utf-8", "replace")
