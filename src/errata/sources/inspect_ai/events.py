"""The events of a sample in their order, each with the phase of the run that it belongs to."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.model.words import Phase
from errata.sources.inspect_ai.values import words
from errata.sources.shared.values import mapping, sequence

_PHASES: dict[str, Phase] = {
    "init": "setup",
    "sample_init": "setup",
    "solvers": "subject",
    "solver": "subject",
    "agent": "subject",
    "scorers": "scoring",
    "scorer": "scoring",
}
_CALLS = ("model", "tool")


class Event(NamedTuple):
    place: int
    kind: str
    data: dict[str, Any]
    phase: Phase | None
    owner: str
    """The solver, tool or scorer that was at work."""


class Span(NamedTuple):
    phase: Phase | None
    name: str


def events_of(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """Once they stood below `transcript`."""
    given = sequence(sample.get("events")) or sequence(mapping(sample.get("transcript")).get("events"))
    return [mapping(event) for event in given]


def in_phases(events: list[dict[str, Any]]) -> Iterator[Event]:
    """Each event with the span that it names; one without a span belongs to what was begun last."""
    spans: dict[str, Span] = {}
    last = Span(None, "")
    for place, data in enumerate(events):
        kind = data.get("event")
        if type(kind) is not str:
            kind = words(kind)
        if kind == "span_begin":
            parent = spans.get(words(data.get("parent_id")), Span(None, ""))
            span = Span(_PHASES.get(words(data.get("type")), parent.phase), words(data.get("name")))
            spans[words(data.get("id"))] = span
            last = span if span.phase else last
        elif kind == "step" and data.get("action") == "begin":
            # what spans were called before
            last = Span(_PHASES.get(words(data.get("type")), last.phase), words(data.get("name")))
        ident = data.get("span_id")
        phase, name = spans.get(ident if type(ident) is str else words(ident), last)
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


def _broke(tool: dict[str, Any]) -> bool:
    return bool(tool.get("failed")) or not tool.get("completed")
