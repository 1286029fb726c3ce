"""A log: an archive with a header, a journal and its samples, or one JSON document."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from errata.model import SourceRef, Unreadable
from errata.model.record import Struct
from errata.sources.base import EXCERPT, Row, describe, row_of, unreadable
from errata.sources.inspect_ai import HEADER, NAME, START
from errata.sources.inspect_ai.decoding import decode_usual
from errata.sources.inspect_ai.values import from_ranges
from errata.sources.json_values import decode_exactly
from errata.sources.shared.archives import Archive, Caps
from errata.sources.shared.documents import object_in
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.text.lazy_regex import lazy_regex

JOURNAL_SUMMARIES = "_journal/summaries/"
JOURNAL_UPDATES = "_journal/config_updates/"
SUMMARIES = "summaries.json"
SAMPLES = "samples/"
SHELL = "/sample.json"
"""The member with the unchunked part of a large sample, which has a folder of its own."""

CAPS = Caps(member=256 * 2**20, total=64 * 2**30, members=400_000, ratio=float("inf"))
"""Members are read one by one. Old logs repeat the whole conversation in every call and compress a thousandfold."""
MANY = 100
"""From this number of samples on, building the faster decoder costs less than it saves."""
# an id may contain slashes and dots
_WHOLE = lazy_regex(r"_epoch_\d+\.json$")
_CHUNKED = lazy_regex(r"_epoch_\d+/sample\.json$")
_SEQUENCES = ("messages", "events", "attachments")
"""Without `calls`, which repeats the messages in each provider's form."""


class InspectLog(Struct):
    header: dict[str, Any]
    """`version`, `status`, `eval`, `plan`, `results`, `stats`, `error` and other fields beside the samples."""
    ref: SourceRef
    samples: Callable[[], Iterator[Row | Unreadable]]
    summaries: Iterator[Row | Unreadable] = iter(())
    """One row per finished sample: the only trace of a sample whose own member is lost."""
    problems: tuple[Unreadable, ...] = ()


def log_of_archive(archive: Archive, file: str) -> InspectLog:
    problems: list[Unreadable] = []
    name = HEADER if HEADER in archive else START
    header = object_in(member(archive, file, name), NAME, problems)
    if not header and name == HEADER and START in archive:
        name = START
        header = object_in(member(archive, file, name), NAME, problems)
    if name == START:
        # without a header the run never ended, or its end is unknown
        header = {"status": "started", **header, **_updates(archive, file, problems)}
    return InspectLog(
        header=header,
        ref=SourceRef(file=file, member=name),
        samples=lambda: _samples(archive, file),
        summaries=_summaries(archive, file),
        problems=tuple(problems),
    )


def _updates(archive: Archive, file: str, problems: list[Unreadable]) -> dict[str, Any]:
    """Changes to the configuration during the run; a finished log has them in its header."""
    updates = []
    for name in numbered(archive.names(JOURNAL_UPDATES)):
        read = member(archive, file, name)
        if type(read) is Row:
            updates += read.data if type(read.data) is list else [read.data]
        elif type(read) is Unreadable:
            problems.append(read)
    return {"config_updates": updates} if updates else {}


def _samples(archive: Archive, file: str) -> Iterator[Row | Unreadable]:
    names = archive.names(SAMPLES)
    decoding = decode_usual if len(names) >= MANY else decode_exactly
    for name in names:
        if _WHOLE.search(name):
            yield member(archive, file, name, decoding)
        elif _CHUNKED.search(name):
            yield read_chunked(archive, file, name)


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


def read_json_log(path: Path, data: bytes | None = None) -> InspectLog | Unreadable:
    """`data` is what is in it, if it was read before."""
    document = long_document(path, "samples", source=NAME, root=path, data=data)
    return document if isinstance(document, Unreadable) else _log(document)


def _log(document: LongDocument) -> InspectLog:
    header, problems = {}, []
    for name in document.fields:
        if name == "reductions":
            continue
        try:
            header[name] = document.field(name)
        except ValueError as error:
            problems.append(unreadable(NAME, document.ref.below(name), describe(error)))
    return InspectLog(
        header=header, ref=document.ref, samples=document.rows, problems=(*problems, *document.problems())
    )


def read_chunked(archive: Archive, file: str, shell: str) -> Row | Unreadable:
    """A chunked sample put together; the first unreadable chunk makes the whole sample unreadable."""
    read = member(archive, file, shell)
    if type(read) is Unreadable:
        return read
    assert type(read) is Row
    folder = shell.removesuffix(SHELL)
    sequences: dict[str, list[Any]] = {}
    for name in _SEQUENCES:
        items = _sequence(archive, file, f"{folder}/{name}/")
        if type(items) is Unreadable:
            return items
        assert type(items) is list
        sequences[name] = items
    metadata = _metadata(archive, file, f"{folder}/metadata.json")
    if type(metadata) is Unreadable:
        return metadata
    return Row(_whole(read.data, sequences, metadata), read.ref)


def _whole(shell: Any, sequences: dict[str, list[Any]], metadata: Any) -> Any:
    if type(shell) is not dict:
        return shell
    pool = sequences["messages"]
    return {
        **{name: value for name, value in shell.items() if name != "message_refs"},
        "messages": from_ranges(shell.get("message_refs"), pool),
        "events": sequences["events"],
        "events_data": {"messages": pool},
        "attachments": {str(place): text for place, text in enumerate(sequences["attachments"])},
        "metadata": metadata,
    }


def _metadata(archive: Archive, file: str, name: str) -> Any:
    if name not in archive:
        return {}
    read = member(archive, file, name)
    return read.data if type(read) is Row else read


def _sequence(archive: Archive, file: str, prefix: str) -> list[Any] | Unreadable:
    """Chunks are named by the position of their first item; `stats.json` and `uuids.json` are not chunks."""
    items: list[Any] = []
    for name in numbered(archive.names(prefix)):
        if not name.removeprefix(prefix).removesuffix(".json").isdecimal():
            continue
        read = member(archive, file, name)
        if type(read) is Unreadable:
            return read
        assert type(read) is Row
        items += read.data if type(read.data) is list else []
    return items


def member(
    archive: Archive, file: str, name: str, decoding: Callable[[bytes], Any] = decode_exactly
) -> Row | Unreadable:
    ref = SourceRef(file=file, member=name)
    try:
        data = archive.read(name)
    except (BadZipFile, KeyError, OSError) as error:
        return unreadable(NAME, ref, describe(error))
    try:
        return row_of(data, ref, source=NAME, decoding=decoding)
    except ValueError as error:
        return unreadable(NAME, ref, describe(error), excerpt=data[:EXCERPT])


def numbered(names: Iterable[str]) -> list[str]:
    """`_journal/summaries/10.json` after `9.json`."""

    def number(name: str) -> tuple[int, str]:
        stem = name.rpartition("/")[2].removesuffix(".json")
        return (int(stem) if stem.isdecimal() and stem.isascii() and len(stem) < 19 else 0, name)

    return sorted(names, key=number)
