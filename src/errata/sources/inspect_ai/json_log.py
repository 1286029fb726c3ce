"""A log as one JSON document: its samples are decoded one by one, and what stands before a cut is still read."""

from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

import msgspec

from errata.model import SourceRef, Unreadable
from errata.sources.base import EXCERPT, FILE_CAP, Row, decode, describe, unreadable
from errata.sources.inspect_ai.layout import NAME
from errata.sources.inspect_ai.log import Log

_BOM = b"\xef\xbb\xbf"
_SPACE = " \t\r\n"
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])
_lenient = JSONDecoder()


def read_json_log(path: Path) -> Log | Unreadable:
    ref = SourceRef(file=path.name)
    try:
        if path.stat().st_size > FILE_CAP:
            return unreadable(NAME, ref, f"larger than {FILE_CAP // 2**20} MB")
        data = path.read_bytes().removeprefix(_BOM)
    except OSError as error:
        return unreadable(NAME, ref, describe(error))
    try:
        return _log(_strict(data), ref)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return _log(_step_by_step(data), ref)
    except (ValueError, RecursionError) as error:
        return unreadable(NAME, ref, describe(error), excerpt=data[:EXCERPT])


class _Document:
    """The top of the document: each field as bytes, the samples apart, and what is wrong with the whole."""

    def __init__(self) -> None:
        self.fields: dict[str, bytes] = {}
        self.samples: list[bytes | msgspec.Raw] = []
        self.problems: list[str] = []


def _strict(data: bytes) -> _Document:
    document = _Document()
    for name, raw in _fields.decode(data).items():
        if name == "samples" and bytes(raw) != b"null":
            document.samples = [*_items.decode(raw)]
        else:
            document.fields[name] = bytes(raw)
    return document


def _step_by_step(data: bytes) -> _Document:
    """The same for what strict JSON refuses: bare `NaN`, wrong bytes, and a document that was cut off."""
    document = _Document()
    text = _text(data, document)
    at = _after(text, 0, "{")
    try:
        while text[at : at + 1] != "}":
            name, at = _lenient.raw_decode(text, at)
            at = _after(text, at, ":")
            at = _samples(text, at, document) if name == "samples" else _field(text, at, name, document)
            at = _after(text, at, ",") if text[at : at + 1] != "}" else at
    except (ValueError, RecursionError) as error:
        if not document.fields:
            raise ValueError(describe(error)) from None
        document.problems.append(f"cut off: {describe(error)}")
    return document


def _text(data: bytes, document: _Document) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        document.problems.append(describe(error))
        return data.decode("utf-8", "replace")


def _field(text: str, at: int, name: Any, document: _Document) -> int:
    start = at
    _, at = _lenient.raw_decode(text, at)
    document.fields[str(name)] = text[start:at].encode("utf-8", "surrogatepass")
    return _over_space(text, at)


def _samples(text: str, at: int, document: _Document) -> int:
    if text[at : at + 1] != "[":
        return _field(text, at, "samples", document)
    at = _over_space(text, at + 1)
    while text[at : at + 1] != "]":
        start = at
        _, at = _lenient.raw_decode(text, at)
        document.samples.append(text[start:at].encode("utf-8", "surrogatepass"))
        at = _over_space(text, at)
        at = _after(text, at, ",") if text[at : at + 1] != "]" else at
    return _over_space(text, at + 1)


def _after(text: str, at: int, mark: str) -> int:
    at = _over_space(text, at)
    if text[at : at + 1] != mark:
        raise JSONDecodeError(f"expected {mark}", text, at)
    return _over_space(text, at + 1)


def _over_space(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at


def _log(document: _Document, ref: SourceRef) -> Log:
    header, problems = {}, []
    for name, raw in document.fields.items():
        if name == "reductions":
            continue
        try:
            header[name] = decode(raw)
        except ValueError as error:
            problems.append(unreadable(NAME, ref.below(name), describe(error)))
    problems += [unreadable(NAME, ref, problem) for problem in document.problems]
    return Log(header=header, ref=ref, samples=_rows(document.samples, ref), problems=tuple(problems))


def _rows(samples: list[bytes | msgspec.Raw], ref: SourceRef) -> Iterator[Row | Unreadable]:
    for place, raw in enumerate(samples):
        at, data = ref.below("samples", place), bytes(raw)
        try:
            yield Row(decode(data), at)
        except ValueError as error:
            yield unreadable(NAME, at, describe(error), excerpt=data[:EXCERPT])
