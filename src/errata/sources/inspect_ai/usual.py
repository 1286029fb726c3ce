"""Samples just as Inspect writes them, decoded no further than they are looked at.

Of most events a few fields decide, and what was put aside for them is rarely asked for: both are left as they stand in
the log until it is. Any other sample is decoded as a whole and gives the same records.
"""

from functools import cache
from typing import Any

import msgspec

from errata.sources.base import decode
from errata.sources.inspect_ai.event_fields import EventFields
from errata.sources.inspect_ai.events import Events
from errata.sources.inspect_ai.shallow import decode_shallow

_PUT_ASIDE = frozenset(("attachments", "events_data", "timelines"))


def decode_usual(data: bytes) -> Any:
    """The same as `decode` to whoever asks for events by `events_of` and for attachments by `Pools`."""
    try:
        return {name: _part(name, raw) for name, raw in _fields.decode(data).items()}
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return decode(data)


_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _part(name: str, raw: msgspec.Raw) -> Any:
    if name == "events":
        found = _events().decode(raw)
        return Events(found, raw) if found else []
    return raw if name in _PUT_ASIDE else decode_shallow(raw)


@cache
def _events() -> msgspec.json.Decoder[list[EventFields]]:
    return msgspec.json.Decoder(list[EventFields])
