"""A large sample in an archive: a folder with a shell, and long sequences cut into chunks. Put together here."""

from typing import Any

from errata.model import Unreadable
from errata.sources.base import Row
from errata.sources.inspect_ai.layout import SHELL
from errata.sources.inspect_ai.members import member, numbered
from errata.sources.inspect_ai.pools import from_ranges
from errata.sources.shared.archives import Archive

_SEQUENCES = ("messages", "events", "attachments")
"""`calls` repeats the messages as each provider wants them."""


def read_chunked(archive: Archive, file: str, shell: str) -> Row | Unreadable:
    """The sample as if it stood in one member; the first chunk that can't be read is what the whole fails by."""
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
    """The chunks are named by the place of their first item; `stats.json` and `uuids.json` beside them are none."""
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
