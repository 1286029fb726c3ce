"""promptfoo: a row's `failureReason`, `error` and `gradingResult`; a judge that broke looks like a failed assertion."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.triage.logs import Harness, Place, Target, Twin, changed
from bench.triage.templates import Template

FIXTURE = "promptfoo/export"
DIST = "file:///opt/node_modules/promptfoo/dist/src"
PASSED, FAILED = 0, 2
"""`testIdx` of rows of the first prompt."""
NAMES = {PASSED: "passes contains", FAILED: "fails equals"}
RUN = "echo terse"
RUBRIC = {"type": "llm-rubric", "value": "answers the question", "metric": "quality"}
GRADING_STACK = (
    f"    at callApi ({DIST}/graders-D8C-P60-.js:88:50)\n"
    f"    at async runJsonGradingPrompt ({DIST}/graders-D8C-P60-.js:970:15)\n"
    f"    at async matchesLlmRubric ({DIST}/graders-D8C-P60-.js:1996:10)\n"
    f"    at async runAssertion ({DIST}/evaluator-8V_ULngs.js:5309:18)"
)


def call(root: Path, fault: Template) -> Target:
    return on_row(root, PASSED, lambda row: errored(row, fault.text, response={"error": fault.text}))


def every_call(root: Path, fault: Template) -> Target:
    with changed(root) as document:
        for row in document["results"]["results"]:
            if row["promptIdx"] == 0:
                errored(row, fault.text, response={"error": fault.text})
    return Target(NAMES[PASSED], run=RUN)


def own_frames(root: Path, fault: Template) -> Target:
    stack = (
        f"    at runEval ({DIST}/evaluator-8V_ULngs.js:7012:22)\n"
        f"    at async Evaluator.evaluate ({DIST}/evaluator-8V_ULngs.js:7604:19)"
    )
    return on_row(root, PASSED, lambda row: errored(row, f"{fault.type}: {fault.text}\n{stack}"))


def judge(root: Path, fault: Template) -> Target:
    on_test(root, PASSED, lambda test: test.update({"assert": [RUBRIC]}))
    return on_row(root, PASSED, lambda row: _rubric(row, fault.text, {"graderError": True}))


def judge_throws(root: Path, fault: Template) -> Target:
    return on_row(root, PASSED, lambda row: errored(row, f"Error: {fault.text}\n{GRADING_STACK}"))


def out_of_time(root: Path, fault: Template) -> Target:
    return on_row(root, PASSED, lambda row: errored(row, fault.text))


def simulator(root: Path, fault: Template) -> Target:
    """A row whose conversation is led by `promptfoo:simulated-user`."""
    stack = (
        f"    at SimulatedUser.sendMessageToUser ({DIST}/providers/simulatedUser.js:141:13)\n"
        f"    at async SimulatedUser.callApi ({DIST}/providers/simulatedUser.js:208:26)"
    )

    def led(row: dict[str, Any]) -> None:
        errored(row, f"{fault.type}: {fault.text}\n{stack}")
        row["testCase"]["provider"] = {"id": "promptfoo:simulated-user", "config": {"maxTurns": 5}}

    return on_row(root, PASSED, led)


def stop(root: Path, fault: Template) -> Target:
    return on_row(root, FAILED, lambda row: row["response"].update(finishReason=fault.text))


def task(root: Path, decoy: Template) -> Target:
    on_test(root, FAILED, lambda test: test["vars"].update(q=decoy.text))

    def asks(row: dict[str, Any]) -> None:
        row["vars"]["q"] = decoy.text
        row["prompt"]["raw"] = f"Answer briefly: {decoy.text}"

    return on_row(root, FAILED, asks)


def answer(root: Path, decoy: Template) -> Target:
    def says(row: dict[str, Any]) -> None:
        row["response"]["output"] = row["response"]["raw"] = decoy.text
        refuse(row, row["gradingResult"]["componentResults"], f'Expected output "{decoy.text}" to equal "Paris"')

    return on_row(root, FAILED, says)


def case_name(root: Path, decoy: Template) -> Target:
    on_test(root, FAILED, lambda test: test.update(description=decoy.text))
    return Target(decoy.text, run=RUN)


def check_text(root: Path, decoy: Template) -> Target:
    """A custom assertion in code gives its own reason."""

    def refuse_row(row: dict[str, Any]) -> None:
        assertion = {"type": "javascript", "value": "file://check.js", "metric": "behaviour"}
        refuse(row, [{"pass": False, "score": 0, "assertion": assertion}], decoy.text)

    return on_row(root, FAILED, refuse_row)


def judge_reasoning(root: Path, decoy: Template) -> Target:
    on_test(root, FAILED, lambda test: test.update({"assert": [RUBRIC]}))
    return on_row(root, FAILED, lambda row: _rubric(row, decoy.text, {}))


def on_row(root: Path, test: int, change: Callable[[dict[str, Any]], Any]) -> Target:
    with changed(root) as document:
        rows = document["results"]["results"]
        change(next(row for row in rows if row["testIdx"] == test and row["promptIdx"] == 0))
    return Target(NAMES[test], run=RUN)


def on_test(root: Path, test: int, change: Callable[[dict[str, Any]], Any]) -> None:
    """Each row has its test; repeats of it have numbers of their own."""
    with changed(root) as document:
        for row in document["results"]["results"]:
            if row["testCase"]["description"] == NAMES[test]:
                change(row["testCase"])


def errored(row: dict[str, Any], error: str, *, response: dict[str, Any] | None = None) -> None:
    row.update(success=False, failureReason=2, error=error, gradingResult=None, score=0, namedScores={})
    row.pop("response", None)
    if response is not None:
        row["response"] = response


def _rubric(row: dict[str, Any], reason: str, metadata: dict[str, Any]) -> None:
    refuse(row, [{"pass": False, "score": 0, "assertion": RUBRIC, "metadata": metadata}], reason)


def refuse(row: dict[str, Any], results: list[dict[str, Any]], reason: str) -> None:
    grading = {"pass": False, "score": 0, "reason": reason}
    graded = grading | {"namedScores": {}, "componentResults": [one | grading for one in results]}
    row.update(success=False, failureReason=1, error=reason, score=0, gradingResult=graded, namedScores={})


HARNESS = Harness(
    "promptfoo",
    {
        name: Place(FIXTURE, inject)
        for name, inject in {
            "call": call,
            "every_call": every_call,
            "harness": own_frames,
            "judge": judge,
            "judge_answer": judge,
            "judge_throws": judge_throws,
            "out_of_time": out_of_time,
            "simulator": simulator,
            "stop": stop,
            "task": task,
            "answer": answer,
            "case_name": case_name,
            "test_name": case_name,
            "check_text": check_text,
            "judge_reasoning": judge_reasoning,
        }.items()
    },
    (
        Twin(FIXTURE, Target("fails equals", run=RUN)),
        Twin(FIXTURE, Target("fails equals", run="echo verbose")),
        Twin(FIXTURE, Target("threshold partial", run=RUN)),
    ),
)
