"""Steps of a transcript and their tool calls as text: which of them went wrong, and which matter."""

from collections.abc import Iterable
from typing import Any

from errata.model import Attempt, Check, Step, ToolCall, ToolResult
from errata.text.lazy_regex import lazy_regex
from errata.transcript.tool_use import as_json

INPUT = "input"
"""The type of a part with the messages that a model saw at this step."""
_ABOUT_TOOLS = lazy_regex(r"(?i)tool|function|\bcall|\bargument")
LAST = 3
FIRST = 4
"""Of those that went wrong: what came later may only follow."""
LOOKED_FOR = 4
MATTERING = 24
"""Steps that matter, at most: those near the end come first."""
WANTED = 400
"""Steps that may get room beside these; more than a packet holds."""


def as_text(value: Any) -> str:
    """A text unchanged; messages with their roles; anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, dict) and "content" in one for one in value):
        return "\n".join(f"{one.get('role', '')}: {as_text(one['content'])}" for one in value)
    return as_json(value)


def calls_made(steps: Iterable[Step]) -> list[dict[str, Any]]:
    return [_call_fields(call) for step in steps for call in step.tool_calls]


def results_got(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """What came back, even if no call is known that it answers."""
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
    """A call went wrong, or the failure is about tools: then every call and result matters."""
    if any(went_wrong(call) for step in attempt.steps for call in step.tool_calls):
        return True
    failed = [check for check in attempt.checks if check.failed]
    reasons = [judgement.reasoning for judgement in attempt.judgements] if failed else []
    return any(_ABOUT_TOOLS.search(text) for text in (*(check.name for check in failed), *reasons))


def call_lines(call: ToolCall) -> str:
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


def _call_fields(call: ToolCall) -> dict[str, Any]:
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


def step_text(step: Step, before: Step | None = None) -> str:
    """Who did what, and what came back. Reasoning that the step before had already is not repeated."""
    parts = [f"{step.speaker}: {step.text}".rstrip()] if step.text or not step.tool_calls else [f"{step.speaker}:"]
    parts += [f"(input) {as_text(part['messages'])}" for part in step.parts if part.get("type") == INPUT]
    if step.reasoning.strip() and (before is None or before.reasoning != step.reasoning):
        parts.append(f"(reasoning) {step.reasoning}")
    parts += [call_lines(call) for call in step.tool_calls]
    if step.error is not None:
        parts.append(f"{step.error.type}: {step.error.message}")
    return "\n".join(parts)


def is_system_prompt(step: Step) -> bool:
    return step.actor.role == "system" and bool(step.text.strip()) and not step.tool_calls


def is_broken(step: Step) -> bool:
    return step.error is not None or any(went_wrong(call) for call in step.tool_calls)


def mattering(attempt: Attempt, needles: Iterable[str], flagged: Iterable[int] = ()) -> list[int]:
    """Positions of the steps where the failure shows, in order; `flagged` are positions, too."""
    steps = attempt.steps
    named = {check.step for check in attempt.checks if _counts_against(check)} - {None}
    wanted = list(needles)[:LOOKED_FOR]
    last = range(max(len(steps) - LAST, 0), len(steps))
    broken = [at for at, step in enumerate(steps) if is_broken(step) or step.index in named]
    speaking = [at for at, step in enumerate(steps) if _speaks_of(step, wanted)]
    chosen = dict.fromkeys([*last, *flagged, *broken[:FIRST], *reversed(broken), *reversed(speaking)])
    return sorted(list(chosen)[:MATTERING])


def by_relevance(positions: Iterable[int], count: int) -> list[int]:
    """All other positions: those near one that matters first, else those near the beginning or the end."""
    known = sorted(set(positions) | {0, count - 1})
    distance = [count] * count
    for at in known:
        distance[at] = 0
    for at in range(1, count):
        distance[at] = min(distance[at], distance[at - 1] + 1)
    for at in range(count - 2, -1, -1):
        distance[at] = min(distance[at], distance[at + 1] + 1)
    taken = set(positions)
    return sorted((at for at in range(count) if at not in taken), key=lambda at: (distance[at], at))


def _counts_against(check: Check) -> bool:
    return check.status in ("fail", "error") and check.step is not None


def _speaks_of(step: Step, needles: list[str]) -> bool:
    texts = [step.text, *(call.result.text for call in step.tool_calls if call.result is not None)]
    return any(needle in text for needle in needles for text in texts)
