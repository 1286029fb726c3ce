"""Spans of a trace, whoever recorded them, and the tree that they make, in whatever order they were written."""

from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from errata.model import ErrorInfo, SourceRef, ToolCall, Usage

SpanKind = Literal["model", "tool", "agent", "judge", "other"]
ERRORS_CAP = 50
TOP = -1


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
