"""Harnesses that write a row for each answer, for the part `field`."""

from pathlib import Path
from typing import Any

from bench.triage.field_told import ANSWERED, Told, harness, joined
from bench.triage.logs import Target, changed, changed_rows

FOUND_BY = {"strict": False, "flexible": True}
"""Filters of lm-eval, and whether they are generous."""


def lm_eval(root: Path, told: Told) -> Target:
    """It keeps no error: a call that fails ends the run."""
    with changed_rows(next(root.glob("samples_demo_gen*"))) as rows:
        for row in (row for row in rows if row["doc_id"] == 0):
            found = bool(told.flexible) and FOUND_BY[row["filter"]]
            taken = told.expected if found else "[invalid]" if told.flexible is not None else told.parsed
            asked = {"arg_0": f"Q: {told.question}\nA:", "arg_1": {"until": ["\n\n"], "do_sample": False}}
            row.update(doc={"q": told.question, "a": told.expected}, target=told.expected, exact_match=float(found))
            row.update(resps=[[told.answer]], filtered_resps=[told.answer if taken is None else taken])
            row["arguments"] = {"gen_args_0": asked}
    return Target("demo_gen/0")


def helm(root: Path, told: Told) -> Target:
    with changed(root / "scenario_state.json") as document:
        state = document["request_states"][0]
        state["instance"].update(id=told.case, input={"text": told.question})
        state["instance"]["references"][0]["output"]["text"] = told.expected
        state["request"]["prompt"] = f"{told.question}\n"
        completion = {"text": told.answer, "logprob": 0, "tokens": [], "finish_reason": {"reason": told.stop or "stop"}}
        state["result"].update(success=True, completions=[completion])
        if told.thrown:
            state["result"].update(success=False, error=told.thrown.line, completions=[])
    with changed(root / "per_instance_stats.json") as measured:
        measured[0]["instance_id"] = told.case
    return Target(told.case)


def evalscope(root: Path, told: Told) -> Target:
    said = {"role": "assistant", "content": told.answer}
    messages = [{"role": "user", "content": told.question}, said]
    output: dict[str, Any] = {"choices": [{"message": said, "stop_reason": told.stop or "stop"}], "error": None}
    if told.thrown:
        output = {"choices": [], "error": told.thrown.line}
    trace = {"max_steps": 1, "events": [{"step": 0, "type": "error"}]} if told.ending == "max_steps" else None
    with changed_rows(next((root / "predictions").rglob("*.jsonl"))) as rows:
        rows[0].update(messages=messages, agent_trace=trace, model_output=rows[0]["model_output"] | output)
    with changed_rows(next((root / "reviews").rglob("*.jsonl"))) as rows:
        rows[0].update(messages=messages, target=[told.expected])
        score = rows[0]["sample_score"]["score"]
        score.update(prediction=told.answer, extracted_prediction=told.answer, explanation=told.reason or None)
        if told.broken or told.ending == "parse_error":
            words = told.broken.line if told.broken else None
            score.update(status="transport_error" if told.broken else "parse_error", value={}, explanation=words)
    return Target("0")


def every_eval_ever(root: Path, told: Told) -> Target:
    with changed_rows(root) as rows:
        row = next(row for row in rows if row["sample_id"] == "flaky")
        row["input"].update(raw=told.question, reference=[told.expected], choices=list(told.choices) or None)
        row.update(sample_id=told.case, output={"raw": [told.answer]}, evaluation_result_id="match:accuracy")
        if told.thrown:
            row.update(output={"raw": [""]}, error=f"{told.thrown.call}\n{told.thrown.stack()}")
    return Target(told.case)


def openai_evals(root: Path, told: Told) -> Target:
    with changed_rows(root) as rows:
        events = {row["type"]: row["data"] for row in rows if row.get("sample_id") == "tides.dev.0"}
        failed = next(row["data"] for row in rows if row.get("type") == "error")
        asked = [{"role": "user", "content": told.question}]
        events["raw_sample"].update(input=asked, ideal=told.expected)
        events["sampling"].update(prompt=asked, sampled=[told.answer])
        events["match"].update(expected=told.expected, sampled=told.answer, options=[told.expected])
        if told.thrown:
            failed.update(type=told.thrown.type, message=told.thrown.text)
    return Target("tides.dev.1" if told.thrown else "tides.dev.0")


def openai_evals_judged(root: Path, _told: Told) -> Target:
    """As it stands in the log: the judge's words name no choice."""
    assert root.is_file()
    return Target("tide-facts.dev.2")


def bfcl(root: Path, told: Told) -> Target:
    number = 2 if told.thrown else 3
    said = told.answer
    if told.thrown:  # the text of a crash is scored like any other
        said = f"Error during inference: {told.thrown.text}"
    with changed_rows(next((root / "result").rglob("*.json"))) as rows:
        rows[number]["result"] = said
        if told.thrown:
            rows[number]["traceback"] = told.thrown.stack(("/opt/bfcl_eval/model_handler/base_handler.py", 88, "run"))
    with changed_rows(next((root / "score").rglob("*.json"))) as rows:
        rows[number]["model_result_raw"] = said
        rows[number]["prompt"]["question"][0][0]["content"] = told.question
        if told.ending:
            rows[number].update(error={"error_type": told.ending}, error_type=told.ending)
    return Target(f"simple_python_{number}")


def ragas(root: Path, told: Told) -> Target:
    with changed_rows(root / "result.jsonl") as rows:
        rows[1].update(user_input=told.question, response=told.answer, reference=told.expected)
        if told.ending:
            rows[1].update(exact_match=None)
    (root / "result.csv").unlink()
    return Target("*")


FIELD = (
    harness("lm-eval", "lm_eval/dummy", lm_eval, *ANSWERED, "decoder", "filters", twin="demo_mc/0"),
    harness("helm", "helm/demo", helm, *ANSWERED, "call", "cell", "mid_call", "stop", "case_name",
            twin="b"),
    harness("evalscope", "evalscope/repeats", evalscope, *ANSWERED, "call", "cell", "mid_call", "scoring", "stop",
            "ending", "judge_reasoning", twin="1"),
    joined(
        harness("every-eval-ever", "every_eval_ever/rows_alone", every_eval_ever, *ANSWERED, "call", "cell", "mid_call",
                "choices", "case_name"),
        harness("every-eval-ever", "every_eval_ever/from_inspect", every_eval_ever, twin="wrong"),
    ),
    joined(
        harness("openai-evals", "openai_evals/match", openai_evals, *ANSWERED, "call", "cell", "mid_call"),
        harness("openai-evals", "openai_evals/judged", openai_evals_judged, "ending", twin="tide-facts.dev.1"),
    ),
    harness("bfcl", "bfcl/simple", bfcl, "call", "mid_call", "ending", "handler", "answer", "case_input",
            twin="simple_python_1"),
    harness("ragas", "ragas/lines", ragas, "ending", "answer", "case_input", "expected", twin="*"),
)  # fmt: skip
