"""A log as an archive: a header, a journal for a run that never ended, and a member or a folder per sample."""

import re
from collections.abc import Iterator
from typing import Any

from errata.errors import ReadAloneError
from errata.model import SourceRef, Unreadable
from errata.model.record import TurnBegins
from errata.sources.base import Row, decode
from errata.sources.inspect_ai.chunks import read_chunked
from errata.sources.inspect_ai.layout import (
    HEADER,
    JOURNAL_SUMMARIES,
    JOURNAL_UPDATES,
    NAME,
    SAMPLES,
    START,
    SUMMARIES,
)
from errata.sources.inspect_ai.log import Log
from errata.sources.inspect_ai.members import member, numbered
from errata.sources.inspect_ai.usual import decode_usual
from errata.sources.shared.archives import Archive
from errata.sources.shared.documents import object_in
from errata.sources.sharing import Share

TURN = 24
"""Samples that a reader takes at once, where several read one log: so much that they seldom wait for each other."""
MANY = 100
"""From so many samples on, making the faster decoder costs less than it saves."""

# an id may hold slashes and dots of its own
_WHOLE = re.compile(r"_epoch_\d+\.json$")
_CHUNKED = re.compile(r"_epoch_\d+/sample\.json$")


def log_of_archive(archive: Archive, file: str, share: Share) -> Log:
    problems: list[Unreadable] = []
    name = HEADER if HEADER in archive else START
    header = object_in(member(archive, file, name), NAME, problems)
    if not header and name == HEADER and START in archive:
        name = START
        header = object_in(member(archive, file, name), NAME, problems)
    if name == START:
        # without a header the run never ended, or nobody knows how
        header = {"status": "started", **header, **_updates(archive, file, problems)}
    return Log(
        header=header,
        ref=SourceRef(file=file, member=name),
        samples=_samples(archive, file) if share.of == 1 else _in_turns(archive, file, share),
        summaries=_summaries(archive, file),
        problems=tuple(problems),
    )


def _updates(archive: Archive, file: str, problems: list[Unreadable]) -> dict[str, Any]:
    """What was changed while the run went on; a finished log has it in its header."""
    found = []
    for name in numbered(archive.names(JOURNAL_UPDATES)):
        read = member(archive, file, name)
        if type(read) is Row:
            found += read.data if type(read.data) is list else [read.data]
        elif type(read) is Unreadable:
            problems.append(read)
    return {"config_updates": found} if found else {}


def _samples(archive: Archive, file: str) -> Iterator[Row | Unreadable]:
    names = archive.names(SAMPLES)
    decoding = decode_usual if len(names) >= MANY else decode
    for name in names:
        if _WHOLE.search(name):
            yield member(archive, file, name, decoding)
        elif _CHUNKED.search(name):
            yield read_chunked(archive, file, name)


def can_be_shared(archive: Archive) -> bool:
    """Many samples that have nothing to do with each other: each stands there once."""
    names = archive.names(SAMPLES)
    told = [_WHOLE.search(name) for name in names]
    stems = {name[: found.start()] for name, found in zip(names, told, strict=True) if found}
    return len(names) >= MANY and len(stems) == len(names)


def _in_turns(archive: Archive, file: str, share: Share) -> Iterator[Row | Unreadable | TurnBegins]:
    names = archive.names(SAMPLES)
    turns = range(0, len(names), TURN)
    for first in turns[share.number :: share.of]:
        yield TurnBegins(first)
        for name in names[first : first + TURN]:
            read = member(archive, file, name, decode_usual)
            if type(read) is Row and _named(read.data) != name:
                # then its name does not tell which sample stands there once
                raise ReadAloneError(f"`{file}` has a sample under the name of another one: `{name}`")
            yield read


def _named(sample: Any) -> str:
    """The member that a sample should stand in."""
    told = sample if type(sample) is dict else {}
    return f"{SAMPLES}{told.get('id')}_epoch_{told.get('epoch')}.json"


def _summaries(archive: Archive, file: str) -> Iterator[Row | Unreadable]:
    names = [SUMMARIES] if SUMMARIES in archive else numbered(archive.names(JOURNAL_SUMMARIES))
    for name in names:
        read = member(archive, file, name)
        if type(read) is Unreadable:
            yield read
            continue
        assert type(read) is Row
        for place, data in enumerate(read.data if type(read.data) is list else ()):
            yield Row(data, SourceRef(file=file, member=name, pointer=f"/{place}"))
