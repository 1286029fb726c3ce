"""Rows that are just as the harness writes them: decoded into their types at once, so that nothing has to be checked.

Any other row fails to decode as such and takes the long way, which gives the same records.
"""

from typing import Annotated

import msgspec

from errata.model import Actor, Step, ToolCall, ToolResult, Usage, UsageByRole
from errata.model.usage import NO_USAGE_BY_ROLE

_Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Flat = dict[str, str | _Whole | float | bool | None]

FAILED = frozenset(("error", "failed", "failure"))

_USER = Actor(role="user")
_ASSISTANT = Actor(role="assistant")


class _Strict(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What is not named here has no home on the short way."""


class Call(_Strict):
    name: str
    args: _Flat
    is_duplicate: bool = False


class Result(_Strict):
    name: str
    response: _Flat


class Tokens(_Strict):
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    total_tokens: _Count | None = None
    cache_read_input_tokens: _Count | None = None
    cache_creation_input_tokens: _Count | None = None


class UsualRow(_Strict):
    ts: str
    turn: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
    model_name: str
    user_text: str
    assistant_text: str
    tool_calls: list[Call]
    tool_results: list[Result]
    scores: dict[str, bool | None]
    judge_reasoning: str
    tokens: Tokens | None = None
    ttfb_ms: _Whole | None = None
    latency_ms: _Whole | None = None
    reconnection_count: _Count | None = None


def usual_steps(row: UsualRow) -> tuple[Step, ...] | None:
    """None where calls and results do not pair off one by one."""
    user = Step(index=0, actor=_USER, text=row.user_text)
    calls, results = row.tool_calls, row.tool_results
    if not calls and not results:
        return (user, Step(index=1, actor=_ASSISTANT, text=row.assistant_text))
    if len(calls) != len(results) or any(call.name != result.name for call, result in zip(calls, results, strict=True)):
        return None
    made = tuple([_call(call, result) for call, result in zip(calls, results, strict=True)])
    return (user, Step(index=1, actor=_ASSISTANT, text=row.assistant_text, tool_calls=made))


def usual_usage(tokens: Tokens | None) -> UsageByRole:
    if tokens is None or tokens == _NO_TOKENS:
        return NO_USAGE_BY_ROLE
    return UsageByRole(
        subject=Usage(
            input=tokens.prompt_tokens,
            output=tokens.completion_tokens,
            total=tokens.total_tokens,
            cache_read=tokens.cache_read_input_tokens,
            cache_write=tokens.cache_creation_input_tokens,
        )
    )


_NO_TOKENS = Tokens()


def _call(call: Call, result: Result) -> ToolCall:
    status = result.response.get("status")
    is_error = status in FAILED if type(status) is str else None
    return ToolCall(
        name=call.name,
        arguments=call.args,
        is_duplicate=call.is_duplicate,
        result=ToolResult(structured=result.response, is_error=is_error),
    )
