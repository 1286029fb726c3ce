"""JSON as harnesses write it: strict and fast first; then a damaged character or number costs itself, not its row."""

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from errata.text.lazy_regex import lazy_regex

DEPTH_CAP = 200
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LONG = 2048
_WIDE = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""Byte order marks, the longer ones first: one begins like another."""
_SURROGATE = lazy_regex("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
_decoder = msgspec.json.Decoder()


class LossyError(ValueError):
    """The value can be read, except for damaged characters or numbers in it."""

    def __init__(self, value: Any, losses: list[str]) -> None:
        super().__init__("; ".join(losses))
        self.value = value


def decode(data: bytes) -> Any:
    """Raises ValueError with a position, also for values nested too deep. Damaged characters are replaced by U+FFFD,
    and numbers that no computer holds by `NaN`."""
    try:
        return decode_exactly(data)
    except LossyError as lossy:
        return lossy.value


def decode_exactly(data: bytes) -> Any:
    """The same; `LossyError` if something of it is lost."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    try:
        value = _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _decode_leniently(data, error)
    except RecursionError:
        return _decode_leniently(less_nested(data), ValueError("Input data was truncated"), [LOSS])
    # counting brackets is cheaper for short texts, walking the containers for long ones
    if len(data) > DEPTH_CAP and (len(data) > _LONG or data.count(b"}") + data.count(b"]") > DEPTH_CAP):
        losses: list[str] = []
        _cut(value, losses)
        if losses:
            raise LossyError(value, losses)
    return value


def wide_encoding(head: bytes) -> str:
    """UTF-16 or UTF-32, by the byte order mark; empty without one."""
    return next((name for mark, name in _WIDE.items() if head.startswith(mark)), "")


def unmarked_encoding(head: bytes) -> str:
    """UTF-16 or UTF-32 without a byte order mark, by the zeros between two characters of ASCII; else empty."""
    for name, width, at in (("UTF-32LE", 4, 0), ("UTF-32BE", 4, 3), ("UTF-16LE", 2, 0), ("UTF-16BE", 2, 1)):
        first = head[: 2 * width]
        letters = first[at::width]
        if len(first) == 2 * width and first.count(0) == 2 * width - 2 and len(letters) == 2 and 0 not in letters:
            return name if letters.isascii() and letters.decode().strip(_WHITE).isprintable() else ""
    return ""


_WHITE = " \t\r\n"


def in_utf_8(data: bytes) -> bytes:
    """Text with the byte order mark of UTF-16 or UTF-32 in UTF-8, without a cut last character; other text as it is."""
    encoding = wide_encoding(data)
    return data.decode(encoding, "ignore").encode("utf-8", "replace") if encoding else data


def _decode_leniently(data: bytes, error: Exception, losses: Sequence[str] = ()) -> Any:
    losses = [*losses]
    if wide_encoding(data):
        data = in_utf_8(data)
    elif b"\x00" in data[:4]:
        raise ValueError("not UTF-8: looks like UTF-16 or UTF-32 without a byte order mark") from None
    text = _text(data, losses)
    try:
        value = json.loads(text, parse_int=_Numbers(losses).integer, parse_float=_Numbers(losses).real)
    except RecursionError:
        return _decode_leniently(less_nested(data), error, [LOSS])
    except ValueError:
        data.decode("utf-8")  # raises with the position in the line, if the encoding is a problem
        raise ValueError(str(error)) from None
    _cut(value, losses)
    value = _without_surrogates(value, losses)
    if losses:
        raise LossyError(value, losses)
    return value


def _text(data: bytes, losses: list[str]) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        count = text.count(_REPLACEMENT) - data.count(_REPLACEMENT.encode())
        losses.append(f"not UTF-8: {error.reason} at byte {error.start}; {_replaced(count)}")
        return text


