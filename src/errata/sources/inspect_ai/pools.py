"""What a sample keeps once and refers to from elsewhere: messages by ranges, long texts as `attachment://…`."""

from typing import Any

import msgspec

from errata.sources.shared.values import mapping, sequence

_PROTOCOL = "attachment://"
_MEDIA = {"image": "image", "audio": "audio", "video": "video", "document": "document"}
_MARKS = (_PROTOCOL.encode(), *(f'"type":"{medium}"'.encode() for medium in _MEDIA))
"""Most values hold none of these; writing one out to see that is several times faster than going through it."""
_LONG = 1000
"""Pictures and sounds beyond this many characters are left in the log; a record says how large they are."""


def from_ranges(ranges: Any, pool: list[Any]) -> list[Any]:
    """`[[0, 2], [5, 6]]` → the first two and the sixth of the pool."""
    found: list[Any] = []
    for pair in sequence(ranges):
        if type(pair) is list and len(pair) == 2 and all(type(end) is int and end >= 0 for end in pair):
            found += pool[pair[0] : pair[1]]
    return found


class Pools:
    """The pools of one sample."""

    def __init__(self, sample: dict[str, Any]) -> None:
        self._texts = mapping(sample.get("attachments")) or mapping(mapping(sample.get("transcript")).get("content"))
        # the third version of the format kept it beside the events
        self._messages = sequence(mapping(sample.get("events_data")).get("messages")) or sequence(
            sample.get("message_pool")
        )

    def input_of(self, event: dict[str, Any]) -> list[Any]:
        """What a model was asked."""
        given = from_ranges(event.get("input_refs"), self._messages) or sequence(event.get("input"))
        found: list[Any] = self.resolve(given)
        return found

    def resolve(self, value: Any) -> Any:
        """The same with the long texts put back, and without the bytes of pictures and sounds."""
        return self._resolved(value) if _may_refer(value) else value

    def _resolved(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self._text(value) if value.startswith(_PROTOCOL) else value
        if kind is list:
            return [self._resolved(child) for child in value]
        if kind is dict:
            medium = _MEDIA.get(value["type"]) if type(value.get("type")) is str else None
            return {key: _shortened(child) if key == medium else self._resolved(child) for key, child in value.items()}
        return value

    def _text(self, value: str) -> str:
        text = self._texts.get(value.removeprefix(_PROTOCOL))
        return text if type(text) is str else value


_encode = msgspec.json.Encoder().encode


def _may_refer(value: Any) -> bool:
    try:
        written = _encode(value)
        return any(mark in written for mark in _MARKS)
    except (OverflowError, UnicodeEncodeError):  # what can't be written out is looked through
        return True


def _shortened(value: Any) -> Any:
    if type(value) is str and len(value) > _LONG:
        return f"{value[:40]}… ({len(value)} characters)"
    return value
