"""Samples just as Inspect writes them, decoded in one go and no further than they are looked at.

Of most events a few fields decide, and what was put aside for them is rarely asked for: both are left as they stand in
the log until it is. Any other sample is decoded as a whole and gives the same records.
"""

from functools import cache
from typing import Any

import msgspec

from errata.sources.base import decode
from errata.sources.inspect_ai.events import EventFields, Events, nested

_PUT_ASIDE = ("attachments", "events_data", "timelines")
_LEVELS = {
    0: (
        "id", "epoch", "description", "setup", "turn_count", "message_limit", "started_at", "completed_at",
        "total_time", "working_time", "uuid",
    ),
    4: (
        "choices", "target", "sandbox", "files", "model_usage", "role_usage", "model_fallbacks", "invalidation",
        "error", "limit",
    ),
    8: ("input", "scores", "metadata", "store", "error_retries"),
    10: ("messages", "output"),
}  # fmt: skip
"""How deep each field may be nested. A sample with a deeper one, or with any other, is decoded as a whole."""


def decode_usual(data: bytes) -> Any:
    """The same as `decode` to whoever asks for events by `events_of` and for attachments by `Pools`."""
    try:
        sample = _decoder().decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return decode(data)
    fields = {name: value for name, value in msgspec.structs.asdict(sample).items() if value is not msgspec.UNSET}
    events = fields.get("events")
    return fields | {"events": Events(events, data)} if events else fields


@cache
def _decoder() -> msgspec.json.Decoder[Any]:
    fields = [(name, nested(levels), msgspec.UNSET) for levels, names in _LEVELS.items() for name in names]
    aside = [(name, msgspec.Raw, msgspec.UNSET) for name in _PUT_ASIDE]
    events = ("events", list[EventFields], msgspec.UNSET)
    return msgspec.json.Decoder(msgspec.defstruct("Sample", [*fields, events, *aside], forbid_unknown_fields=True))
