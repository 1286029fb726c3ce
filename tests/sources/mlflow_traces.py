"""Traces of MLflow for tests; a test says only what matters to it."""

import json
from pathlib import Path
from typing import Any

RUN = "0" * 32


def feedback(name: str, value: Any = None, **more: Any) -> dict[str, Any]:
    result = {"value": value} | ({"error": more.pop("error")} if "error" in more else {})
    source = {"source_type": more.pop("kind", "CODE"), "source_id": name}
    return {"assessment_id": f"a-{name}", "assessment_name": name, "source": source, "feedback": result} | more


def span(number: int, kind: str, given: Any = None, got: Any = None, *, parent: int = 0, **more: Any) -> dict[str, Any]:
    result = {"mlflow.spanType": kind, "mlflow.spanInputs": given, "mlflow.spanOutputs": got} | more.pop("told", {})
    made: dict[str, Any] = {
        "span_id": f"{number:016x}",
        "parent_span_id": f"{parent:016x}" if parent else None,
        "name": f"span {number}",
        "start_time_unix_nano": 1794770653000000000 + number * 1_000_000,
        "end_time_unix_nano": 1794770654000000000,
        "events": [],
        "status": {"code": "STATUS_CODE_OK", "message": ""},
        "attributes": {key: json.dumps(value) for key, value in result.items() if value is not None},
    }
    return made | more


def trace(*assessments: dict[str, Any], spans: list[dict[str, Any]] | None = None, **info: Any) -> dict[str, Any]:
    result = {"trace_id": f"tr-{1:032x}", "request_time": "2026-11-15T19:26:39.702Z", "state": "OK"}
    result |= {"trace_metadata": {"mlflow.sourceRun": RUN}, "assessments": list(assessments)} | info
    return {"info": result, "data": {"spans": spans or [span(1, "CHAIN", {"q": "Q"}, "A")]}}


def written(folder: Path, *traces: dict[str, Any], **metrics: float) -> Path:
    (folder / "traces.json").write_text(json.dumps(list(traces)))
    if metrics:
        result = {name.replace("__", "/"): value for name, value in metrics.items()}
        (folder / "summary.json").write_text(json.dumps({"metrics": result, "run_id": RUN}))
    return folder
