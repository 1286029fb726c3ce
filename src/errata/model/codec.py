"""Records to bytes and back: MessagePack for the store, JSON for people and programs."""

from typing import Any, TypeVar

import msgspec

from errata.model.record import Record

T = TypeVar("T", bound=Record)

_packer = msgspec.msgpack.Encoder()
_writer = msgspec.json.Encoder()

pack = _packer.encode
to_json = _writer.encode


def unpack(data: bytes, kind: type[T]) -> T:
    return msgspec.msgpack.decode(data, type=kind)


def from_json(data: bytes | str, kind: type[T]) -> T:
    return msgspec.json.decode(data, type=kind)


def to_plain(value: object) -> Any:
    """Records as dicts and lists, for a program that wants no structs."""
    return msgspec.to_builtins(value)
