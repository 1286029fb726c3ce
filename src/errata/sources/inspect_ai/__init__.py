"""Inspect AI: logs as `.eval` archives and as `.json` documents, of all versions."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast
from zipfile import BadZipFile

from errata.model import Item, SourceRef, Unreadable
from errata.model.record import TurnBegins
from errata.sources.base import describe, unreadable
from errata.sources.inspect_ai.eval_log import can_be_shared, log_of_archive
from errata.sources.inspect_ai.json_log import read_json_log
from errata.sources.inspect_ai.layout import CAPS, NAME
from errata.sources.inspect_ai.reading import read_log
from errata.sources.inspect_ai.recognition import explain, is_archive, recognise
from errata.sources.shared.archives import open_archive
from errata.sources.sharing import ALONE, Share

__all__ = ["NAME", "TITLE", "explain", "read", "read_share", "recognise"]

TITLE = "Inspect AI: `.eval` and `.json` logs, finished or not"


def read(path: Path) -> Iterator[Item]:
    # nobody takes turns with one who reads alone
    return cast("Iterator[Item]", read_share(path, ALONE))


def read_share(path: Path, share: Share) -> Iterator[Item | TurnBegins]:
    path = path.absolute()
    if is_archive(path):
        yield from _read_archive(path, share)
    elif share.number == 0:
        log = read_json_log(path)
        yield from (log,) if isinstance(log, Unreadable) else read_log(log, path, ALONE)


def _read_archive(path: Path, share: Share) -> Iterator[Item | TurnBegins]:
    try:
        with open_archive(path, CAPS) as archive:
            if share.of > 1 and can_be_shared(archive):
                yield from read_log(log_of_archive(archive, path.name, share), path, share)
            elif share.number == 0:
                yield from read_log(log_of_archive(archive, path.name, ALONE), path, ALONE)
    except (BadZipFile, OSError) as error:
        yield unreadable(NAME, SourceRef(file=path.name), f"damaged archive: {describe(error)}")
