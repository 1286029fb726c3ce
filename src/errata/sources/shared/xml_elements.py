"""XML from untrusted places, read as a stream: no document type, no entities, never more than one element in memory.

Only expat itself is used. A document type is refused before its content is looked at, so nothing can be expanded or
fetched. Elements before a syntax error are kept.
"""

import codecs
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from errata.model import SourceRef, Unreadable
from errata.sources.base import BYTE_ORDER_MARK, DEPTH_CAP, LINE_CAP, READ_SIZE, describe, relative, unreadable
from errata.text.lazy_regex import lazy_regex

_DECLARED = lazy_regex(rb"""^\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]+)""")
_UTF_8 = frozenset(("utf-8", "utf8", "us-ascii", "ascii"))
# terminal colours, and characters that XML allows neither literally nor as a reference
_NO_XML = lazy_regex(
    "\x1b\\[[0-9;]*[mK]|[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
    "|&#(?:x0*(?:[0-8bcefBCEF]|1[0-9a-fA-F])|0*(?:[0-8]|1[124-9]|2[0-9]|3[01]));"
)
_TAG = lazy_regex(rb"\s*<(?:[\w.-]+:)?([\w.-]+)(?=[\s/>])")
_BEFORE = lazy_regex(rb"\s*(<\?|<!--|<!DOCTYPE[^\[>]{0,1000}\[|<!DOCTYPE)")
_REFUSALS = (ValueError, LookupError, expat.ExpatError)
"""Of the content; expat looks up the encoding that a declaration behind other bytes names."""
_REFERENCE = 12
_NODE = 100
"""Approximate cost of an element besides its text."""


def first_tag(head: bytes) -> str:
    """The name of the first element, whatever precedes it; empty if this is not XML or the element is too far in."""
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        head = head.decode("utf-16", "replace").encode()
    at = 0
    # step by step and never back: the input is untrusted
    while (match := _BEFORE.match(head, at)) and match.end() > at:
        ends = head.find(_end_of(match[1]), match.end())
        if ends < 0:
            return ""
        at = ends + len(_end_of(match[1]))
    tag = _TAG.match(head, at)
    return tag[1].decode() if tag else ""


def _end_of(opened: bytes) -> bytes:
    if opened == b"<?":
        return b"?>"
    return b"-->" if opened == b"<!--" else b"]>" if opened.endswith(b"[") else b">"


class Element:
    """An element with everything in it."""

    __slots__ = ("attributes", "children", "line", "pieces", "tag")

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag, self.attributes, self.line = tag, attributes, line
        self.children: list[Element] = []
        self.pieces: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self.pieces).strip("\n")

    def all(self, *tags: str) -> list["Element"]:
        return [child for child in self.children if child.tag in tags] if self.children else []

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")


class ElementStart(NamedTuple):
    tag: str
    attributes: dict[str, str]
    line: int


class ElementEnd(NamedTuple):
    tag: str


Event = ElementStart | ElementEnd | Element | Unreadable


def xml_events(
    path: Path, whole: frozenset[str], *, source: str, root: Path, data: bytes | None = None
) -> Iterator[Event]:
    """Elements named in `whole` are returned complete, when they end; all others only as a beginning and an end.

    `data` is what is in a small file that was read before.
    """
    name = relative(path, root)
    reader = _Reader(whole, SourceRef(file=name), source)
    if data is not None:
        yield from _events_in(data, reader)
        return
    try:
        with path.open("rb", buffering=0) as file:
            # a small file must not cost the memory of a large one
            size = min(READ_SIZE, os.fstat(file.fileno()).st_size + 1)
            chunk = file.read(size)
            feed = _Feed(chunk[:1024].removeprefix(BYTE_ORDER_MARK))
            while chunk:
                reader.take(feed.clean(chunk))
                yield from reader.ready()
                chunk = file.read(size)
            reader.take(feed.clean(b"", last=True), last=True)
            yield from reader.ready()
    except (OSError, *_REFUSALS) as error:
        yield from reader.ready_before(error)
        return
    yield from reader.noted(feed.problem)


def _events_in(data: bytes, reader: "_Reader") -> Iterator[Event]:
    feed = _Feed(data[:1024].removeprefix(BYTE_ORDER_MARK))
    try:
        reader.take(feed.clean_whole(data), last=True)
    except _REFUSALS as error:
        yield from reader.ready_before(error)
        return
    yield from reader.ready()
    yield from reader.noted(feed.problem)


