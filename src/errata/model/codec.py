"""Records to bytes and back: MessagePack for the store, JSON for people and programs."""

import json
from functools import cache
from math import isfinite
from typing import Any, NoReturn, TypeVar

import msgspec

from errata.model.record import Record

T = TypeVar("T")
R = TypeVar("R", bound=Record)

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_DIGITS = 10_000

BARE = frozenset((int, float, bool, type(None)))
"""Values that hold no text; a table may be made of a hundred thousand of them."""
_TEXT = frozenset((str,))

_packer = msgspec.msgpack.Encoder()
_writer = msgspec.json.Encoder()

to_json = _writer.encode


def pack(record: object) -> bytes:
    try:
        return _packer.encode(record)
    except (OverflowError, UnicodeEncodeError):
        return _packer.encode(storable(record))


def pack_into(record: object, buffer: bytearray) -> None:
    """Append to a buffer, which is left as it was where that fails."""
    at = len(buffer)
    try:
        _packer.encode_into(record, buffer, -1)
    except (OverflowError, UnicodeEncodeError):
        del buffer[at:]
        buffer += _packer.encode(storable(record))


def storable(value: T) -> T:
    """A copy without what can't be written: integers over 64 bits become text, lone surrogates question marks."""
    plain = _plain(msgspec.to_builtins(value))
    try:
        return msgspec.convert(plain, type(value))
    except msgspec.ValidationError:
        # a number field can't hold text: the nearest number that can be written replaces it
        return msgspec.convert(_clamped(msgspec.to_builtins(value)), type(value))


def fitting(value: Any) -> Any:
    """A value that a column can hold: numbers end at 64 bits, and text has no half characters."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, int):
        return min(max(value, _SMALLEST), _LARGEST)
    return value


def json_text(value: object) -> str:
    """As JSON whatever it holds, for a reader who can do with a copy of what can't be written."""
    try:
        return to_json(value).decode("utf-8")
    except (OverflowError, UnicodeEncodeError):
        return to_json(storable(value)).decode("utf-8")


def unpack(data: bytes, kind: type[R]) -> R:
    return msgspec.msgpack.decode(data, type=kind)


def from_json(data: bytes | str, kind: type[R]) -> R:
    return msgspec.json.decode(data, type=kind)


def strict_json(data: bytes | bytearray | str) -> Any:
    """What every parser reads alike; `ValueError` for anything else: NaN, infinity, names that an object has twice,
    bytes that are not UTF-8, half characters."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        text.encode("utf-8")
        value = json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_finite
        )
        to_json(value)  # an escape may name half a character, and a number may be too long to write
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 (byte {error.start + 1})") from None
    except UnicodeEncodeError:
        raise ValueError("it holds half a character") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except OverflowError:
        raise ValueError("a number has more than 64 bits") from None
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object has one name twice")
    return made


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"`{word}` is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if isfinite(number) else _refuse_constant(digits[:40])


def to_whole(value: Any) -> Any:
    """The same with every field, whatever its value, but for empty notes; and with nothing that can't be written."""
    if isinstance(value, msgspec.Struct):
        made = {}
        for name, field in _fields_of(type(value)):
            item = getattr(value, field)
            if item is not msgspec.UNSET and (item or name not in ("extra", "ref")):
                made[name] = item if type(item) in BARE else to_whole(item)
        return made
    if isinstance(value, dict):
        return {key: to_whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        # a table has very many lists of numbers, or of texts
        kinds = set(map(type, value))
        if kinds <= BARE or (kinds == _TEXT and all(map(str.isascii, value))):
            return list(value)
        return [item if type(item) in BARE else to_whole(item) for item in value]
    return value if not isinstance(value, str) or value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


@cache
def _fields_of(kind: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """The name of each field as it is written, and its own."""
    return tuple(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))


def _clamped(value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(key): _clamped(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clamped(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return min(max(value, _SMALLEST), _LARGEST)
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        # str() refuses integers of more than a few thousand digits
        return str(value) if value.bit_length() < _DIGITS else hex(value)
    return value
