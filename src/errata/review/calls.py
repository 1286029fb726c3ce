"""Tool calls and their results as text, and which of them went wrong."""

import json
import re
from collections.abc import Iterable
from typing import Any

from errata.model import Attempt, Step, ToolCall, ToolResult

_ABOUT_TOOLS = re.compile(r"(?i)tool|function|\bcall|\bargument")


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def as_text(value: Any) -> str:
    """A text as it is; messages with who says what; anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, dict) and "content" in one for one in value):
        return "\n".join(f"{one.get('role', '')}: {as_text(one['content'])}" for one in value)
    return as_json(value)


def calls_made(steps: Iterable[Step]) -> list[dict[str, Any]]:
    return [_made(call) for step in steps for call in step.tool_calls]


def results_got(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """What came back, also where no call is known that it answers."""
    got = []
    for step in steps:
        got += [_got(call) for call in step.tool_calls if call.result is not None or call.error is not None]
        if step.kind == "tool_result" and step.actor.role == "tool":
            parts = [part["response"] for part in step.parts if "response" in part]
            got.append({"name": step.actor.name, "response": parts[0] if parts else step.text})
    return got


def went_wrong(call: ToolCall) -> bool:
    if call.error is not None or call.parse_error:
        return True
    return call.result is not None and (call.result.is_error is True or call.result.exit_code not in (None, 0))


def is_tool_failure(attempt: Attempt) -> bool:
    """A call went wrong, or what failed is about tools: then every call and result has to be read."""
    if any(went_wrong(call) for step in attempt.steps for call in step.tool_calls):
        return True
    failed = [check for check in attempt.checks if check.failed]
    told = [judgement.reasoning for judgement in attempt.judgements] if failed else []
    return any(_ABOUT_TOOLS.search(text) for text in (*(check.name for check in failed), *told))


def call_lines(call: ToolCall) -> str:
    """A call with its result, as a transcript shows them."""
    given = call.arguments_raw if call.arguments is None else as_text(call.arguments)
    lines = [f"→ {call.name} {given}".rstrip()]
    if call.parse_error:
        lines.append(f"← not understood: {call.parse_error}")
    if call.error is not None:
        lines.append(f"← {call.error.type}: {call.error.message}")
    if call.result is not None:
        code = f"(exit {call.result.exit_code}) " if call.result.exit_code is not None else ""
        lines.append(f"← {code}{_answer(call.result)}".rstrip())
    return "\n".join(lines)


def _answer(result: ToolResult) -> str:
    return result.text if result.structured is None else as_text(result.structured)


def _made(call: ToolCall) -> dict[str, Any]:
    made: dict[str, Any] = {"name": call.name, "args": call.arguments if call.arguments is not None else {}}
    if call.arguments_raw:
        made["args"] = call.arguments_raw
    if call.is_duplicate:
        made["is_duplicate"] = True
    if call.id:
        made["id"] = call.id
    if call.parse_error:
        made["parse_error"] = call.parse_error
    return made


def _got(call: ToolCall) -> dict[str, Any]:
    got: dict[str, Any] = {"name": call.name}
    if call.result is not None:
        got["response"] = call.result.text if call.result.structured is None else call.result.structured
        if call.result.exit_code is not None:
            got["exit_code"] = call.result.exit_code
    if call.error is not None:
        got["error"] = f"{call.error.type}: {call.error.message}"
    return got
