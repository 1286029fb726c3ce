"""The messages and tool calls of one turn → steps."""

from collections import defaultdict, deque
from itertools import count
from typing import Any

from errata.model import Actor, Step, ToolCall, ToolResult, Usage, UsageByRole
from errata.model.usage import NO_USAGE_BY_ROLE
from errata.sources.base import decode
from errata.sources.conversation_bench.layout import count as whole_number
from errata.sources.conversation_bench.layout import number
from errata.sources.shared.values import plain, text

_USER = Actor(role="user")
_ASSISTANT = Actor(role="assistant")
_CALL_FIELDS = frozenset(("name", "args", "is_duplicate", "id"))
_Records = list[dict[str, Any]]
FAILED = frozenset(("error", "failed", "failure"))


def steps_of(row: dict[str, Any]) -> tuple[Step, ...]:
    user = Step(index=0, actor=_USER, text=text(row.get("user_text")))
    answer = text(row.get("assistant_text"))
    calls, results = _records(row.get("tool_calls")), _records(row.get("tool_results"))
    if not calls and not results:
        return (user, Step(index=1, actor=_ASSISTANT, text=answer))
    answers, left = _paired(calls, results)
    tool_calls = tuple(map(_call, calls, answers))
    return (
        user,
        Step(index=1, actor=_ASSISTANT, text=answer, tool_calls=tool_calls),
        *map(_without_call, count(2), left),
    )


def _records(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if type(item) is dict] if value and type(value) is list else []


def _paired(calls: _Records, results: _Records) -> tuple[list[dict[str, Any] | None], _Records]:
    """The result of each call, matched by name and order, and the results without a call."""
    names = [call.get("name") for call in calls]
    if names == [result.get("name") for result in results]:
        return [*results], []
    waiting: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
    for result in results:
        waiting[text(result.get("name"))].append(result)
    queues = [waiting.get(text(name)) for name in names]
    answers = [queue.popleft() if queue else None for queue in queues]
    return answers, [result for queue in waiting.values() for result in queue]


def _result(response: Any) -> ToolResult:
    if type(response) is str:
        return ToolResult(text=response)
    status = response.get("status") if type(response) is dict else None
    return ToolResult(structured=plain(response), is_error=status in FAILED if type(status) is str else None)


def _call(call: dict[str, Any], result: dict[str, Any] | None) -> ToolCall:
    args = call.get("args")
    arguments, raw, problem = _parsed(args) if type(args) is str else (plain(args), "", "")
    return ToolCall(
        name=text(call.get("name")),
        id=text(call.get("id")),
        arguments=arguments,
        arguments_raw=raw,
        parse_error=problem,
        is_duplicate=call.get("is_duplicate") is True,
        result=None if result is None else _result(result.get("response")),
        extra={}
        if _CALL_FIELDS.issuperset(call)
        else {key: plain(call[key]) for key in call if key not in _CALL_FIELDS},
    )


def _parsed(args: str) -> tuple[Any, str, str]:
    try:
        return plain(decode(args.encode())), "", ""
    except ValueError as error:
        return None, args, str(error)


def _without_call(index: int, record: dict[str, Any]) -> Step:
    result = _result(record.get("response"))
    return Step(
        index=index,
        actor=Actor(role="tool", name=text(record.get("name"))),
        kind="tool_result",
        text=result.text,
        parts=() if result.structured is None else ({"response": result.structured},),
    )


_TOKENS = frozenset(
    (
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    )
)
MEASURED = (("ttfb", "ttfb_ms"), ("latency", "latency_ms"))


def usage_of(tokens: Any) -> UsageByRole:
    if type(tokens) is not dict or not tokens:
        return NO_USAGE_BY_ROLE
    get = tokens.get
    usage = Usage(
        input=whole_number(get("prompt_tokens")),
        output=whole_number(get("completion_tokens")),
        total=whole_number(get("total_tokens")),
        cache_read=whole_number(get("cache_read_input_tokens")),
        cache_write=whole_number(get("cache_creation_input_tokens")),
        extra={} if _TOKENS.issuperset(tokens) else {key: plain(tokens[key]) for key in tokens if key not in _TOKENS},
    )
    return UsageByRole(subject=usage)


def durations_of(data: dict[str, Any]) -> dict[str, float]:
    durations = {}
    for name, key in MEASURED:
        milliseconds = number(data.get(key))
        if milliseconds is not None:
            durations[name] = milliseconds / 1000
    return durations
