"""Decode samples exactly as Inspect writes them, in one pass and only as far as needed.

For most events a few fields are enough, and attachments are rarely used: the rest stays raw until it is needed. Any
other sample is decoded as a whole and gives the same records.
"""

from functools import cache
from typing import Any

import msgspec

from errata.sources.inspect_ai.events import EventFields, Events, nested
from errata.sources.inspect_ai.messages import UsualMessage
from errata.sources.json_values import decode_exactly

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
    10: ("output",),
}  # fmt: skip
"""The maximum depth of each field. A sample with a deeper or unknown field is decoded as a whole."""


def decode_usual(data: bytes) -> Any:
    """Equivalent to `decode_exactly` for callers that use `events_of` for events and `Pools` for attachments."""
    sample = _decoded(data)
    if sample is None:
        return decode_exactly(data)
    fields = {name: value for name, value in msgspec.structs.asdict(sample).items() if value is not msgspec.UNSET}
    events = fields.get("events")
    return fields | {"events": Events(events, data)} if events else fields


def _decoded(data: bytes) -> Any:
    """None if the sample has a field or a value that is not usual."""
    for has_usual_messages in (True, False):
        try:
            return _decoder(has_usual_messages).decode(data)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            pass
    return None


@cache
def _decoder(has_usual_messages: bool) -> msgspec.json.Decoder[Any]:
    fields = [(name, nested(levels), msgspec.UNSET) for levels, names in _LEVELS.items() for name in names]
    aside = [(name, msgspec.Raw, msgspec.UNSET) for name in _PUT_ASIDE]
    messages: Any = list[UsualMessage] if has_usual_messages else nested(10)
    lists = [("messages", messages, msgspec.UNSET), ("events", list[EventFields], msgspec.UNSET)]
    return msgspec.json.Decoder(msgspec.defstruct("Sample", [*fields, *lists, *aside], forbid_unknown_fields=True))
