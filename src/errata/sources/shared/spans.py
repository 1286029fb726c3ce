"""Spans of a trace from any recorder, and the tree they form, in whatever order they were written."""

import base64
import binascii
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from errata.model import ErrorInfo, SourceRef, ToolCall, ToolResult, Usage
from errata.model.record import Struct
from errata.model.times import from_milliseconds
from errata.model.words import Phase
from errata.sources.base import decode
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.sources.shared.values import as_text, non_empty, plain, text
from errata.text.lazy_regex import lazy_regex

SpanKind = Literal["model", "tool", "agent", "judge", "other"]
ERRORS_CAP = 50
TOP = -1
PHASES: dict[SpanKind, Phase] = {"model": "subject", "tool": "tool", "judge": "scoring"}
_HOMES = ("exception.type", "exception.message", "exception.stacktrace")
_HEX = lazy_regex(r"[0-9a-fA-F]+")
_SIZES = (8, 16)
"""Bytes of the id of a span, and of a trace."""


class TraceSpan(Struct):
    """One operation; its request and its reply are chat messages."""

    id: str
    parent: str = ""
    name: str = ""
    kind: SpanKind = "other"
    order: float = 0
    """When it began, in any unit: only for sorting."""
    started_at: str | None = None
    ended_at: str | None = None
    seconds: float | None = None
    request: list[Any] = []
    reply: list[Any] = []
    call: ToolCall | None = None
    """For a tool: its arguments and its result."""
    error: ErrorInfo | None = None
    usage: Usage | None = None
    model: str = ""
    stopped: str = ""
    input: Any = None
    """Input of the whole operation, if it is recorded."""
    output: Any = None
    extra: dict[str, Any] = {}
    ref: SourceRef | None = None


class SpanPlace(NamedTuple):
    """The position of a span in its tree."""

    span: TraceSpan
    above: int
    """The number of its parent, in the same order."""
    judged: bool
    """Whether it evaluates the answer instead of producing it."""


class Tree:
    """Each span comes before its children; siblings are in the order they began."""

    def __init__(self, spans: list[TraceSpan]) -> None:
        self.places: list[SpanPlace] = []
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
        # spans that are each other's parents have no root: the first of them is taken as one
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
            self.places.append(SpanPlace(self._spans[at], above, judged))
            number = len(self.places) - 1
            waiting += [(part, number) for part in reversed(self._parts.get(at, []))]

    @property
    def top(self) -> TraceSpan | None:
        """The first span without a parent."""
        return self.places[0].span if self.places else None

    @property
    def ended_by(self) -> int | None:
        """The number of the span whose error ended the trace.

        If several spans have no parent, because the beginning was recorded elsewhere or not at all, only the last one
        can have ended the trace.
        """
        tops = [at for at, place in enumerate(self.places) if place.above == TOP and not place.judged]
        last = ([at for at in tops if not self.places[at].span.parent] or tops)[-1:]
        return next((at for at in last if self.places[at].span.error is not None), None)

    def any_below(self, has: list[bool]) -> list[bool]:
        """For each span: whether `has` is true for any span below it."""
        result = [False] * len(self.places)
        for at in range(len(self.places) - 1, -1, -1):
            above = self.places[at].above
            if above != TOP and (has[at] or result[at]):
                result[above] = True
        return result

    def errors(self) -> tuple[ErrorInfo, ...]:
        """The error that ended the trace, with its origin first; then the others, and whether each was recovered."""
        failed = [at for at, place in enumerate(self.places) if place.span.error is not None]
        last_part = {self.places[at].above: at for at in failed}
        worked = {_sort(place.span): at for at, place in enumerate(self.places) if place.span.error is None}
        ended = self.ended_by
        fatal = self._origin(ended, last_part) if ended is not None else []
        others = []
        for at in failed:
            span = self.places[at].span
            # a span that only passes on an error of a child is left out: the child has it
            if at not in fatal and at != ended and at not in last_part and span.error is not None:
                good = worked.get(_sort(span), TOP) > at or self._is_inside_of_success(at)
                others.append(replace(span.error, recovered=True) if good else span.error)
        errors = [error for at in fatal if (error := self.places[at].span.error) is not None]
        return (*errors, *others)[:ERRORS_CAP]

    def _is_inside_of_success(self, at: int) -> bool:
        """Whether it is inside a span of its own kind that succeeded anyway: a first try that was repeated."""
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


def _sort(span: TraceSpan) -> tuple[str, str]:
    """A retry has the same kind and name."""
    return span.kind, span.name


def call_of(
    name: str, ident: str, arguments: Any, output: Any, *, failed: bool, result_text: str | None = None
) -> ToolCall:
    """`result_text` is the result as text, if `output` is parsed from it."""
    result = ToolResult(
        text=as_text(output) if result_text is None else result_text,
        structured=None if isinstance(output, str) else plain(output),
        is_error=True if failed else None,
    )
    return ToolCall(name=name, id=ident, arguments=plain(arguments), result=None if output is None else result)


def error_of(
    kind: SpanKind,
    raised: dict[str, Any],
    ref: SourceRef,
    *,
    status: str,
    type_name: str = "",
    code: str = "",
    at: str | None = None,
) -> ErrorInfo:
    """`raised`: the attributes of the exception, if one was recorded; `status`: the status message of the span."""
    type_name, message = type_name or text(raised.get("exception.type")), text(raised.get("exception.message"))
    traceback = text(raised.get("exception.stacktrace"))
    frame = own_frame(frames_of(traceback))
    return ErrorInfo(
        type=type_name.rpartition(".")[2] or "span_error",
        derived=() if type_name else ("type",),
        message=message or status,
        code=code or (type_name if type_name.isdecimal() else ""),
        traceback=traceback,
        frame=frame.location() if frame else "",
        phase=PHASES.get(kind, ""),
        at=at,
        extra=non_empty(
            status=status if message and status != message else None,
            full_type=type_name if "." in type_name else None,
            exception={key: value for key, value in raised.items() if key not in _HOMES},
        ),
        ref=ref,
    )


def whole(value: Any) -> int | None:
    """A 64-bit integer, which JSON has as text."""
    if isinstance(value, bool):
        return None
    try:
        return int(value) if isinstance(value, int) or (isinstance(value, str) and len(value) <= 20) else None
    except ValueError:
        return None


def hex_id(value: Any) -> str:
    """An id in hex, even if a generic encoder wrote it as base64."""
    ident = text(value)
    if len(ident) in (2 * size for size in _SIZES) and _HEX.fullmatch(ident):
        return ident.lower()
    try:
        data = base64.b64decode(ident, validate=True)
    except (binascii.Error, ValueError):
        return ident
    return data.hex() if len(data) in _SIZES else ident


def moment(nanoseconds: Any) -> str | None:
    """Zero is how protobuf writes an unset time."""
    value = whole(nanoseconds)
    try:
        return from_milliseconds(value / 1_000_000) if value else None
    except (OverflowError, ValueError, OSError):
        return None


def parse_json_text(value: Any) -> Any:
    """The value in a text of JSON; other texts as they are."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
        return value
    try:
        return decode(value.encode())
    except (ValueError, UnicodeError):
        return value
