"""The events of a sample in their order, each with the phase of the run that it belongs to."""

from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from errata.model.words import Phase
from errata.sources.base import decode
from errata.sources.inspect_ai.event_fields import EventFields, fields_of_all
from errata.sources.shared.values import mapping, sequence

_PHASES: dict[str | None, Phase] = {
    "init": "setup",
    "sample_init": "setup",
    "solvers": "subject",
    "solver": "subject",
    "agent": "subject",
    "scorers": "scoring",
    "scorer": "scoring",
}
_CALLS = ("model", "tool")
_ELSEWHERE = frozenset(
    ("sample_init", "span_begin", "span_end", "step", "state", "store", "score_edit", "error", "sample_limit")
)
"""They repeat what stands beside the events, or only say which of them belong together."""


class Event(msgspec.Struct, frozen=True, gc=False):
    place: int
    kind: str
    data: EventFields
    phase: Phase | None
    owner: str
    """The solver, tool or scorer that was at work."""


class Span(NamedTuple):
    phase: Phase | None
    name: str


_NO_SPAN = Span(None, "")


class Events:
    """Those of one sample, and each of them whole where its fields are not enough."""

    def __init__(self, fields: list[EventFields], whole: list[dict[str, Any]] | bytes) -> None:
        """`whole`: the events, or the sample as it stands in the log."""
        self._fields = fields
        self._whole: list[Any] | bytes = whole

    @cached_property
    def all(self) -> list[Event]:
        return list(_in_phases(self._fields, ()))

    @cached_property
    def telling(self) -> list[Event]:
        """Without those that only repeat what stands elsewhere: most."""
        return list(_in_phases(self._fields, _ELSEWHERE))

    def whole(self, event: Event) -> dict[str, Any]:
        if isinstance(self._whole, bytes):
            self._whole = _one_by_one.decode(self._whole).events
        found = self._whole[event.place]
        return mapping(decode(bytes(found)) if type(found) is msgspec.Raw else found)


class _Sample(msgspec.Struct):
    events: list[msgspec.Raw]


_one_by_one = msgspec.json.Decoder(_Sample)


def events_of(sample: dict[str, Any]) -> Events:
    """Once they stood below `transcript`."""
    given = sample.get("events")
    if type(given) is Events:
        return given
    return as_events(sequence(given) or sequence(mapping(sample.get("transcript")).get("events")))


def as_events(given: list[Any]) -> Events:
    events = [mapping(event) for event in given]
    return Events(fields_of_all(events), events)


def _in_phases(events: Iterable[EventFields], left_out: Container[str]) -> Iterator[Event]:
    """Each event with the span that it names; one without a span belongs to what was begun last."""
    spans: dict[str, Span] = {}
    last = _NO_SPAN
    for place, data in enumerate(events):
        kind = data.event
        if kind == "span_begin":
            parent = spans.get(data.parent_id or "", _NO_SPAN)
            span = spans[data.id or ""] = Span(_PHASES.get(data.type, parent.phase), data.name or "")
            last = span if span.phase else last
        elif kind == "step" and data.action == "begin":
            # what spans were called before
            last = Span(_PHASES.get(data.type, last.phase), data.name or "")
        if kind not in left_out:
            phase, name = spans.get(data.span_id or "", last)
            yield Event(place, kind, data, phase, name)


def phase_at(events: list[Event], place: int) -> Phase:
    """Where the sample was when something reached its top."""
    before = events[:place]
    calls = [event for event in before if event.kind in _CALLS]
    phase = before[-1].phase if before else None
    began = [event.phase for event in before if event.phase]
    phase = began[-1] if began else phase
    if phase == "subject" and calls and calls[-1].kind == "tool" and _broke(calls[-1].data):
        return "tool"
    return phase or "subject"


def _broke(tool: EventFields) -> bool:
    return bool(tool.failed) or not tool.completed
