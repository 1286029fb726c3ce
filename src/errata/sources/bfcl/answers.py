"""What a model answered: a text, calls, or for each turn a list of steps that are either."""

from collections.abc import Iterator
from typing import Any

from errata.model import Actor, Output, Step, ToolCall
from errata.sources.base import decode
from errata.sources.shared.chat import CHAT_ROLES
from errata.sources.shared.values import as_text, mapping, plain, rest, sequence, text

_ASSISTANT = Actor(role="assistant")


def output_of(result: Any, decoded: Any) -> Output:
    """`decoded` is what the harness made of it, which it keeps for what it refuses."""
    if isinstance(result, str):
        return Output(text=result, structured=plain(decoded))
    if _are_calls(result):
        return Output(structured=plain(decoded if decoded is not None else result))
    said = [step.text for step in steps_of(result) if step.text]
    return Output(text=said[-1] if said else None, extra=rest({"decoded": decoded}))


def steps_of(result: Any) -> tuple[Step, ...]:
    if isinstance(result, str):
        return ()
    turns = [(None, result)] if _are_calls(result) else list(_turns(result))
    return tuple(_step(at, turn, said) for at, (turn, said) in enumerate(turns))


def _turns(result: Any) -> Iterator[tuple[int | None, Any]]:
    for number, turn in enumerate(sequence(result)):
        for said in turn if isinstance(turn, list) and not _are_calls(turn) else [turn]:
            yield number, said


def _step(at: int, turn: int | None, said: Any) -> Step:
    calls = tuple(_call(name, given) for one in sequence(said) for name, given in mapping(one).items())
    texts = [as_text(one) for one in (said if isinstance(said, list) else [said]) if not isinstance(one, dict)]
    return Step(
        index=at,
        actor=_ASSISTANT,
        kind="tool_call" if calls else "message",
        text="\n".join(texts),
        tool_calls=calls,
        extra={} if turn is None else {"turn": turn},
    )


def _are_calls(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _call(name: str, given: Any) -> ToolCall:
    if not isinstance(given, str):
        return ToolCall(name=name, arguments=plain(given))
    try:
        return ToolCall(name=name, arguments=plain(decode(given.encode())))
    except ValueError as error:
        return ToolCall(name=name, arguments_raw=given, parse_error=str(error))


def steps_of_log(log: Any) -> tuple[Step, ...]:
    """The log of an inference, where it was asked for: a list of entries, some of them below the name of a step."""
    found: list[tuple[str, dict[str, Any]]] = []
    for part in sequence(log):
        inside = part.items() if isinstance(part, dict) and "role" not in part else [("", part)]
        for name, entries in inside:
            found += [(str(name), mapping(entry)) for entry in (entries if isinstance(entries, list) else [entries])]
    return tuple(_logged(at, name, entry) for at, (name, entry) in enumerate(found))


def _logged(at: int, name: str, entry: dict[str, Any]) -> Step:
    role = text(entry.get("role"))
    actor = Actor(role=CHAT_ROLES[role]) if role in CHAT_ROLES else Actor(role="environment", name=role)
    content = entry.get("content")
    return Step(
        index=at,
        actor=actor,
        kind="tool_result" if actor.role == "tool" else "message" if role in CHAT_ROLES else "log",
        text="" if content is None else as_text(content),
        extra=rest(entry, ("role", "content")) | ({"of": name} if name else {}),
    )
