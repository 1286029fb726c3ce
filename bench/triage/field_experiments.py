"""Evaluations that are programs of one's own, for the part `field`: whatever the code raises is in the log."""

from pathlib import Path
from typing import Any

from bench.triage.log_content import ANSWERED, LogContent, harness
from bench.triage.logs import Target, changed, changed_rows

RAISED = ("call", "cell", "mid_call", "setup", "world")
JUDGED = ("scoring", "scorer", "judge_reasoning")


def deepeval(root: Path, content: LogContent) -> Target:
    """What breaks in the subject is outside of the format."""
    with changed(next((root / "results").iterdir())) as document:
        case = document["testCases"][1]
        asked = {"name": content.case, "input": content.question, "expectedOutput": content.expected}
        case.update(asked, actualOutput=content.answer, retrievalContext=[content.tool] if content.tool else None)
        metric = case["metricsData"][0]
        metric.update(name="Exact Match", reason="The actual and expected outputs are different.")
        if content.reason or content.broken:
            metric.update(name="Correctness [GEval]", evaluationModel="gpt-4.1", reason=content.reason)
        if content.broken:
            del metric["score"], metric["reason"]
            metric.update(error=content.broken.line)
    (root / "evaluation_result.json").unlink()
    return Target(content.case)


def pydantic_evals(root: Path, content: LogContent) -> Target:
    with changed(root) as report:
        asked = {
            "name": content.case,
            "source_case_name": None,
            "inputs": content.question,
            "expected_output": content.expected,
        }
        passed = next(case for case in report["cases"] if case["name"].startswith("ok"))
        wrong = next(case for case in report["cases"] if case["name"].startswith("wrong")) | asked
        broken = report["failures"][0] | asked
        del passed["assertions"]["polite"]
        wrong.update(output=content.answer, assertions={"EqualsExpected": wrong["assertions"]["EqualsExpected"]})
        wrong["assertions"]["EqualsExpected"]["reason"] = content.reason or None
        if content.broken:
            failure = {
                "name": "LLMJudge",
                "error_message": content.broken.line,
                "error_stacktrace": content.broken.stack(),
            }
            wrong.update(assertions={}, evaluator_failures=[failure | {"source": {"name": "LLMJudge"}}])
        if content.thrown:
            broken.update(error_message=content.thrown.line, error_stacktrace=content.thrown.stack())
        report.update(
            cases=[passed] if content.thrown else [passed, wrong], failures=[broken] if content.thrown else []
        )
    return Target(content.case)


def langsmith(root: Path, content: LogContent) -> Target:
    with changed_rows(root) as rows:
        rows[:] = [_passed(rows), _row(rows)]
        run, example, (exact, judge) = rows[1]["run"], rows[1]["example"], rows[1]["evaluation_results"]
        example.update(id=content.case, inputs={"q": content.question}, outputs={"a": content.expected})
        run.update(inputs=example["inputs"], outputs={"a": content.answer}, reference_example_id=content.case)
        exact.update(comment=content.reason or "cmp")
        judge.update(score=False, comment="as above", extra=None)
        if content.broken:
            judge.update(score=None, comment=content.broken.call, extra={"error": True})
            for row in rows:  # where a judge alone decides
                del row["evaluation_results"][0]
        if content.thrown:
            run.update(outputs={"output": None}, error=f"{content.thrown.call}\n\n{content.thrown.stack()}")
    return Target(content.case)


def _passed(rows: list[Any]) -> Any:
    return next(row for row in rows if row["run"]["outputs"] == {"a": "4"})


def _row(rows: list[Any]) -> Any:
    return next(row for row in rows if row["run"]["outputs"] == {"a": "Sydney"})


def braintrust(root: Path, content: LogContent) -> Target:
    with changed(root) as document:
        passed, wrong = document["results"][0], document["results"][2]
        wrong.update(input=content.question, output=content.answer, expected=content.expected, metadata={"step": 1})
        if content.reason:
            wrong["metadata"]["rationale"] = content.reason
        if content.broken:
            wrong.update(scores={}, metadata={"scorer_errors": {"exact": content.broken.stack()}})
        if content.thrown:
            wrong.update(output=None, scores={}, error=content.thrown.call, exc_info=content.thrown.stack())
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
