"""Harnesses that write a row for each answer, for the part `field`."""

from pathlib import Path
from typing import Any

from bench.triage.log_content import ANSWERED, LogContent, harness, joined
from bench.triage.logs import Target, changed, changed_rows

FOUND_BY = {"strict": False, "flexible": True}
"""Filters of lm-eval, and whether they are generous."""


def lm_eval(root: Path, content: LogContent) -> Target:
    """It keeps no error: a call that fails ends the run."""
    with changed_rows(next(root.glob("samples_demo_gen*"))) as rows:
        for row in (row for row in rows if row["doc_id"] == 0):
            is_found = bool(content.flexible) and FOUND_BY[row["filter"]]
            taken = content.expected if is_found else "[invalid]" if content.flexible is not None else content.parsed
            asked = {"arg_0": f"Q: {content.question}\nA:", "arg_1": {"until": ["\n\n"], "do_sample": False}}
            row.update(
                doc={"q": content.question, "a": content.expected}, target=content.expected, exact_match=float(is_found)
            )
            row.update(resps=[[content.answer]], filtered_resps=[content.answer if taken is None else taken])
            row["arguments"] = {"gen_args_0": asked}
    return Target("demo_gen/0")


def helm(root: Path, content: LogContent) -> Target:
    with changed(root / "scenario_state.json") as document:
        state = document["request_states"][0]
        state["instance"].update(id=content.case, input={"text": content.question})
        state["instance"]["references"][0]["output"]["text"] = content.expected
        state["request"]["prompt"] = f"{content.question}\n"
        completion = {
            "text": content.answer,
            "logprob": 0,
            "tokens": [],
            "finish_reason": {"reason": content.stop or "stop"},
        }
        state["result"].update(success=True, completions=[completion])
        if content.thrown:
            state["result"].update(success=False, error=content.thrown.line, completions=[])
    with changed(root / "per_instance_stats.json") as measured:
        measured[0]["instance_id"] = content.case
    return Target(content.case)


def evalscope(root: Path, content: LogContent) -> Target:
    reply = {"role": "assistant", "content": content.answer}
    messages = [{"role": "user", "content": content.question}, reply]
    output: dict[str, Any] = {"choices": [{"message": reply, "stop_reason": content.stop or "stop"}], "error": None}
    if content.thrown:
        output = {"choices": [], "error": content.thrown.line}
    trace = {"max_steps": 1, "events": [{"step": 0, "type": "error"}]} if content.ending == "max_steps" else None
    with changed_rows(next((root / "predictions").rglob("*.jsonl"))) as rows:
        rows[0].update(messages=messages, agent_trace=trace, model_output=rows[0]["model_output"] | output)
    with changed_rows(next((root / "reviews").rglob("*.jsonl"))) as rows:
        rows[0].update(messages=messages, target=[content.expected])
        score = rows[0]["sample_score"]["score"]
        score.update(prediction=content.answer, extracted_prediction=content.answer, explanation=content.reason or None)
        if content.broken or content.ending == "parse_error":
            words = content.broken.line if content.broken else None
            score.update(status="transport_error" if content.broken else "parse_error", value={}, explanation=words)
    return Target("0")


def every_eval_ever(root: Path, content: LogContent) -> Target:
    with changed_rows(root) as rows:
        row = next(row for row in rows if row["sample_id"] == "flaky")
        row["input"].update(raw=content.question, reference=[content.expected], choices=list(content.choices) or None)
        row.update(sample_id=content.case, output={"raw": [content.answer]}, evaluation_result_id="match:accuracy")
        if content.thrown:
            row.update(output={"raw": [""]}, error=f"{content.thrown.call}\n{content.thrown.stack()}")
    return Target(content.case)


def openai_evals(root: Path, content: LogContent) -> Target:
    with changed_rows(root) as rows:
        events = {row["type"]: row["data"] for row in rows if row.get("sample_id") == "tides.dev.0"}
        failed = next(row["data"] for row in rows if row.get("type") == "error")
        asked = [{"role": "user", "content": content.question}]
        events["raw_sample"].update(input=asked, ideal=content.expected)
        events["sampling"].update(prompt=asked, sampled=[content.answer])
        events["match"].update(expected=content.expected, sampled=content.answer, options=[content.expected])
        if content.thrown:
            failed.update(type=content.thrown.type, message=content.thrown.text)
    return Target("tides.dev.1" if content.thrown else "tides.dev.0")


def openai_evals_judged(root: Path, _content: LogContent) -> Target:
    """As in the log: the judge's words name no choice."""
    assert root.is_file()
    return Target("tide-facts.dev.2")


def bfcl(root: Path, content: LogContent) -> Target:
    number = 2 if content.thrown else 3
    reply = content.answer
    if content.thrown:  # the text of a crash is scored like any other
        reply = f"Error during inference: {content.thrown.text}"
    with changed_rows(next((root / "result").rglob("*.json"))) as rows:
        rows[number]["result"] = reply
        if content.thrown:
            rows[number]["traceback"] = content.thrown.stack(
                ("/opt/bfcl_eval/model_handler/base_handler.py", 88, "run")
            )
    with changed_rows(next((root / "score").rglob("*.json"))) as rows:
        rows[number]["model_result_raw"] = reply
        rows[number]["prompt"]["question"][0][0]["content"] = content.question
        if content.ending:
            rows[number].update(error={"error_type": content.ending}, error_type=content.ending)
    return Target(f"simple_python_{number}")


def ragas(root: Path, content: LogContent) -> Target:
    with changed_rows(root / "result.jsonl") as rows:
        rows[1].update(user_input=content.question, response=content.answer, reference=content.expected)
        if content.ending:
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
