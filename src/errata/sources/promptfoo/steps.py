"""The conversation: prompt and answer, the history of several turns and red teams, and traced spans."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from errata.model import Actor, ErrorInfo, Step, ToolCall
from errata.model.words import ActorRole, StepKind
from errata.sources.base import decode
from errata.sources.promptfoo.values import as_text, moment, rest
from errata.sources.shared.chat import CHAT_ROLES
from errata.sources.shared.values import mapping, plain, sequence, text

HISTORIES = ("messages", "redteamHistory", "redteamTreeHistory")
_MEDIA = ("audio", "images", "video")
_MESSAGE = ("role", "content", "name", "tool_calls", "reasoning", "reasoning_content")
_TURN = ("prompt", "output", "trace")
_KNOWN = ("spanId", "parentSpanId", "name", "startTime", "endTime", "status")


def steps_of(row: dict[str, Any]) -> tuple[Step, ...]:
    """The history if there is one, otherwise the prompt and the answer; then the traced spans."""
    response = mapping(row.get("response"))
    metadata = mapping(response.get("metadata"))
    history = next((turns for key in HISTORIES if (turns := sequence(metadata.get(key)))), None)
    if history is not None:
        steps = list(_turns(history))
    else:
        steps = [*_prompt_steps(mapping(row.get("prompt")).get("raw")), *_answer_steps(response)]
    steps = list(_number_steps(steps))
    traces = [metadata.get("trace") or mapping(row.get("metadata")).get("trace")]
    for trace in [*traces, *(mapping(turn).get("trace") for turn in history or ())]:
        steps += steps_of_trace(mapping(trace), len(steps))
    return tuple(steps)


def has_history(row: dict[str, Any]) -> bool:
    metadata = mapping(mapping(row.get("response")).get("metadata"))
    return any(sequence(metadata.get(key)) for key in HISTORIES)


def _number_steps(steps: Iterable[Step]) -> Iterator[Step]:
    """Numbers the steps, and puts each tool result below its call."""
    calls: dict[str, int] = {}
    for index, step in enumerate(steps):
        calls |= {call.id: index for call in step.tool_calls if call.id}
        answers = step.extra.get("tool_call_id")
        yield replace(step, index=index, parent=calls.get(answers) if isinstance(answers, str) else None)


def _prompt_steps(raw: Any) -> Iterator[Step]:
    messages = _messages(raw)
    if messages is not None:
        yield from map(_message, messages)
    elif raw is not None:
        yield Step(index=0, actor=Actor(role="user"), text=as_text(raw))


def _messages(raw: Any) -> list[dict[str, Any]] | None:
    """A chat is stored as JSON in the prompt's text."""
    if isinstance(raw, str):
        if raw.lstrip()[:1] not in ("[", "{"):
            return None
        try:
            raw = decode(raw.encode())
        except ValueError:
            return None
    listed = raw if isinstance(raw, list) else mapping(raw).get("messages")
    if not isinstance(listed, list) or not listed:
        return None
    return listed if all(isinstance(one, dict) and isinstance(one.get("role"), str) for one in listed) else None


def _message(message: dict[str, Any]) -> Step:
    content = message.get("content")
    role = CHAT_ROLES.get(text(message.get("role")).lower(), "environment")
    parts = [part for part in sequence(content) if not _is_text(part)]
    texts = (
        [_part_text(part) for part in sequence(content) if _is_text(part)] if isinstance(content, list) else [content]
    )
    calls = _calls(message.get("tool_calls"))
    return Step(
        index=0,
        actor=Actor(role=role, name=text(message.get("name"))),
        kind="tool_call" if calls else "tool_result" if role == "tool" else "message",
        text="\n".join(as_text(one) for one in texts if one is not None),
        parts=tuple(plain(part) if isinstance(part, dict) else {"value": plain(part)} for part in parts),
        reasoning=text(message.get("reasoning_content")) or text(message.get("reasoning")),
        tool_calls=calls,
        extra=rest(message, _MESSAGE) | ({"role": message["role"]} if role == "environment" else {}),
    )


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or (isinstance(part, dict) and isinstance(part.get("text"), str) and len(part) <= 2)


