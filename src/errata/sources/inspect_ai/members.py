"""Members of an archived log, decoded."""

from collections.abc import Callable, Iterable
from typing import Any
from zipfile import BadZipFile

from errata.model import SourceRef, Unreadable
from errata.sources.base import EXCERPT, Row, decode, describe, unreadable
from errata.sources.inspect_ai.layout import NAME
from errata.sources.shared.archives import Archive


def member(archive: Archive, file: str, name: str, decoding: Callable[[bytes], Any] = decode) -> Row | Unreadable:
    ref = SourceRef(file=file, member=name)
    try:
        data = archive.read(name)
    except (BadZipFile, KeyError, OSError) as error:
        return unreadable(NAME, ref, describe(error))
    try:
        return Row(decoding(data), ref)
    except ValueError as error:
        return unreadable(NAME, ref, describe(error), excerpt=data[:EXCERPT])


def numbered(names: Iterable[str]) -> list[str]:
    """`_journal/summaries/10.json` after `9.json`."""

    def number(name: str) -> tuple[int, str]:
        stem = name.rpartition("/")[2].removesuffix(".json")
        return (int(stem) if stem.isdecimal() and stem.isascii() and len(stem) < 19 else 0, name)

    return sorted(names, key=number)
