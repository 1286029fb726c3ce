"""The fields of an event that decide anything: what the rules read of most events, and all that they read.

An event also holds what was asked, the tools that were there and what the provider got, which nobody looks at where
the messages tell it. A log that is just as Inspect writes it is decoded into these types at once (`usual`).
"""

from typing import Any, TypeAlias

import msgspec

from errata.sources.inspect_ai.shallow import nested, scalar
from errata.sources.inspect_ai.values import words
from errata.sources.shared.values import mapping, sequence

_Text: TypeAlias = str | None
_Value: Any = nested(4)


class Answer(msgspec.Struct, gc=False):
    id: _Text = None


class Choice(msgspec.Struct, gc=False):
    message: Answer | None = None
    stop_reason: _Text = None


class ModelOutput(msgspec.Struct, gc=False):
    choices: list[Choice] = []
    usage: dict[str, scalar] | None = None
    error: _Text = None


class EventFields(msgspec.Struct, gc=False):
    """None for what the event does not tell."""

    event: str = ""
    """Its kind."""
    span_id: _Text = None
    timestamp: _Text = None
    completed: _Text = None
    id: _Text = None
    # of spans, and of the steps that they were called before
    parent_id: _Text = None
    type: _Text = None
    name: _Text = None
    action: _Text = None
    # of calls
    working_time: int | float | None = None
    error: str | dict[str, scalar] | None = None
    # of models
    model: _Text = None
    output: ModelOutput | None = None
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
NO_OUTPUT = ModelOutput()

_TEXTS = ("event", "span_id", "id", "parent_id", "type", "name", "action", "model", "traceback")
_VALUES = tuple(name for name in EventFields.__struct_fields__ if name not in (*_TEXTS, "output"))


def fields_of_all(events: list[dict[str, Any]]) -> list[EventFields]:
    try:
        return msgspec.convert(events, list[EventFields])
    except (msgspec.ValidationError, RecursionError):
        return [fields_of(event) for event in events]


def fields_of(event: dict[str, Any]) -> EventFields:
    """Of an event that is written otherwise: a text is one, or is not told; of other values each rule takes its own."""
    texts: dict[str, Any] = {name: words(event[name]) for name in _TEXTS if name in event}
    values = {name: event[name] for name in _VALUES if name in event}
    return EventFields(output=_output_of(mapping(event.get("output"))), **texts, **values)


def _output_of(output: dict[str, Any]) -> ModelOutput:
    choices = [mapping(choice) for choice in sequence(output.get("choices"))]
    return ModelOutput(
        choices=[
            Choice(Answer(words(mapping(choice.get("message")).get("id"))), words(choice.get("stop_reason")))
            for choice in choices
        ],
        usage=mapping(output.get("usage")),
        error=words(output.get("error")),
    )
