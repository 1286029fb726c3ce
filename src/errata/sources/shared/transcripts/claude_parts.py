"""The parts of a message of Claude Code: texts, thoughts, calls, and what they used."""

from typing import Any

from errata.model import Actor, ToolCall, Usage
from errata.sources.shared.values import as_text, count, mapping, plain, sequence, text

READ = ("text", "thinking", "redacted_thinking", "tool_use", "tool_result")


def actor_of(role: str, line: dict[str, Any]) -> Actor:
    name = text(line.get("agentId")) if line.get("isSidechain") is True else ""
    if role == "assistant":
        return Actor(role="assistant", name=name)
    return Actor(role="user" if role == "user" else "environment", name=name)


def call_of(part: dict[str, Any]) -> ToolCall:
    return ToolCall(name=text(part.get("name")), id=text(part.get("id")), arguments=plain(part.get("input")))


def words_of(content: Any) -> str:
    if not isinstance(content, list):
        return content if isinstance(content, str) else "" if content is None else as_text(content)
    return "\n".join(text(mapping(part).get("text")) for part in content if mapping(part).get("type") == "text")


def other_parts(content: Any) -> int | None:
    """How many parts of a result are no text."""
    return sum(mapping(part).get("type") != "text" for part in sequence(content)) or None


def total_usage(usages: dict[str, dict[str, Any]], costs: dict[str, float]) -> Usage:
    """Of all answers, each told once. The tokens of the input are those that no cache held."""

    def total(key: str) -> int | None:
        found = [value for used in usages.values() if (value := count(used.get(key))) is not None]
        return sum(found) if found else None

    cost = sum(costs.values()) if costs else None
    return Usage(
        input=total("input_tokens"),
        output=total("output_tokens"),
        cache_write=total("cache_creation_input_tokens"),
        cache_read=total("cache_read_input_tokens"),
        requests=len(usages) or None,
        cost=cost,
        cost_source="unknown" if cost is None else "reported",
        includes_cache=False,
    )
