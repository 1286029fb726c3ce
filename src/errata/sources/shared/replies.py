"""What a model was asked and what it replied, as those record it who keep the request and the reply as they were."""

from typing import Any

from errata.sources.shared.values import as_text, mapping, sequence, text


def asked_in(given: Any) -> list[Any]:
    messages = mapping(given).get("messages")
    if isinstance(messages, list):
        return messages
    return [{"role": "user", "content": as_text(given)}] if given is not None else []


def answered_in(got: Any) -> list[Any]:
    choices = [mapping(mapping(one).get("message")) for one in sequence(mapping(got).get("choices"))]
    if any(choices):
        return [{"role": "assistant"} | one for one in choices if one]
    if isinstance(got, dict) and ("content" in got or "tool_calls" in got):
        return [{"role": "assistant"} | {key: got[key] for key in ("content", "tool_calls", "role") if key in got}]
    return [{"role": "assistant", "content": as_text(got)}] if got is not None else []


def said_in(got: Any) -> str:
    """The text of a reply; of one as providers have it, that of its first message."""
    content = answered_in(got)[0].get("content")
    return content if isinstance(content, str) else as_text(got)


def stopped_in(got: Any) -> str:
    choices = [mapping(one) for one in sequence(mapping(got).get("choices"))]
    return next((text(one.get("finish_reason")) for one in choices), "") or text(mapping(got).get("stop_reason"))