class _Numbers:
    """Numbers that no record can hold become `NaN`, which every reader treats as missing."""

    def __init__(self, losses: list[str]) -> None:
        self._losses = losses

    def integer(self, digits: str) -> int | float:
        try:
            return int(digits)
        except ValueError:
            self._losses.append(f"a number of {len(digits):,} digits was left out")
            return float("nan")

    def real(self, digits: str) -> float:
        value = float(digits)
        if value - value != 0:
            self._losses.append(f"the number {digits[:20]} was left out: it is too large")
            return float("nan")
        return value


def _without_surrogates(value: Any, losses: list[str]) -> Any:
    """Half characters, which no record may hold, replaced in every text and name; level by level, at any depth."""
    count = 0

    def mended(node: Any) -> Any:
        nonlocal count
        if type(node) is str:
            if not _SURROGATE.search(node):
                return node
            text, number = _SURROGATE.subn(_REPLACEMENT, node)
            count += number
            return text
        return node

    root = [value]
    level: list[Any] = [root]
    while level:
        deeper = []
        for node in level:
            if type(node) is dict:
                if any(_SURROGATE.search(name) for name in node):
                    items = [(mended(name), child) for name, child in node.items()]
                    node.clear()
                    node.update(items)
                for name, child in node.items():
                    node[name] = mended(child)
                deeper += [child for child in node.values() if type(child) is dict or type(child) is list]
            else:
                node[:] = [mended(child) for child in node]
                deeper += [child for child in node if type(child) is dict or type(child) is list]
        level = deeper
    if count:
        losses.append(f"half of a surrogate pair; {_replaced(count)}")
    return root[0]


def _replaced(count: int) -> str:
    return f"{count:,} {'character was' if count == 1 else 'characters were'} replaced by {_REPLACEMENT}"


_CUT = f"[cut: nested deeper than {DEPTH_CAP} levels]"
LOSS = f"what is nested deeper than {DEPTH_CAP} levels was cut"
_TOKEN = lazy_regex(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


def _cut(value: Any, losses: list[str]) -> None:
    """Replace the containers that are nested too deep."""
    level = [value] if type(value) is dict or type(value) is list else []
    for depth in range(DEPTH_CAP):
        if not level:
            return
        is_last = depth == DEPTH_CAP - 1
        deeper = []
        for node in level:
            for key, child in node.items() if type(node) is dict else enumerate(node):
                if type(child) is dict or type(child) is list:
                    if is_last:
                        node[key] = _CUT
                    deeper.append(child)
        level = deeper
    if level and LOSS not in losses:
        losses.append(LOSS)


def less_nested(data: bytes) -> bytes:
    """The same document, cut where no decoder reaches. Each value in it may still be too deep by itself."""
    parts, depth, kept = [], 0, 0
    for token in _TOKEN.finditer(data):
        sign = token[0]
        if sign in b"[{":
            depth += 1
            if depth == DEPTH_CAP + 2:
                parts.append(data[kept : token.start()] + f'"{_CUT}"'.encode())
        elif sign in b"]}":
            if depth == DEPTH_CAP + 2:
                kept = token.end()
            depth -= 1
    return b"".join(parts) + (data[kept:] if depth < DEPTH_CAP + 2 else b"")


def hides_keys(head: bytes) -> bool:
    """Whether one long or deep value fills the head of a document, so that the keys after it are not in it."""
    if head[:1] not in (b"{", b"[") or len(head) < _LONG:
        return False
    half = head[len(head) // 2 :]
    few = half.count(b'":') - half.count(b'\\":') < 2
    return few or any(head.count(sign) - head.count(end) > DEPTH_CAP for sign, end in ((b"[", b"]"), (b"{", b"}")))


def abridged(data: bytes) -> bytes:
    """The same document without most of its long texts and deep values."""
    return _LONG_TEXT.sub(lambda text: text[1] + b'"' if text[1] else text[0], less_nested(data))


_LONG_TEXT = lazy_regex(rb'("(?:[^"\\]|\\.){1000})(?:[^"\\]|\\.)*+"|"(?:[^"\\]|\\.)*+"', re.DOTALL)
