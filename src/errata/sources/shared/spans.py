"""Spans of a trace, whoever recorded them, and the tree that they make, in whatever order they were written."""

import base64
import binascii
import re
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from errata.model import ErrorInfo, SourceRef, ToolCall, ToolResult, Usage
from errata.model.times import from_milliseconds
from errata.model.words import Phase
from errata.sources.base import decode
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.sources.shared.values import as_text, known, plain, text

SpanKind = Literal["model", "tool", "agent", "judge", "other"]
ERRORS_CAP = 50
TOP = -1
PHASES: dict[SpanKind, Phase] = {"tool": "tool", "judge": "scoring"}
_HOMES = ("exception.type", "exception.message", "exception.stacktrace")
_HEX = re.compile(r"[0-9a-fA-F]+")
_SIZES = (8, 16)
"""Bytes of the id of a span, and of a trace."""


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One operation; what it was asked and what it answered are chat messages."""

    id: str
    parent: str = ""
    name: str = ""
    kind: SpanKind = "other"
    order: float = 0
    """When it began, in any unit: only for sorting."""
    started_at: str | None = None
    ended_at: str | None = None
    seconds: float | None = None
    asked: list[Any] = []
    answered: list[Any] = []
    call: ToolCall | None = None
    """Of a tool: what it was called with, and what it gave."""
    error: ErrorInfo | None = None
    usage: Usage | None = None
    model: str = ""
    stopped: str = ""
    input: Any = None
    """Of the operation as a whole, as far as it is told."""
    output: Any = None
    extra: dict[str, Any] = {}
    ref: SourceRef | None = None


class Place(NamedTuple):
    """Where a span stands in its tree."""

    span: Span
    above: int
    """The number of the span that it is a part of, in this same order."""
    judged: bool
    """Whether it measures the answer instead of giving it."""


class Tree:
    """Each span before its parts, and parts in the order in which they began."""

    def __init__(self, spans: list[Span]) -> None:
        self.places: list[Place] = []
        self._spans = spans
        numbers: dict[str, int] = {}
        for at, span in enumerate(spans):
            numbers.setdefault(span.id, at)
        self._parts: dict[int, list[int]] = {}
        for at in sorted(range(len(spans)), key=lambda at: (spans[at].order, at)):
            above = numbers.get(spans[at].parent, TOP) if spans[at].parent else TOP
            self._parts.setdefault(TOP if above == at else above, []).append(at)
        seen: set[int] = set()
        self._walk(self._parts.get(TOP, []), seen)
        # spans that are each other's parents have no top; the first of them is taken for it
        for at in sorted(set(range(len(spans))) - seen, key=lambda at: spans[at].order):
            self._walk([at], seen)

    def _walk(self, tops: list[int], seen: set[int]) -> None:
        waiting = [(at, TOP) for at in reversed(tops)]
        while waiting:
            at, above = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            judged = self._spans[at].kind == "judge" or (above != TOP and self.places[above].judged)
            self.places.append(Place(self._spans[at], above, judged))
            number = len(self.places) - 1
            waiting += [(part, number) for part in reversed(self._parts.get(at, []))]

    @property
    def top(self) -> Span | None:
        """The first that is a part of no other."""
        return self.places[0].span if self.places else None

    @property
    def ended_by(self) -> int | None:
        """The number of the span whose error ended the trace.

        Where several are a part of none, because the beginning was recorded elsewhere or not at all, only what came
        last can have been the end.
        """
        tops = [at for at, place in enumerate(self.places) if place.above == TOP and not place.judged]
        last = ([at for at in tops if not self.places[at].span.parent] or tops)[-1:]
        return next((at for at in last if self.places[at].span.error is not None), None)

    def any_below(self, has: list[bool]) -> list[bool]:
        """For each span: whether any of its parts has what `has` tells of each."""
        found = [False] * len(self.places)
        for at in range(len(self.places) - 1, -1, -1):
            above = self.places[at].above
            if above != TOP and (has[at] or found[at]):
                found[above] = True
        return found

    def errors(self) -> tuple[ErrorInfo, ...]:
        """What ended the trace, and where that came from first; then what failed on the way, and whether for good."""
        failed = [at for at, place in enumerate(self.places) if place.span.error is not None]
        last_part = {self.places[at].above: at for at in failed}
        worked = {_sort(place.span): at for at, place in enumerate(self.places) if place.span.error is None}
        ended = self.ended_by
        fatal = self._origin(ended, last_part) if ended is not None else []
        others = []
        for at in failed:
            span = self.places[at].span
            # one that only passes on what a part of it said is told by the part
            if at not in fatal and at != ended and at not in last_part and span.error is not None:
                good = worked.get(_sort(span), TOP) > at or self._is_inside_of_success(at)
                others.append(replace(span.error, recovered=True) if good else span.error)
        told = [error for at in fatal if (error := self.places[at].span.error) is not None]
        return (*told, *others)[:ERRORS_CAP]

    def _is_inside_of_success(self, at: int) -> bool:
        """Whether it is a part of something of its own kind that went well all the same: a first try, made good."""
        kind, above = self.places[at].span.kind, self.places[at].above
        while above != TOP:
            if self.places[above].span.kind == kind:
                return self.places[above].span.error is None and self.places[above].span.output is not None
            above = self.places[above].above
        return False

    def _origin(self, ended: int, last_part: dict[int, int]) -> list[int]:
        at = ended
        while at in last_part:
            at = last_part[at]
        first, last = self.places[at].span.error, self.places[ended].span.error
        same = first is None or last is None or first.message == last.message
        return [at] if same else [at, ended]


def _sort(span: Span) -> tuple[str, str]:
    """What is tried again under the same name is the same thing."""
    return span.kind, span.name


def call_of(name: str, ident: str, given: Any, got: Any, *, failed: bool, shown: str | None = None) -> ToolCall:
    """`shown` is the result as it is written, where `got` is what that says."""
    result = ToolResult(
        text=as_text(got) if shown is None else shown,
        structured=None if isinstance(got, str) else plain(got),
        is_error=True if failed else None,
    )
    return ToolCall(name=name, id=ident, arguments=plain(given), result=None if got is None else result)


def error_of(
    kind: SpanKind,
    raised: dict[str, Any],
    ref: SourceRef,
    *,
    status: str,
    named: str = "",
    code: str = "",
    at: str | None = None,
) -> ErrorInfo:
    """`raised` are the attributes of the exception, if one was recorded; `status` is what the span itself says."""
    named, said = named or text(raised.get("exception.type")), text(raised.get("exception.message"))
    traceback = text(raised.get("exception.stacktrace"))
    frame = own_frame(frames_of(traceback))
    return ErrorInfo(
        type=named.rpartition(".")[2] or "span_error",
        message=said or status,
        code=code or (named if named.isdecimal() else ""),
        traceback=traceback,
        frame=frame.shown() if frame else "",
        phase=PHASES.get(kind, "subject"),
        at=at,
        extra=known(
            status=status if said and status != said else None,
            full_type=named if "." in named else None,
            exception={key: value for key, value in raised.items() if key not in _HOMES},
        ),
        ref=ref,
    )


def whole(value: Any) -> int | None:
    """A 64-bit number, which JSON has as text."""
    if isinstance(value, bool):
        return None
    try:
        return int(value) if isinstance(value, int) or (isinstance(value, str) and len(value) <= 20) else None
    except ValueError:
        return None


def hex_id(value: Any) -> str:
    """An id in hex, also where an encoder that does not know better wrote base64."""
    told = text(value)
    if len(told) in (2 * size for size in _SIZES) and _HEX.fullmatch(told):
        return told.lower()
    try:
        data = base64.b64decode(told, validate=True)
    except (binascii.Error, ValueError):
        return told
    return data.hex() if len(data) in _SIZES else told


def moment(nanoseconds: Any) -> str | None:
    """Zero is how protobuf writes that nothing was said."""
    found = whole(nanoseconds)
    try:
        return from_milliseconds(found / 1_000_000) if found else None
    except (OverflowError, ValueError, OSError):
        return None


def parsed(value: Any) -> Any:
    """A value that is JSON in a text, where it is that."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
        return value
    try:
        return decode(value.encode())
    except (ValueError, UnicodeError):
        return value
