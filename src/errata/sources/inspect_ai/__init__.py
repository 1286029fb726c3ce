"""Inspect AI: logs as `.eval` archives and as `.json` documents, of all versions."""

from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile

from errata.model import Item, SourceRef, Unreadable
from errata.sources.base import describe, unreadable
from errata.sources.inspect_ai.eval_log import log_of_archive
from errata.sources.inspect_ai.json_log import read_json_log
from errata.sources.inspect_ai.layout import CAPS, NAME
from errata.sources.inspect_ai.reading import read_log
from errata.sources.inspect_ai.recognition import explain, is_archive, recognise
from errata.sources.shared.archives import open_archive

__all__ = ["NAME", "TITLE", "explain", "read", "recognise"]

TITLE = "Inspect AI: `.eval` and `.json` logs, finished or not"


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    if is_archive(path):
        yield from _read_archive(path)
        return
    log = read_json_log(path)
    if isinstance(log, Unreadable):
        yield log
    else:
        yield from read_log(log, path)


def _read_archive(path: Path) -> Iterator[Item]:
    try:
        with open_archive(path, CAPS) as archive:
            yield from read_log(log_of_archive(archive, path.name), path)
    except (BadZipFile, OSError) as error:
        yield unreadable(NAME, SourceRef(file=path.name), f"damaged archive: {describe(error)}")
