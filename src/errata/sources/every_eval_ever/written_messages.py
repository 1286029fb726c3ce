"""Steps → messages, which have a role and a text, calls of tools with arguments of text, and answers to these."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from errata.model import Attempt, Step, ToolCall
from errata.sources.shared.values import as_text

_SPOKEN = frozenset(("message", "model_call", "tool_call", "tool_result", "handoff"))


def messages_of(attempt: Attempt, losses: Counter[str]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for step in attempt.steps:
        if step.kind not in _SPOKEN or step.actor.role == "judge":
            losses["steps that are no messages"] += 1
            continue
        losses["contents that are no text"] += len(step.parts)
        made += _of_step(step)
    return [{"turn_idx": at, **message} for at, message in enumerate(made)]


def _of_step(step: Step) -> Iterator[dict[str, Any]]:
    calls = [(call.id or f"call_{step.index}_{at}", call) for at, call in enumerate(step.tool_calls)]
    answers = step.extra.get("tool_call_id")
    yield {
        "role": step.actor.role,
        "content": step.text,
        "reasoning_trace": step.reasoning or None,
        "tool_calls": [_call(ident, call) for ident, call in calls] or None,
        "tool_call_id": [answers] if isinstance(answers, str) else None,
    }
    for ident, call in calls:
        said = call.result.text if call.result else call.error.message if call.error else None
        if said is not None:
            yield {"role": "tool", "content": said, "tool_call_id": [ident]}


def _call(ident: str, call: ToolCall) -> dict[str, Any]:
    given = call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments or call.arguments_raw}
    return {"id": ident, "name": call.name, "arguments": {key: as_text(one) for key, one in given.items()}}