def _describe_error(error: Exception) -> str:
    return f"invalid XML from here on: {error}" if isinstance(error, expat.ExpatError) else describe(error)


def _is_known(encoding: str) -> bool:
    try:
        codecs.lookup(encoding)
    except LookupError:
        return False
    return True


class _Feed:
    """Bytes that expat accepts: invalid bytes and control characters are common in logs, and would end the parsing."""

    def __init__(self, head: bytes) -> None:
        declared = _DECLARED.match(head)
        self._unknown = declared[1] if declared and not _is_known(declared[1].decode()) else b""
        wide = head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        other = declared is not None and not self._unknown and declared[1].decode().lower() not in _UTF_8
        self._raw = wide or other
        self._kept = ""
        self.problem = ""

    @cached_property
    def _strict(self) -> codecs.IncrementalDecoder:
        return codecs.getincrementaldecoder("utf-8-sig")()

    @cached_property
    def _lenient(self) -> codecs.IncrementalDecoder:
        return codecs.getincrementaldecoder("utf-8-sig")("replace")

    def clean_whole(self, data: bytes) -> bytes:
        """The same of all that is in a file."""
        if not self._raw and not self._unknown:
            try:
                return _NO_XML.sub("", data.decode("utf-8-sig")).encode()
            except UnicodeDecodeError:
                pass
        return self.clean(data, last=True)

    def clean(self, chunk: bytes, *, last: bool = False) -> bytes:
        if self._raw:
            return chunk
        if self._unknown:
            self.problem = f"unknown encoding `{self._unknown.decode()}`; read as UTF-8"
            chunk, self._unknown = chunk.replace(self._unknown, b"utf-8", 1), b""
        if not self.problem:
            try:
                self._strict.decode(chunk, last)
            except UnicodeDecodeError as error:
                self.problem = f"{describe(error)}; invalid bytes were replaced"
        text = self._kept + self._lenient.decode(chunk, last)
        # a reference may be split across two chunks
        at = -1 if last else text.rfind("&", -_REFERENCE)
        text, self._kept = (text[:at], text[at:]) if at >= 0 and ";" not in text[at:] else (text, "")
        return _NO_XML.sub("", text).encode()


class _Reader:
    def __init__(self, whole: frozenset[str], ref: SourceRef, source: str) -> None:
        self._whole, self._ref, self._source = whole, ref, source
        self._open: list[Element] = []
        self._depth = self._weight = self._fed = 0
        self._ready: list[Event] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = _refuse
        self._parser.EntityDeclHandler = _refuse

    @property
    def line(self) -> int:
        return self._parser.CurrentLineNumber

    def take(self, data: bytes, *, last: bool = False) -> None:
        self._parser.Parse(data, last)
        self._fed += len(data)
        if self._fed - max(0, self._parser.CurrentByteIndex) > LINE_CAP:
            raise ValueError(f"a tag longer than {LINE_CAP // 2**20} MB")

    def ready(self) -> Iterator[Event]:
        ready, self._ready = self._ready, []
        return iter(ready)

    def ready_before(self, error: Exception) -> Iterator[Event]:
        yield from self.ready()
        yield unreadable(self._source, SourceRef(file=self._ref.file, line=self.line), _describe_error(error))

    def noted(self, problem: str) -> Iterator[Event]:
        if problem:
            yield unreadable(self._source, self._ref, problem)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEPTH_CAP:
            raise ValueError(f"nested deeper than {DEPTH_CAP} levels")
        tag = name.rpartition(":")[2]
        if not self._open and tag not in self._whole:
            self._ready.append(ElementStart(tag, attributes, self.line))
            return
        element = Element(tag, attributes, self.line)
        if self._open and self._fits(_NODE + sum(map(len, attributes.values()))):
            self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if not self._open:
            self._ready.append(ElementEnd(name.rpartition(":")[2]))
            return
        element = self._open.pop()
        if self._open:
            return
        ref = SourceRef(file=self._ref.file, line=element.line)
        too_large = f"`{element.tag}` larger than {LINE_CAP // 2**20} MB"
        self._ready.append(element if self._fits(0) else unreadable(self._source, ref, too_large))
        self._weight = 0

    def _text(self, text: str) -> None:
        if self._open and self._fits(len(text)):
            self._open[-1].pieces.append(text)

    def _fits(self, more: int) -> bool:
        self._weight += more
        return self._weight <= LINE_CAP


def _refuse(*_: Any) -> None:
    raise ValueError("declares a document type, which is not allowed")
