"""One fault, and which of the three facts it lands on, in every harness that can express it.

Was the attempt made, was it measured, was it passed: harnesses write the same fault as a wrong answer, as an error or
as nothing at all. A row here is a fault as the harness writes it, and what errata makes of it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import langfuse_traces
import mlflow_traces
import pytest
from changed_logs import attempts, change, change_rows, copy_of, facts, write_rows
from otlp_traces import chat, document, evaluation, event

from errata.model import Attempt


class Fault(NamedTuple):
    harness: str
    fault: str
    build: Callable[[Path], Path]
    facts: tuple[str, str, str]
    told: Callable[[Attempt], Any]
    is_told: Any


def phases(attempt: Attempt) -> list[str]:
    return [error.phase for error in attempt.errors]


def lm_eval_reply(**changes: Any) -> Callable[[Path], Path]:
    def build(folder: Path) -> Path:
        log = copy_of("lm_eval/dummy", folder)
        change_rows(next(log.rglob("samples_demo_gen*")), lambda row: row | changes)
        return log

    return build


def helm_result(**changes: Any) -> Callable[[Path], Path]:
    def build(folder: Path) -> Path:
        log = copy_of("helm/demo", folder)

        def how(document: Any) -> None:
            for state in document["request_states"]:
                state["result"] |= changes

        change(next(log.rglob("scenario_state.json")), how)
        return log

    return build


def evalscope(part: str, change_row: Callable[[Any], Any]) -> Callable[[Path], Path]:
    def build(folder: Path) -> Path:
        log = copy_of("evalscope/repeats", folder)
        change_rows(next((next(log.iterdir()) / part).rglob("*.jsonl")), change_row)
        return log

    return build


def evalscope_output(**changes: Any) -> Callable[[Path], Path]:
    return evalscope("predictions", lambda row: row | {"model_output": row["model_output"] | changes})


def evalscope_score(**changes: Any) -> Callable[[Path], Path]:
    def how(row: Any) -> Any:
        row["sample_score"]["score"] |= changes
        return row

    return evalscope("reviews", how)


def evalscope_without_rows(folder: Path) -> Path:
    log = copy_of("evalscope/repeats", folder)
    for rows in log.rglob("*.jsonl"):
        rows.write_text("")
    result = {"requested": 4, "succeeded": 0, "errored": 4}
    summary = {"execution_summary": result | {"incomplete": True, "subsets": {"default": result}}}
    change(next(log.rglob("general_mcq.json")), lambda report: report | summary)
    return log


def every_eval_ever(**changes: Any) -> Callable[[Path], Path]:
    row = {"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "m", "evaluation_name": "t", "sample_id": "a"}
    row |= {"interaction_type": "single_turn", "input": {"raw": "Q"}, "evaluation": {"score": 0.0, "is_correct": False}}
    return lambda folder: write_rows(folder / "rows.jsonl", row | changes)


def openai_evals(cls: str, *events: tuple[str, dict[str, Any]], **report: Any) -> Callable[[Path], Path]:
    spec = {"completion_fns": ["m"], "eval_name": "t.dev.v0", "run_id": "r", "run_config": {"eval_spec": {"cls": cls}}}
    rows = [
        {"run_id": "r", "event_id": at, "sample_id": "t.dev.0", "type": kind, "data": data}
        for at, (kind, data) in enumerate(events)
    ]
    return lambda folder: write_rows(folder / "log.jsonl", {"spec": spec}, *rows, {"final_report": report})


def bfcl(name: str, result: Any, *failed: dict[str, Any]) -> Callable[[Path], Path]:
    def build(folder: Path) -> Path:
        right = 0 if failed else 1
        header = {"accuracy": float(right), "correct_count": right, "total_count": 1}
        write_rows(folder / "result" / "m" / f"BFCL_v4_{name}_result.json", {"id": f"{name}_0"} | result)
        scores = [{"id": f"{name}_0", "valid": False} | one for one in failed]
        write_rows(folder / "score" / "m" / f"BFCL_v4_{name}_score.json", header, *scores)
        return folder

    return build


def mlflow(*feedbacks: dict[str, Any], **info: Any) -> Callable[[Path], Path]:
    return lambda folder: mlflow_traces.written(folder, mlflow_traces.trace(*feedbacks, **info))


def langfuse(*scores: dict[str, Any], **observed: Any) -> Callable[[Path], Path]:
    generation = langfuse_traces.observation("o-1", **observed)
    return lambda folder: write_rows(folder / "traces.jsonl", langfuse_traces.trace(*scores, observations=[generation]))


def otlp(**changes: Any) -> Callable[[Path], Path]:
    return lambda folder: document(folder, chat(1, "A", "Q", parent=0, **changes))


def deepeval(*metrics: dict[str, Any]) -> Callable[[Path], Path]:
    case = {"name": "a", "input": "Q", "actualOutput": "A", "success": False}
    result = [{"name": f"M{at}", "threshold": 0.5, "success": False} | one for at, one in enumerate(metrics)]
    run = {"testCases": [case | {"metricsData": result}], "metricsScores": [], "testPassed": 0, "testFailed": 1}
    return lambda folder: write_rows(folder / "run.json", run)


def pydantic_evals(*cases: dict[str, Any], **broken: Any) -> Callable[[Path], Path]:
    measured = {"assertions": {}, "scores": {}, "labels": {}, "task_duration": 1.0}
    asked = {"name": "a", "inputs": "Q", "source_case_name": None}
    failures = [asked | {"error_stacktrace": ""} | broken] if broken else []
    report = {"name": "t", "cases": [asked | measured | one for one in cases], "failures": failures}
    return lambda folder: write_rows(folder / "report.json", report)


def ragas(*values: float | None) -> Callable[[Path], Path]:
    rows = [{"user_input": f"Q{at}", "response": "A", "faithfulness": one} for at, one in enumerate(values)]
    return lambda folder: write_rows(folder / "result.jsonl", *rows)


def junit(inner: str) -> Callable[[Path], Path]:
    def build(folder: Path) -> Path:
        (folder / "report.xml").write_text(f'<testsuite name="s"><testcase name="t">{inner}</testcase></testsuite>')
        return folder

    return build


def pytest_json(outcome: str, **stages: Any) -> Callable[[Path], Path]:
    test = {"nodeid": "t.py::t", "outcome": outcome} | stages
    report = {"created": 1.0, "exitcode": 1, "root": "/r", "summary": {}, "tests": [test]}
    return lambda folder: write_rows(folder / "report.json", report)


def raising(message: str) -> dict[str, Any]:
    return {"outcome": "failed", "duration": 0.1, "crash": {"path": "t.py", "lineno": 1, "message": message}}


def allure(status: str, message: str) -> Callable[[Path], Path]:
    result = {"uuid": "a", "fullName": "m#t", "status": status, "statusDetails": {"message": message}, "start": 1}
    return lambda folder: write_rows(folder / "a-result.json", result).parent


def langsmith(*feedback: dict[str, Any], **run: Any) -> Callable[[Path], Path]:
    given = {"id": "r", "run_type": "chain", "session_name": "s", "outputs": {"a": "4"}, "end_time": "2026-01-01"} | run
    row = {"run": given, "example": {"id": "e"}, "evaluation_results": list(feedback)}
    return lambda folder: write_rows(folder / "rows.jsonl", row)


def braintrust(**row: Any) -> Callable[[Path], Path]:
    given = {"input": "Q", "output": "A", "expected": "B", "scores": {}, "error": None, "exc_info": None}
    return lambda folder: write_rows(folder / "rows.jsonl", given | row)


PASSED = {"outcome": "passed", "duration": 0.1}
BROKE = {"result": "Error during inference: Error code: 503 - overloaded", "traceback": "openai.InternalServerError"}
JUDGED = "evals.elsuite.modelgraded.classify:ModelBasedClassify"
ASKED = ("sampling", {"prompt": "Q", "sampled": ["A"]})

FAULTS = (
    # lm-eval: a call that fails ends the whole run; what comes back empty is an answer
    Fault(
        "lm-eval",
        "empty reply",
        lm_eval_reply(resps=[["", ""]], filtered_resps=[""]),
        ("completed", "scored", "fail"),
        lambda one: one.output.text,
        "",
    ),
    Fault(
        "lm-eval",
        "answer not found",
        lm_eval_reply(filtered_resps=["[invalid]"]),
        ("completed", "scored", "fail"),
        lambda one: one.checks[0].reason_code,
        "no_match",
    ),
    Fault(
        "helm",
        "subject error",
        helm_result(success=False, error="503"),
        ("error", "scored", "none"),
        phases,
        ["subject"],
    ),
    Fault(
        "helm",
        "truncation",
        helm_result(completions=[{"text": "a", "finish_reason": {"reason": "length"}}]),
        ("completed", "scored", "fail"),
        lambda one: one.stop_reason,
        "length",
    ),
    Fault(
        "evalscope",
        "subject error",
        evalscope_output(error="503", choices=[]),
        ("error", "scored", "none"),
        phases,
        ["subject"],
    ),
    Fault(
        "evalscope",
        "subject error without a row",
        evalscope_without_rows,
        ("error", "not_run", "none"),
        lambda one: one.native_status,
        "errored",
    ),
    Fault(
        "evalscope",
        "judge error",
        evalscope_score(status="transport_error", value={}),
        ("completed", "error", "none"),
        phases,
        ["scoring"],
    ),
    Fault(
        "evalscope",
        "judge without a verdict",
        evalscope_score(status="parse_error", value={}),
        ("completed", "error", "none"),
        phases,
        ["scoring"],
    ),
    Fault(
        "evalscope",
        "limit",
        evalscope(
            "predictions", lambda row: row | {"agent_trace": {"max_steps": 1, "events": [{"step": 0, "type": "error"}]}}
        ),
        ("limit", "scored", "fail"),
        lambda one: one.limit and one.limit.type,
        "steps",
    ),
    Fault(
        "evalscope",
        "truncation",
        evalscope_output(choices=[{"message": {"role": "assistant", "content": "a"}, "stop_reason": "max_tokens"}]),
        ("completed", "scored", "fail"),
        lambda one: one.stop_reason,
        "max_tokens",
    ),
    Fault(
        "every-eval-ever",
        "subject error",
        every_eval_ever(error="503"),
        ("error", "scored", "none"),
        phases,
        [""],
    ),
    Fault(
        "openai-evals",
        "subject error",
        openai_evals("Match", ("error", {"type": "APIError", "message": "503"}), accuracy=1.0),
        ("error", "not_run", "none"),
        phases,
        [""],
    ),
    Fault(
        "openai-evals",
        "judge error",
        openai_evals(JUDGED, ASKED, score=1.0, invalid_request_during_evaluation=1),
        ("completed", "error", "none"),
        phases,
        [],
    ),
    Fault(
        "openai-evals",
        "judge without a verdict",
        openai_evals(JUDGED, ASKED, ASKED, ("metrics", {"choice": "__invalid__", "score": 0.0}), score=0.0),
        ("completed", "error", "none"),
        phases,
        ["scoring"],
    ),
    Fault(
        "bfcl",
        "subject error",
        bfcl("simple", BROKE, {"error_type": "ast_decoder:decoder_failed"}),
        ("error", "scored", "none"),
        phases,
        ["subject"],
    ),
    Fault(
        "bfcl",
        "subject error that is scored right",
        bfcl("irrelevance", BROKE),
        ("error", "scored", "none"),
        phases,
        ["subject"],
    ),
    Fault(
        "bfcl",
        "limit",
        bfcl(
            "multi_turn_base", {"result": [[]], "latency": 1}, {"error": {"error_type": "multi_turn:force_terminated"}}
        ),
        ("limit", "scored", "fail"),
        lambda one: one.limit and one.limit.type,
        "steps",
    ),
    Fault(
        "otlp",
        "subject error",
        otlp(status={"code": 2, "message": "503"}),
        ("error", "not_run", "none"),
        phases,
        ["subject"],
    ),
    Fault(
        "otlp",
        "subject error that is scored all the same",
        otlp(status={"code": 2, "message": "503"}, events=[evaluation(name="exact", score__value=0.0)]),
        ("error", "scored", "none"),
        phases,
        ["subject"],
    ),
    Fault(
        "otlp",
        "judge error",
        otlp(events=[event("gen_ai.evaluation.result", gen_ai__evaluation__name="judge", error__type="503")]),
        ("completed", "error", "none"),
        phases,
        ["scoring"],
    ),
    Fault(
        "otlp",
        "truncation",
        otlp(told={"gen_ai.response.finish_reasons": ["length"]}, events=[evaluation(name="exact", score__value=0.0)]),
        ("completed", "scored", "fail"),
        lambda one: one.stop_reason,
        "length",
    ),
    Fault("otlp", "nobody looked", otlp(), ("completed", "not_run", "none"), phases, []),
    Fault(
        "mlflow",
        "subject error",
        mlflow(mlflow_traces.feedback("exact", False), state="ERROR"),
        ("error", "scored", "none"),
        lambda one: one.native_status,
        "ERROR",
    ),
    Fault(
        "langfuse",
        "subject error",
        langfuse(langfuse_traces.score("exact", 0), level="ERROR", statusMessage="APIError: 503", output=None),
        ("error", "scored", "none"),
        phases,
        ["subject"],
    ),
    Fault(
        "langfuse",
        "nobody looked",
        langfuse(),
        ("completed", "not_run", "none"),
        phases,
        [],
    ),
    Fault(
        "mlflow",
        "judge error",
        mlflow(mlflow_traces.feedback("judge", error={"error_code": "SCORER_ERROR", "error_message": "503"})),
        ("completed", "error", "none"),
        phases,
        ["scoring"],
    ),
    # deepeval: whatever breaks in the subject is user code, and outside of the format
    Fault(
        "deepeval",
        "judge error",
        deepeval({"error": "APIConnectionError: 503"}),
        ("completed", "error", "none"),
        phases,
        ["scoring"],
    ),
    Fault(
        "deepeval",
        "judge error beside a measure that was missed",
        deepeval({"score": 0.1}, {"error": "APIConnectionError: 503"}),
        ("completed", "scored", "fail"),
        phases,
        ["scoring"],
    ),
    Fault(
        "pydantic-evals",
        "subject error",
        pydantic_evals(error_message="ConnectionError: 503"),
        ("error", "not_run", "none"),
        phases,
        [""],
    ),
    Fault(
        "pydantic-evals",
        "judge error",
        pydantic_evals({"evaluator_failures": [{"name": "Judge", "error_message": "TimeoutError: 60 s"}]}),
        ("completed", "error", "none"),
        phases,
        ["scoring"],
    ),
    # ragas: what a measure raised stands in no file
    Fault(
        "ragas",
        "judge error",
        ragas(None, 1.0),
        ("completed", "unscored", "none"),
        lambda one: one.checks[0].status,
        "unscored",
    ),
    # pytest calls whatever a test raises a failure, and whatever a fixture raises an error
    Fault(
        "junit",
        "subject error in a test of pytest",
        junit('<failure message="ConnectionError: 503">t.py:1: ConnectionError</failure>'),
        ("error", "not_run", "none"),
        phases,
        [""],
    ),
    Fault(
        "junit",
        "setup error",
        junit("""<error message='failed on setup with "TimeoutError: no container"'/>"""),
        ("error", "not_run", "none"),
        phases,
        ["setup"],
    ),
    Fault(
        "junit",
        "subject error as promptfoo writes it",
        junit('<error message="Evaluation error" type="error">Reason: 503</error>'),
        ("error", "not_run", "none"),
        phases,
        [""],
    ),
    Fault(
        "pytest-json",
        "subject error",
        pytest_json("failed", setup=PASSED, call=raising("ConnectionError: 503")),
        ("error", "not_run", "none"),
        phases,
        [""],
    ),
    Fault(
        "pytest-json",
        "setup error",
        pytest_json("error", setup=raising("TimeoutError: no container")),
        ("error", "not_run", "none"),
        phases,
        ["setup"],
    ),
    Fault(
        "pytest-json",
        "teardown error",
        pytest_json("error", setup=PASSED, call=PASSED, teardown=raising("OSError: busy")),
        ("error", "scored", "pass"),
        phases,
        ["environment"],
    ),
    Fault(
        "allure",
        "subject error",
        allure("broken", "ConnectionError: 503"),
        ("error", "not_run", "none"),
        phases,
        [""],
    ),
    # LangSmith asks its evaluators all the same
    Fault(
        "langsmith",
        "subject error",
        langsmith(
            {"key": "exact", "score": False}, error="ConnectionError('503')\n\nTraceback", outputs={"output": None}
        ),
        ("error", "scored", "none"),
        phases,
        [""],
    ),
    Fault(
        "langsmith",
        "judge error",
        langsmith({"key": "judge", "score": None, "comment": "ValueError('no JSON')", "extra": {"error": True}}),
        ("completed", "error", "none"),
        phases,
        ["scoring"],
    ),
    Fault(
        "braintrust",
        "subject error",
        braintrust(output=None, error="ConnectionError('503')"),
        ("error", "not_run", "none"),
        phases,
        [""],
    ),
    Fault(
        "braintrust",
        "judge error",
        braintrust(metadata={"scorer_errors": {"judge": "Traceback (most recent call last):\nValueError: no JSON"}}),
        ("completed", "error", "none"),
        phases,
        ["scoring"],
    ),
)


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{one.harness}: {one.fault}" for one in FAULTS])
def test_a_fault_lands_on_the_right_one_of_the_three_facts(tmp_path, fault):
    found = attempts(fault.build(tmp_path))

    assert facts(found[0]) == fault.facts
    assert fault.told(found[0]) == fault.is_told
