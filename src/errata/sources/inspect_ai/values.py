"""Values of an Inspect log: names that may be numbers, messages by ranges, long texts as `attachment://…`."""

from functools import cached_property
from typing import Any

import msgspec

from errata.sources.base import decode
from errata.sources.shared.values import mapping, plain, sequence

_PROTOCOL = "attachment://"
_MEDIA = {"image": "image", "audio": "audio", "video": "video", "document": "document"}
_MEDIA_NAMES = tuple(_MEDIA)
_MARKS = (_PROTOCOL.encode(), *(f'"type":"{medium}"'.encode() for medium in _MEDIA))
"""Most values contain none of these; encoding a value to check is several times faster than walking it."""
_LONG = 1000
"""Longer images and sounds stay in the log; a record has only their size."""
_encode = msgspec.json.Encoder().encode


def words(value: Any) -> str:
    """Text unchanged, numbers as text; empty for other values."""
    if type(value) is str:
        return value
    return str(plain(value)) if type(value) is int or type(value) is float else ""


def from_ranges(ranges: Any, pool: list[Any]) -> list[Any]:
    """`[[0, 2], [5, 6]]` → the first two items and the sixth of the pool."""
    items: list[Any] = []
    for pair in sequence(ranges):
        if type(pair) is list and len(pair) == 2 and all(type(end) is int and end >= 0 for end in pair):
            items += pool[pair[0] : pair[1]]
    return items


class Pools:
    """The attachments and the message pool of one sample."""

    def __init__(self, sample: dict[str, Any]) -> None:
        self._sample = sample

    @cached_property
    def _texts(self) -> dict[str, Any]:
        given = mapping(_opened(self._sample.get("attachments")))
        return given or mapping(mapping(self._sample.get("transcript")).get("content"))

    @cached_property
    def _messages(self) -> list[Any]:
        given = sequence(mapping(_opened(self._sample.get("events_data"))).get("messages"))
        # version 3 of the format has it beside the events
        return given or sequence(self._sample.get("message_pool"))

    def input_of(self, event: dict[str, Any]) -> list[Any]:
        given = from_ranges(event.get("input_refs"), self._messages) or sequence(event.get("input"))
        messages: list[Any] = self.resolve(given)
        return messages

    def resolve(self, value: Any) -> Any:
        """The value with attachments resolved, and without the bytes of images and sounds."""
        return self._resolved(value) if value and _may_refer(value) else value

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


def is_reference(text: str) -> bool:
    return text.startswith(_PROTOCOL)


def _opened(value: Any) -> Any:
    """Decode a value that was kept raw."""
    return decode(bytes(value)) if type(value) is msgspec.Raw else value


def _may_refer(value: Any) -> bool:
    """Texts of messages are long, so only their start is checked; the few deeper values are encoded and searched."""
    deeper: list[Any] = []
    for item in value if type(value) is list else (value,):
        if type(item) is not dict:
            deeper.append(item)
            continue
        if item.get("type") in _MEDIA_NAMES:
            return True
        for child in item.values():
            if type(child) is not str:
                deeper.append(child)
            elif child.startswith(_PROTOCOL):
                return True
    return bool(deeper) and may_refer_deeper(deeper)


def may_refer_deeper(values: list[Any]) -> bool:
    try:
        written = _encode(values)
        return any(mark in written for mark in _MARKS)
    except (OverflowError, UnicodeEncodeError):  # a value that can't be encoded is walked
        return True


def _shortened(value: Any) -> Any:
    if type(value) is str and len(value) > _LONG:
        return f"{value[:40]}… ({len(value)} characters)"
    return value
