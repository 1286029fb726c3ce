"""What a model was asked and what it answered, as chat messages, in each way that instrumentations have written it.

Newest first: `gen_ai.input.messages` as an attribute or in an event of details; an event for each message; one event
for all, with JSON in it; and the names with numbers in them of OpenInference and OpenLLMetry.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.sources.otlp.values import Attributes
from errata.sources.shared.spans import parsed
from errata.sources.shared.values import as_text, mapping, sequence, text

DETAILS = "gen_ai.client.inference.operation.details"
_ASKED = ("gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message")
_CHOICE = "gen_ai.choice"
EVENTS = frozenset((DETAILS, *_ASKED, _CHOICE, "gen_ai.content.prompt", "gen_ai.content.completion"))
_SPOKEN = ("gen_ai.", "llm.")

Event = tuple[str, Attributes]


class Exchange(NamedTuple):
    asked: list[Any]
    answered: list[Any]


def exchange_of(attributes: Attributes, events: list[Event]) -> Exchange:
    asked, answered = _of_attributes(attributes)
    for name, told in events:
        if name in EVENTS:
            more = _of_event(name, told)
            asked += [one for one in more.asked if one not in asked]
            answered += [one for one in more.answered if one not in answered]
    return Exchange(asked, answered)


def _of_attributes(attributes: Attributes) -> Exchange:
    if not any(name.startswith(_SPOKEN) for name in attributes.all):
        return Exchange([], [])
    instructions = parsed(attributes.take("gen_ai.system_instructions"))
    asked = [*_parts_message("system", instructions)] if instructions else []
    asked += messages_in(attributes.take("gen_ai.input.messages"), "user")
    asked += messages_in(attributes.below("llm.input_messages."), "user")
    asked += messages_in(attributes.below("gen_ai.prompt.") or attributes.take("gen_ai.prompt"), "user")
    answered = messages_in(attributes.take("gen_ai.output.messages"), "assistant")
    answered += messages_in(attributes.below("llm.output_messages."), "assistant")
    answered += messages_in(attributes.below("gen_ai.completion.") or attributes.take("gen_ai.completion"), "assistant")
    return Exchange(asked, answered)


def _of_event(name: str, told: Attributes) -> Exchange:
    if name == _CHOICE:
        return Exchange([], messages_in([_message_of_event(told, "assistant")], "assistant"))
    if name in _ASKED:
        role = name.split(".")[1]
        return Exchange(messages_in([_message_of_event(told, role)], role), [])
    return _of_attributes(told)


def _message_of_event(told: Attributes, role: str) -> dict[str, Any]:
    body = mapping(parsed(told.take("gen_ai.event.content", "body")))
    given = {key: parsed(value) if key != "content" else value for key, value in told.left().items()}
    whole = given | body
    inner = mapping(parsed(whole.pop("message", None)))
    return {"role": role} | whole | inner


def messages_in(told: Any, role: str) -> list[Any]:
    found = parsed(told)
    if found is None or found == "":
        return []
    listed = found if isinstance(found, list) else [found]
    return [made for one in listed for made in _message(one, role)]


def _message(told: Any, role: str) -> Iterator[Any]:
    if not isinstance(told, dict):
        yield {"role": role, "content": as_text(told)}
        return
    # OpenInference has each message one level down
    message = mapping(told.get("message")) or told
    speaker = text(message.get("role")) or role
    if isinstance(message.get("parts"), list):
        rest = {key: value for key, value in message.items() if key not in ("role", "parts", "finish_reason")}
        yield from _parts_message(speaker, message["parts"], rest)
        return
    made = {key: value for key, value in message.items() if key not in ("finish_reason", "index", "contents")}
    if isinstance(message.get("contents"), list):
        made["content"] = [_content(mapping(one)) for one in message["contents"]]
    if isinstance(message.get("tool_calls"), list):
        made["tool_calls"] = [mapping(mapping(one).get("tool_call")) or one for one in message["tool_calls"]]
    # a tool's answer in an event has the id of the call as its own
    if speaker == "tool" and "id" in made:
        made["tool_call_id"] = made.pop("id")
    yield made | {"role": speaker}


def _content(part: dict[str, Any]) -> dict[str, Any]:
    return mapping(part.get("message_content")) or part


def _parts_message(role: str, parts: Any, rest: dict[str, Any] | None = None) -> Iterator[dict[str, Any]]:
    """The answers of tools are messages of their own; the calls of a message stand beside its text."""
    content: list[Any] = []
    thoughts: list[str] = []
    calls: list[Any] = []
    for part in parts if isinstance(parts, list) else [parts]:
        kind, told = mapping(part).get("type"), mapping(part)
        if kind == "tool_call_response":
            given = told.get("response", told.get("result"))
            yield {
                "role": "tool",
                "tool_call_id": text(told.get("id")),
                "content": "" if given is None else as_text(given),
            }
        elif kind == "tool_call":
            calls.append(told)
        elif kind in ("reasoning", "thinking"):
            thoughts.append(as_text(told.get("content") or ""))
        elif kind == "text":
            content.append({"type": "text", "text": as_text(told.get("content") or "")})
        else:
            content.append(part)
    if content or thoughts or calls:
        made: dict[str, Any] = {"role": role, "content": content} | (rest or {})
        yield (
            made
            | ({"tool_calls": calls} if calls else {})
            | ({"reasoning_content": "\n".join(thoughts)} if thoughts else {})
        )


def finish_of(answered: Any) -> str:
    """Why the model stopped, where only the messages tell it."""
    listed = sequence(parsed(answered))
    return next((text(mapping(one).get("finish_reason")) for one in listed if isinstance(one, dict)), "")
