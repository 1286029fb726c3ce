"""The events of a sample: the fields that matter, and the phase of the run that each event belongs to.

An event also contains the input, the tools and the provider's request, which are not needed if the messages have
them. A log exactly as Inspect writes it is decoded straight into these types (`decoding`).
"""

from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import msgspec

from errata.model.words import Phase
from errata.sources.base import decode
from errata.sources.inspect_ai.values import words
from errata.sources.shared.values import mapping, sequence

scalar: Any = str | int | float | bool | None
_Text: TypeAlias = str | None
_TEXTS = ("event", "span_id", "id", "parent_id", "type", "name", "action", "model", "traceback")
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
"""They repeat data outside of the events, or only group events."""


def nested(levels: int) -> Any:
    """The type of a value with at most this nesting, so that decoding also checks the depth.

    Checking the depth separately takes as long as decoding. Each level makes the decoder larger and slower to build.
    """
    inside: Any = scalar
    value: Any = scalar
    for _ in range(levels):
        # a list in a list contains only scalars: else the decoder would double with each level
        inside, value = value, scalar | dict[str, value] | list[scalar | dict[str, inside] | list[scalar]]
    return value


_Value: Any = nested(4)


class AnswerMessage(msgspec.Struct, gc=False):
    id: _Text = None


class ModelChoice(msgspec.Struct, gc=False):
    message: AnswerMessage | None = None
    stop_reason: _Text = None


class ModelCallOutput(msgspec.Struct, gc=False):
    choices: list[ModelChoice] = []
    usage: dict[str, scalar] | None = None
    error: _Text = None


class EventFields(msgspec.Struct, gc=False):
    """None for fields that the event does not have."""

    event: str = ""
    """Its kind."""
    span_id: _Text = None
    timestamp: _Text = None
    completed: _Text = None
    id: _Text = None
    # of spans, which old logs call steps
    parent_id: _Text = None
    type: _Text = None
    name: _Text = None
    action: _Text = None
    # of calls
    working_time: int | float | None = None
    error: str | dict[str, scalar] | None = None
    # of models
    model: _Text = None
    output: ModelCallOutput | None = None
    traceback: _Text = None
    retries: _Value = None
    cache: _Value = None
    role: _Value = None
    requested_model: _Value = None
    request_ids: _Value = None
    tool_choice: _Value = None
    # of tools
    tool_error: _Text = None
    truncated: _Value = None
    agent: _Value = None
    failed: _Value = None
    view: _Value = None
    metadata: _Value = None
    # of scores
    intermediate: _Value = None


NO_FIELDS = EventFields()
NO_OUTPUT = ModelCallOutput()

_VALUES = tuple(name for name in EventFields.__struct_fields__ if name not in (*_TEXTS, "output"))


def fields_of_all(events: list[dict[str, Any]]) -> list[EventFields]:
    try:
        return msgspec.convert(events, list[EventFields])
    except (msgspec.ValidationError, RecursionError):
        return [fields_of(event) for event in events]


def fields_of(event: dict[str, Any]) -> EventFields:
    """The fields of an event in another form: texts are converted or empty; other values are checked where used."""
    texts: dict[str, Any] = {name: words(event[name]) for name in _TEXTS if name in event}
    values = {name: event[name] for name in _VALUES if name in event}
    return EventFields(output=_output_of(mapping(event.get("output"))), **texts, **values)


def _output_of(output: dict[str, Any]) -> ModelCallOutput:
    choices = [mapping(choice) for choice in sequence(output.get("choices"))]
    return ModelCallOutput(
        choices=[
            ModelChoice(
                AnswerMessage(words(mapping(choice.get("message")).get("id"))), words(choice.get("stop_reason"))
            )
            for choice in choices
        ],
        usage=mapping(output.get("usage")),
        error=words(output.get("error")),
    )


class SampleEvent(msgspec.Struct, frozen=True, gc=False):
    place: int
    kind: str
    data: EventFields
    phase: Phase | None
    owner: str
    """The active solver, tool or scorer."""


class EventSpan(NamedTuple):
    phase: Phase | None
    name: str


_NO_SPAN = EventSpan(None, "")


class Events:
    """The events of one sample, and access to a whole event where its fields are not enough."""

    def __init__(self, fields: list[EventFields], whole: list[dict[str, Any]] | bytes) -> None:
        """`whole`: the events, or the raw sample."""
        self._fields = fields
        self._whole: list[Any] | bytes = whole

    @cached_property
    def all(self) -> list[SampleEvent]:
        return list(_in_phases(self._fields, ()))

    @cached_property
    def telling(self) -> list[SampleEvent]:
        """The events without those that only repeat other data, which are most of them."""
        return list(_in_phases(self._fields, _ELSEWHERE))

    def whole(self, event: SampleEvent) -> dict[str, Any]:
        if isinstance(self._whole, bytes):
            self._whole = _one_by_one.decode(self._whole).events
        raw = self._whole[event.place]
        return mapping(decode(bytes(raw)) if type(raw) is msgspec.Raw else raw)


class _Sample(msgspec.Struct):
    events: list[msgspec.Raw]


_one_by_one = msgspec.json.Decoder(_Sample)


def events_of(sample: dict[str, Any]) -> Events:
    """The events of a sample; in old logs they are below `transcript`."""
    given = sample.get("events")
    if type(given) is Events:
        return given
    return as_events(sequence(given) or sequence(mapping(sample.get("transcript")).get("events")))


def as_events(given: list[Any]) -> Events:
    events = [mapping(event) for event in given]
    return Events(fields_of_all(events), events)


def _in_phases(events: Iterable[EventFields], left_out: Container[str]) -> Iterator[SampleEvent]:
    """Each event with the phase of its span; an event without a span belongs to the phase that began last."""
    spans: dict[str, EventSpan] = {}
    last = _NO_SPAN
    for place, data in enumerate(events):
        kind = data.event
        if kind == "span_begin":
            parent = spans.get(data.parent_id or "", _NO_SPAN)
            span = spans[data.id or ""] = EventSpan(_PHASES.get(data.type, parent.phase), data.name or "")
            last = span if span.phase else last
        elif kind == "step" and data.action == "begin":
            # the old name of spans
            last = EventSpan(_PHASES.get(data.type, last.phase), data.name or "")
        if kind not in left_out:
            phase, name = spans.get(data.span_id or "", last)
            yield SampleEvent(place, kind, data, phase, name)


def phase_at(events: list[SampleEvent], place: int) -> Phase:
    """The phase of the sample when an error reached its top level."""
    before = events[:place]
    calls = [event for event in before if event.kind in _CALLS]
    phase = before[-1].phase if before else None
    began = [event.phase for event in before if event.phase]
    phase = began[-1] if began else phase
    if phase == "subject" and calls and calls[-1].kind == "tool" and _broke(calls[-1].data):
        return "tool"
    return phase or ""


def _broke(tool: EventFields) -> bool:
    return bool(tool.failed) or not tool.completed
