"""What a subject did: tools that it called, the turns of a conversation, the spans of a trace."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from errata.model import Actor, ErrorInfo, SourceRef, Step, ToolCall, ToolResult, Usage
from errata.model.words import ActorRole, StepKind
from errata.sources.deepeval.names import fields, objects
from errata.sources.shared.chat import CHAT_ROLES
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.values import as_text, count, known, moment, number, plain, rest, text

_TOOL = ("name", "output", "input_parameters", "reasoning")
_TURN = ("role", "content", "tools_called", "index")
_SPANS = ("base_spans", "agent_spans", "llm_spans", "retriever_spans", "tool_spans")
_SPAN = frozenset(
    ("uuid", "name", "status", "type", "parent_uuid", "start_time", "end_time", "input", "output", "error", "model",
     "input_tokens", "output_tokens")
)  # fmt: skip
_KINDS: dict[str, StepKind] = {"llm": "model_call", "tool": "tool_call", "retriever": "tool_result"}
_ROLES: dict[str, ActorRole] = {"tool": "tool", "retriever": "tool"}


def steps_of(case: dict[str, Any], ref: SourceRef) -> tuple[Step, ...]:
    made = [*_turns(case, ref), *_tools(case), *_spans(fields(case.get("trace")), ref.below("trace"))]
    return tuple(replace(step, index=at) for at, step in enumerate(made))


def answer_of(turns: list[dict[str, Any]]) -> str | None:
    """What the assistant said last in a conversation."""
    said = [one.get("content") for one in turns if one.get("role") == "assistant"]
    return as_text(said[-1]) if said and said[-1] is not None else None


def trace_error(trace: dict[str, Any], ref: SourceRef) -> ErrorInfo | None:
    """Of a trace that ended in one: the error of the span that it came from, which is the innermost."""
    if trace.get("status") != "ERRORED":
        return None
    errors = [step.error for step in _spans(trace, ref) if step.error]
    return errors[-1] if errors else ErrorInfo(type="error", message="", phase="subject", ref=ref.below("status"))


def _turns(case: dict[str, Any], ref: SourceRef) -> Iterator[Step]:
    for at, turn in enumerate(objects(case.get("turns"))):
        calls = tuple(call_of(one) for one in objects(turn.get("tools_called")))
        content = turn.get("content")
        yield Step(
            index=at,
            actor=Actor(role=CHAT_ROLES.get(text(turn.get("role")), "environment")),
            kind="tool_call" if calls else "message",
            text="" if content is None else as_text(content),
            tool_calls=calls,
            ref=ref.below("turns", at),
            extra=rest(turn, _TURN) | known(order=turn["index"] if turn.get("index") not in (None, at) else None),
        )


def _tools(case: dict[str, Any]) -> Iterator[Step]:
    for one in objects(case.get("tools_called")):
        call = call_of(one)
        yield Step(
            index=0,
            actor=Actor(role="assistant"),
            kind="tool_call",
            reasoning=text(one.get("reasoning")),
            tool_calls=(call,),
        )


def call_of(tool: dict[str, Any]) -> ToolCall:
    output = tool.get("output")
    return ToolCall(
        name=text(tool.get("name")),
        arguments=plain(tool.get("input_parameters")),
        result=None if output is None else ToolResult(text=as_text(output)),
        extra=rest(tool, _TOOL),
    )


def _spans(trace: dict[str, Any], ref: SourceRef) -> list[Step]:
    """In the order in which they began."""
    found = [_span(one, ref) for kind in _SPANS for one in objects(trace.get(kind))]
    return sorted(found, key=lambda step: step.started_at or "")


def _span(span: dict[str, Any], ref: SourceRef) -> Step:
    kind, output, broke = text(span.get("type")), span.get("output"), text(span.get("error"))
    read, written = count(span.get("input_tokens")), count(span.get("output_tokens"))
    return Step(
        index=0,
        actor=Actor(role=_ROLES.get(kind, "assistant"), name=text(span.get("name"))),
        kind=_KINDS.get(kind, "message"),
        text="" if output is None else as_text(output),
        error=error_of(raised_as(broke), "subject", ref=ref) if broke else None,
        usage=None if read is None and written is None else Usage(input=read, output=written),
        started_at=moment(span.get("start_time")),
        ended_at=moment(span.get("end_time")),
        model=text(span.get("model")),
        span_id=text(span.get("uuid")),
        extra=rest(span, _SPAN) | known(input=span.get("input"), parent=span.get("parent_uuid"), type=kind),
    )


def cost_of(case: dict[str, Any]) -> Usage:
    """What the subject itself took."""
    spent = number(case.get("token_cost"))
    return Usage(
        input=count(case.get("input_tokens")),
        output=count(case.get("output_tokens")),
        cost=spent,
        cost_source="unknown" if spent is None else "reported",
    )
