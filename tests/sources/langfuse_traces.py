"""Traces of Langfuse for tests, as its API gives them; a test says only what matters to it."""

from typing import Any


def observation(ident: str, *, parent: str | None = None, at: int = 0, **more: Any) -> dict[str, Any]:
    made = {
        "id": ident,
        "traceId": "t-1",
        "type": "GENERATION",
        "name": ident,
        "startTime": f"2026-03-04T10:00:{at:02}.000Z",
        "endTime": f"2026-03-04T10:00:{at + 1:02}.000Z",
        "parentObservationId": parent,
        "level": "DEFAULT",
        "input": [{"role": "user", "content": "Q"}],
        "output": "A",
    }
    return made | more


def score(name: str, value: Any, kind: str = "NUMERIC", **more: Any) -> dict[str, Any]:
    made = {"id": f"s-{name}", "traceId": "t-1", "name": name, "value": value, "dataType": kind, "source": "EVAL"}
    return made | more


def trace(*scores: dict[str, Any], **more: Any) -> dict[str, Any]:
    made = {"id": "t-1", "timestamp": "2026-03-04T10:00:00.000Z", "sessionId": None, "userId": None, "input": "Q"}
    return made | {"observations": [], "scores": list(scores)} | more
