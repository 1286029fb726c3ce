"""Traces, for the part `field`: MLflow, Langfuse and OpenTelemetry."""

import json
from pathlib import Path
from typing import Any

from bench.triage.field_told import Thrown, Told, harness
from bench.triage.logs import Target, changed

PLACES = ("call", "cell", "mid_call", "world", "recovered", "tool_output", "tool_error", "judge_reasoning",
          "answer", "case_input")  # fmt: skip


def mlflow(root: Path, told: Told) -> Target:
    with changed(root / "traces.json") as traces:
        trace = next(trace for trace in traces if trace["info"]["state"] == "ERROR")
        passed = next(one for one in traces if '"2+2"' in json.dumps(one["data"]).replace("\\", ""))
        traces[:] = [trace, passed]
        for one in trace["info"]["assessments"]:
            if one["assessment_name"] == "exact":
                one["rationale"] = told.reason or "not as expected"
                if told.broken:
                    stack = {"error_code": "SCORER_ERROR", "error_message": told.broken.text}
                    one["feedback"] = {"value": None, "error": stack | {"stack_trace": told.broken.stack()}}
            if "expectation" in one:
                one["expectation"]["value"] = told.expected
        trace["data"]["spans"][:] = _mlflow_spans(trace, trace["data"]["spans"][0], told)
        trace["info"]["state"] = "ERROR" if told.thrown else "OK"
    return Target("*")


def _mlflow_spans(trace: dict[str, Any], span: dict[str, Any], told: Told) -> list[dict[str, Any]]:
    asked = json.dumps({"messages": [{"role": "user", "content": told.question}]})
    trace["info"]["trace_metadata"]["mlflow.traceInputs"] = asked
    trace["info"]["trace_metadata"]["mlflow.traceOutputs"] = json.dumps(told.answer)
    answered = {"choices": [{"message": {"role": "assistant", "content": told.answer}, "finish_reason": told.stop}]}
    span["attributes"]["mlflow.spanInputs"] = asked
    if told.thrown:
        span.update(status={"code": "STATUS_CODE_ERROR", "message": told.thrown.line}, events=[_raised(told.thrown)])
        return [span]
    span["attributes"]["mlflow.spanOutputs"] = json.dumps(answered)
    span.update(status={"code": "STATUS_CODE_OK", "message": ""}, events=[])
    if not told.tool and not told.recovered:
        return [span]
    lines = {"parent_span_id": span["span_id"], "start_time_unix_nano": span["start_time_unix_nano"] + 1}
    kind = {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": "{}", "mlflow.spanOutputs": json.dumps(told.tool)}
    below = span | lines | {"span_id": "p7I7Ke74TqY=", "name": "lookup", "attributes": kind}
    if told.recovered:
        failed = {"code": "STATUS_CODE_ERROR", "message": told.recovered.line}
        below.update(status=failed, events=[_raised(told.recovered)], name="first try")
        below["attributes"] = {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanInputs": asked}
    return [span, below]


def _raised(thrown: Thrown) -> dict[str, Any]:
    told = {"exception.message": thrown.text, "exception.type": thrown.type, "exception.stacktrace": thrown.stack()}
    return {"name": "exception", "time_unix_nano": 1794770799691159552, "attributes": told}


def langfuse(root: Path, told: Told) -> Target:
    """It has no place for a judge that broke, and none for why an answer ended."""
    with changed(root / "traces.json") as document:
        trace = next(trace for trace in document["data"] if trace["id"] == "t-2")
        (said,) = trace["observations"]
        trace.update(input={"question": told.question}, output=None)
        trace["scores"][0].update(source="EVAL" if told.reason else "API", comment=told.reason or None)
        answer = {"role": "assistant", "content": told.answer}
        said.update(input=[{"role": "user", "content": told.question}], output=answer)
        if told.thrown:
            said.update(level="ERROR", statusMessage=told.thrown.line, output=None)
        if told.tool or told.recovered:
            before = {"id": "o-9", "startTime": "2026-03-04T09:59:00.000Z", "endTime": "2026-03-04T09:59:01.000Z"}
            line = told.recovered.line if told.recovered else None
            level = "ERROR" if told.recovered else "DEFAULT"
            kind = "GENERATION" if told.recovered else "TOOL"
            first = said | before | {"type": kind, "level": level, "statusMessage": line, "output": told.tool or None}
            trace["observations"] = [first, said]
    with changed(root / "items.json") as items:
        item = next(item for item in items["data"] if item["id"] == "i-2")
        item.update(input={"question": told.question}, expectedOutput=told.expected)
    return Target("i-2")


def otlp(root: Path, told: Told) -> Target:
    with changed(root) as document:
        spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
        plan, tool, said, agent = spans
        question = [{"role": "user", "parts": [{"type": "text", "content": told.question}]}]
        answer = [{"role": "assistant", "parts": [{"type": "text", "content": told.answer}]}]
        _set(plan, "gen_ai.input.messages", json.dumps(question))
        _set(said, "gen_ai.output.messages", json.dumps(answer))
        if told.stop:
            _set(said, "gen_ai.response.finish_reasons", [told.stop])
        tool.update(status={}, events=[])
        tool["attributes"] = [one for one in tool["attributes"] if one["key"] != "error.type"]
        _set(tool, "gen_ai.tool.call.result", told.tool or "no such order")
        verdict = said["events"][0]
        _set(verdict, "gen_ai.evaluation.explanation", told.reason or "did not refund")
        if told.broken:
            verdict["attributes"] = []
            _set(verdict, "gen_ai.evaluation.name", "correctness")
            _set(verdict, "error.type", told.broken.type)
            _set(verdict, "gen_ai.evaluation.explanation", told.broken.text)
        if told.recovered:
            _fail(plan, told.recovered)
        if told.thrown:
            spans[:] = [plan, tool, agent]
            _fail(agent, told.thrown)
            agent["events"].append(verdict)
    return Target("*")


def _fail(span: dict[str, Any], thrown: Thrown) -> None:
    told = {"exception.type": thrown.type, "exception.message": thrown.text, "exception.stacktrace": thrown.stack()}
    span["status"] = {"code": "STATUS_CODE_ERROR", "message": thrown.text}
    event: dict[str, Any] = {"timeUnixNano": span["endTimeUnixNano"], "name": "exception", "attributes": []}
    for key, value in told.items():
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
