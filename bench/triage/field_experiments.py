"""Evaluations that are programs of one's own, for the part `field`: whatever the code raises is in the log."""

from pathlib import Path
from typing import Any

from bench.triage.field_told import ANSWERED, Told, harness
from bench.triage.logs import Target, changed, changed_rows

RAISED = ("call", "cell", "mid_call", "setup", "world")
JUDGED = ("scoring", "scorer", "judge_reasoning")


def deepeval(root: Path, told: Told) -> Target:
    """What breaks in the subject is outside of the format."""
    with changed(next((root / "results").iterdir())) as document:
        case = document["testCases"][1]
        asked = {"name": told.case, "input": told.question, "expectedOutput": told.expected}
        case.update(asked, actualOutput=told.answer, retrievalContext=[told.tool] if told.tool else None)
        metric = case["metricsData"][0]
        metric.update(name="Exact Match", reason="The actual and expected outputs are different.")
        if told.reason or told.broken:
            metric.update(name="Correctness [GEval]", evaluationModel="gpt-4.1", reason=told.reason)
        if told.broken:
            del metric["score"], metric["reason"]
            metric.update(error=told.broken.line)
    (root / "evaluation_result.json").unlink()
    return Target(told.case)


def pydantic_evals(root: Path, told: Told) -> Target:
    with changed(root) as report:
        asked = {"name": told.case, "source_case_name": None, "inputs": told.question, "expected_output": told.expected}
        passed = next(case for case in report["cases"] if case["name"].startswith("ok"))
        wrong = next(case for case in report["cases"] if case["name"].startswith("wrong")) | asked
        broken = report["failures"][0] | asked
        del passed["assertions"]["polite"]
        wrong.update(output=told.answer, assertions={"EqualsExpected": wrong["assertions"]["EqualsExpected"]})
        wrong["assertions"]["EqualsExpected"]["reason"] = told.reason or None
        if told.broken:
            failure = {"name": "LLMJudge", "error_message": told.broken.line, "error_stacktrace": told.broken.stack()}
            wrong.update(assertions={}, evaluator_failures=[failure | {"source": {"name": "LLMJudge"}}])
        if told.thrown:
            broken.update(error_message=told.thrown.line, error_stacktrace=told.thrown.stack())
        report.update(cases=[passed] if told.thrown else [passed, wrong], failures=[broken] if told.thrown else [])
    return Target(told.case)


def langsmith(root: Path, told: Told) -> Target:
    with changed_rows(root) as rows:
        rows[:] = [_passed(rows), _row(rows)]
        run, example, (exact, judge) = rows[1]["run"], rows[1]["example"], rows[1]["evaluation_results"]
        example.update(id=told.case, inputs={"q": told.question}, outputs={"a": told.expected})
        run.update(inputs=example["inputs"], outputs={"a": told.answer}, reference_example_id=told.case)
        exact.update(comment=told.reason or "cmp")
        judge.update(score=False, comment="as above", extra=None)
        if told.broken:
            judge.update(score=None, comment=told.broken.call, extra={"error": True})
            for row in rows:  # where a judge alone decides
                del row["evaluation_results"][0]
        if told.thrown:
            run.update(outputs={"output": None}, error=f"{told.thrown.call}\n\n{told.thrown.stack()}")
    return Target(told.case)


def _passed(rows: list[Any]) -> Any:
    return next(row for row in rows if row["run"]["outputs"] == {"a": "4"})


def _row(rows: list[Any]) -> Any:
    return next(row for row in rows if row["run"]["outputs"] == {"a": "Sydney"})


def braintrust(root: Path, told: Told) -> Target:
    with changed(root) as document:
        passed, wrong = document["results"][0], document["results"][2]
        wrong.update(input=told.question, output=told.answer, expected=told.expected, metadata={"step": 1})
        if told.reason:
            wrong["metadata"]["rationale"] = told.reason
        if told.broken:
            wrong.update(scores={}, metadata={"scorer_errors": {"exact": told.broken.stack()}})
        if told.thrown:
            wrong.update(output=None, scores={}, error=told.thrown.call, exc_info=told.thrown.stack())
        document["results"] = [passed, wrong]
    return Target("*")


FIELD = (
    harness("deepeval", "deepeval/test_run", deepeval, *ANSWERED, *JUDGED, "case_name", "tool_output",
            twin="input-4dc1c6f42314"),
    harness("pydantic-evals", "pydantic_evals/repeats", pydantic_evals, *ANSWERED, *JUDGED, *RAISED, "case_name",
            twin="wrong"),
    harness("langsmith", "langsmith/repetitions", langsmith, *ANSWERED, *JUDGED, *RAISED,
            twin="a1c50760-0754-4d41-9702-0cd55f393c02"),
    harness("braintrust", "braintrust/trials", braintrust, *ANSWERED, *JUDGED, *RAISED,
            twin="input-4dc1c6f42314"),
)  # fmt: skip