def _part_text(part: Any) -> str:
    return part if isinstance(part, str) else text(part.get("text"))


def _calls(listed: Any) -> tuple[ToolCall, ...]:
    return tuple(_call(call) for call in sequence(listed) if isinstance(call, dict))


def _call(call: dict[str, Any]) -> ToolCall:
    function = mapping(call.get("function")) or call
    raw = next((function[key] for key in ("arguments", "args", "input") if function.get(key) is not None), None)
    ident, name = text(call.get("id")) or text(call.get("call_id")), text(function.get("name"))
    if not isinstance(raw, str):
        return ToolCall(id=ident, name=name, arguments=plain(raw))
    try:
        return ToolCall(id=ident, name=name, arguments=plain(decode(raw.encode())))
    except ValueError as error:
        return ToolCall(id=ident, name=name, arguments_raw=raw, parse_error=str(error))


def _answer_steps(response: dict[str, Any]) -> Iterator[Step]:
    output = response.get("output")
    media = tuple({key: plain(response[key])} for key in _MEDIA if response.get(key))
    if output is None and not media:
        return
    listed = output if isinstance(output, list) else mapping(output).get("tool_calls")
    calls = _calls(listed) if _are_calls(listed) else ()
    content = mapping(output).get("content") if calls else output
    yield Step(
        index=0,
        actor=Actor(role="assistant"),
        kind="tool_call" if calls else "message",
        text=as_text(content) if content is not None else "",
        parts=media,
        reasoning=text(response.get("reasoning")),
        tool_calls=calls,
    )


def _are_calls(listed: Any) -> bool:
    return bool(sequence(listed)) and all(
        mapping(call).get("function") or mapping(call).get("type") in ("function", "function_call", "tool_use")
        for call in sequence(listed)
    )


def _turns(history: list[Any]) -> Iterator[Step]:
    """Messages, or the prompts and replies of a red team with the score of each try."""
    for turn in history:
        if not isinstance(turn, dict):
            yield Step(index=0, actor=Actor(role="environment"), kind="log", text=as_text(turn))
        elif "role" in turn:
            yield _message(turn)
        else:
            if turn.get("prompt") is not None:
                yield Step(index=0, actor=Actor(role="simulator", name="red team"), text=as_text(turn["prompt"]))
            reply = as_text(turn["output"]) if turn.get("output") is not None else ""
            yield Step(index=0, actor=Actor(role="assistant"), text=reply, extra=rest(turn, _TURN))


def steps_of_trace(trace: dict[str, Any], start: int) -> Iterator[Step]:
    spans = [span for span in sequence(trace.get("spans")) if isinstance(span, dict)]
    places = {text(span.get("spanId")): start + at for at, span in enumerate(spans)}
    for at, span in enumerate(spans):
        kind, role = _kind(span)
        yield Step(
            index=start + at,
            actor=Actor(role=role),
            kind=kind,
            parent=places.get(text(span.get("parentSpanId"))),
            text=text(span.get("name")),
            error=_error(span),
            started_at=moment(span.get("startTime")),
            ended_at=moment(span.get("endTime")),
            model=text(mapping(span.get("attributes")).get("gen_ai.request.model")),
            span_id=text(span.get("spanId")),
            extra=rest(span, _KNOWN),
        )


def _kind(span: dict[str, Any]) -> tuple[StepKind, ActorRole]:
    names = [text(span.get("name")), *mapping(span.get("attributes"))]
    if any(name.startswith(("tool.", "gen_ai.tool.", "execute_tool")) for name in names):
        return "tool_call", "tool"
    if any(name.startswith(("llm.", "gen_ai.")) for name in names):
        return "model_call", "assistant"
    return "log", "environment"


def _error(span: dict[str, Any]) -> ErrorInfo | None:
    status = mapping(span.get("status"))
    code = status.get("code", span.get("statusCode"))
    if code not in (2, "error", "ERROR"):
        return None
    message = text(status.get("message")) or text(span.get("statusMessage"))
    return ErrorInfo(type="span_error", message=message, derived=("type",))
