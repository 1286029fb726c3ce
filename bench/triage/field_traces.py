"""Traces, for the part `field`: MLflow, Langfuse and OpenTelemetry."""

import json
from pathlib import Path
from typing import Any

from bench.triage.log_content import LogContent, Thrown, harness
from bench.triage.logs import Target, changed

PLACES = ("call", "cell", "mid_call", "world", "recovered", "tool_output", "tool_error", "judge_reasoning",
          "answer", "case_input")  # fmt: skip


def mlflow(root: Path, content: LogContent) -> Target:
    with changed(root / "traces.json") as traces:
        trace = next(trace for trace in traces if trace["info"]["state"] == "ERROR")
        passed = next(one for one in traces if '"2+2"' in json.dumps(one["data"]).replace("\\", ""))
        traces[:] = [trace, passed]
        for assessment in trace["info"]["assessments"]:
            if assessment["assessment_name"] == "exact":
                assessment["rationale"] = content.reason or "not as expected"
                if content.broken:
                    stack = {"error_code": "SCORER_ERROR", "error_message": content.broken.text}
                    assessment["feedback"] = {"value": None, "error": stack | {"stack_trace": content.broken.stack()}}
            if "expectation" in assessment:
                assessment["expectation"]["value"] = content.expected
        trace["data"]["spans"][:] = _mlflow_spans(trace, trace["data"]["spans"][0], content)
        trace["info"]["state"] = "ERROR" if content.thrown else "OK"
    return Target("*")


def _mlflow_spans(trace: dict[str, Any], span: dict[str, Any], content: LogContent) -> list[dict[str, Any]]:
    asked = json.dumps({"messages": [{"role": "user", "content": content.question}]})
    trace["info"]["trace_metadata"]["mlflow.traceInputs"] = asked
    trace["info"]["trace_metadata"]["mlflow.traceOutputs"] = json.dumps(content.answer)
    answered = {
        "choices": [{"message": {"role": "assistant", "content": content.answer}, "finish_reason": content.stop}]
    }
    span["attributes"]["mlflow.spanInputs"] = asked
    if content.thrown:
        span.update(
            status={"code": "STATUS_CODE_ERROR", "message": content.thrown.line}, events=[_raised(content.thrown)]
        )
        return [span]
    span["attributes"]["mlflow.spanOutputs"] = json.dumps(answered)
    span.update(status={"code": "STATUS_CODE_OK", "message": ""}, events=[])
    if not content.tool and not content.recovered:
        return [span]
    lines = {"parent_span_id": span["span_id"], "start_time_unix_nano": span["start_time_unix_nano"] + 1}
    kind = {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": "{}", "mlflow.spanOutputs": json.dumps(content.tool)}
    below = span | lines | {"span_id": "p7I7Ke74TqY=", "name": "lookup", "attributes": kind}
    if content.recovered:
        failed = {"code": "STATUS_CODE_ERROR", "message": content.recovered.line}
        below.update(status=failed, events=[_raised(content.recovered)], name="first try")
        below["attributes"] = {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanInputs": asked}
    return [span, below]


def _raised(thrown: Thrown) -> dict[str, Any]:
    attributes = {
        "exception.message": thrown.text,
        "exception.type": thrown.type,
        "exception.stacktrace": thrown.stack(),
    }
    return {"name": "exception", "time_unix_nano": 1794770799691159552, "attributes": attributes}


def langfuse(root: Path, content: LogContent) -> Target:
    """It has no place for a judge that broke, and none for why an answer ended."""
    with changed(root / "traces.json") as document:
        trace = next(trace for trace in document["data"] if trace["id"] == "t-2")
        (observation,) = trace["observations"]
        trace.update(input={"question": content.question}, output=None)
        trace["scores"][0].update(source="EVAL" if content.reason else "API", comment=content.reason or None)
        answer = {"role": "assistant", "content": content.answer}
        observation.update(input=[{"role": "user", "content": content.question}], output=answer)
        if content.thrown:
            observation.update(level="ERROR", statusMessage=content.thrown.line, output=None)
        if content.tool or content.recovered:
            before = {"id": "o-9", "startTime": "2026-03-04T09:59:00.000Z", "endTime": "2026-03-04T09:59:01.000Z"}
            line = content.recovered.line if content.recovered else None
            level = "ERROR" if content.recovered else "DEFAULT"
            kind = "GENERATION" if content.recovered else "TOOL"
            first = (
                observation
                | before
                | {"type": kind, "level": level, "statusMessage": line, "output": content.tool or None}
            )
            trace["observations"] = [first, observation]
    with changed(root / "items.json") as items:
        item = next(item for item in items["data"] if item["id"] == "i-2")
        item.update(input={"question": content.question}, expectedOutput=content.expected)
    return Target("i-2")


def otlp(root: Path, content: LogContent) -> Target:
    with changed(root) as document:
        spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
        plan, tool, reply, agent = spans
        question = [{"role": "user", "parts": [{"type": "text", "content": content.question}]}]
        answer = [{"role": "assistant", "parts": [{"type": "text", "content": content.answer}]}]
        _set(plan, "gen_ai.input.messages", json.dumps(question))
        _set(reply, "gen_ai.output.messages", json.dumps(answer))
        if content.stop:
            _set(reply, "gen_ai.response.finish_reasons", [content.stop])
        tool.update(status={}, events=[])
        tool["attributes"] = [one for one in tool["attributes"] if one["key"] != "error.type"]
        _set(tool, "gen_ai.tool.call.result", content.tool or "no such order")
        verdict = reply["events"][0]
        _set(verdict, "gen_ai.evaluation.explanation", content.reason or "did not refund")
        if content.broken:
            verdict["attributes"] = []
            _set(verdict, "gen_ai.evaluation.name", "correctness")
            _set(verdict, "error.type", content.broken.type)
            _set(verdict, "gen_ai.evaluation.explanation", content.broken.text)
        if content.recovered:
            _fail(plan, content.recovered)
        if content.thrown:
            spans[:] = [plan, tool, agent]
            _fail(agent, content.thrown)
            agent["events"].append(verdict)
    return Target("*")


def _fail(span: dict[str, Any], thrown: Thrown) -> None:
    attributes = {
        "exception.type": thrown.type,
        "exception.message": thrown.text,
        "exception.stacktrace": thrown.stack(),
    }
    span["status"] = {"code": "STATUS_CODE_ERROR", "message": thrown.text}
    event: dict[str, Any] = {"timeUnixNano": span["endTimeUnixNano"], "name": "exception", "attributes": []}
    for key, value in attributes.items():
        _set(event, key, value)
    span["events"] = [event]
    _set(span, "error.type", thrown.type)


def _set(span: dict[str, Any], key: str, value: str | list[str]) -> None:
    typed: dict[str, Any] = {"stringValue": value}
    if isinstance(value, list):
        typed = {"arrayValue": {"values": [{"stringValue": one} for one in value]}}
    span["attributes"] = [one for one in span["attributes"] if one["key"] != key] + [{"key": key, "value": typed}]


FIELD = (
    harness("mlflow", "mlflow/evaluate", mlflow, *PLACES, "stop", "scoring", "expected", "strict",
            twin="input-e1844f8c8de7"),
    harness("langfuse", "langfuse/dataset_run", langfuse, *PLACES, "expected", "strict", twin="i-2"),
    harness("otlp", "otlp/genai", otlp, *PLACES, "stop", "scoring", twin="*"),
)  # fmt: skip
