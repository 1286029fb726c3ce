"""Traces for tests, as an exporter writes them in JSON; a test says only what matters to it."""

import json
from pathlib import Path
from typing import Any

TRACE = "0123456789abcdef0123456789abcdef"


def typed(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(one) for one in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": attributes(value)}}
    return {"stringValue": value}


def attributes(told: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": typed(value)} for key, value in told.items()]


def event(name: str, **told: Any) -> dict[str, Any]:
    named = {key.replace("__", "."): value for key, value in told.items()}
    return {"name": name, "timeUnixNano": "1794770653000000000", "attributes": attributes(named)}


def evaluation(**told: Any) -> dict[str, Any]:
    return event("gen_ai.evaluation.result", **{f"gen_ai__evaluation__{key}": value for key, value in told.items()})


def span(number: int, told: dict[str, Any] | None = None, *, parent: int = 0, **more: Any) -> dict[str, Any]:
    """Spans begin in the order of their numbers."""
    made = {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": f"span {number}",
        "startTimeUnixNano": str(1794770653000000000 + number * 1_000_000),
        "endTimeUnixNano": str(1794770654000000000 + number * 1_000_000),
        "attributes": attributes(told or {}),
        "status": {},
    }
    return made | more


def chat(number: int, said: str, *asked: Any, parent: int = 1, **more: Any) -> dict[str, Any]:
    messages = [one if isinstance(one, dict) else message("user", one) for one in asked]
    page = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "nimbus-2",
        "gen_ai.input.messages": json.dumps(messages),
        "gen_ai.output.messages": json.dumps([message("assistant", said)]),
    }
    return span(number, page | more.pop("told", {}), parent=parent, **more)


def message(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": one} if isinstance(one, str) else one for one in parts]}


def batch(*spans: dict[str, Any], **resource: Any) -> dict[str, Any]:
    result = {"attributes": attributes({"service.name": "desk"} | resource)}
    return {"resourceSpans": [{"resource": result, "scopeSpans": [{"scope": {"name": "t"}, "spans": list(spans)}]}]}


def document(folder: Path, *spans: dict[str, Any], **resource: Any) -> Path:
    path = folder / "traces.json"
    path.write_text(json.dumps(batch(*spans, **resource), indent=1))
    return path
