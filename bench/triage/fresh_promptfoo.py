"""promptfoo, for the fresh part: assertions that throw, compare too strictly, judge twice, or look at the clock."""

from pathlib import Path
from typing import Any

from bench.triage import inject_promptfoo as old
from bench.triage.inject_promptfoo import DIST, FAILED, FIXTURE, PASSED, RUBRIC, RUN, errored, on_row, on_test, refuse
from bench.triage.logs import Place, Target, changed
from bench.triage.templates import Template

PROVIDERS = ("openai:gpt-4.1", "anthropic:messages:claude-sonnet-4-5")
SIZES = (0, 1, 2)
"""`promptIdx` of rows that stand for three models."""
THROWS = (
    f"    at handleCost ({DIST}/evaluator-8V_ULngs.js:1804:11)\n"
    f"    at async runAssertion ({DIST}/evaluator-8V_ULngs.js:5309:18)\n"
    f"    at async runAssertions ({DIST}/evaluator-8V_ULngs.js:5408:18)"
)
READS = (
    "    at Object.openSync (node:fs:561:18)\n"
    "    at Object.readFileSync (node:fs:445:35)\n"
    f"    at renderPrompt ({DIST}/evaluatorHelpers-C1a.js:196:41)\n"
    f"    at async runEval ({DIST}/evaluator-8V_ULngs.js:7012:22)"
)
CUSTOM = "    at validateResult (evaluator-8V_ULngs.js:2011:9)\n    at handleJavascript (evaluator-8V_ULngs.js:2038:34)"


def judge_quiet(root: Path, fault: Template) -> Target:
    """Factuality and closed QA say in words alone that the judge gave no verdict."""
    assertion = {"type": fault.type, "value": "Canberra", "metric": "facts"}
    return _refuse_all(root, [{"assertion": assertion}], fault.text)


def judge_flagged(root: Path, fault: Template) -> Target:
    assertion = {"type": fault.type, "value": "answers the question", "metric": "quality"}
    return _refuse_all(root, [{"assertion": assertion, "metadata": {"graderError": True}}], fault.text)


def code_throws(root: Path, fault: Template) -> Target:
    """Code of an assertion that throws is a failed assertion."""
    assertion = {"type": fault.type, "value": fault.values["code"], "metric": "behaviour"}
    message = f"{fault.text}\nStack Trace: Error: {fault.text}\n{CUSTOM}" if fault.type == "javascript" else fault.text
    return _refuse_all(root, [{"assertion": assertion}], message)


def assertion_throws(root: Path, fault: Template) -> Target:
    return on_row(root, PASSED, lambda row: errored(row, f"Error: {fault.text}\n{THROWS}"))


def missing_file(root: Path, fault: Template) -> Target:
    return on_row(root, PASSED, lambda row: errored(row, f"Error: {fault.text}\n{READS}"))


def too_much(root: Path, fault: Template) -> Target:
    """The answer is right, and too slow or too dear."""
    right = {"pass": True, "score": 1, "reason": "Assertion passed", "assertion": {"type": "contains", "value": "two"}}
    assertion = {"type": fault.type, "threshold": fault.values["threshold"]}
    return _refuse_all(root, [right, {"assertion": assertion}], fault.text)


def late_and_wrong(root: Path, decoy: Template) -> Target:
    wrong = {"pass": False, "score": 0, "reason": 'Expected output to contain "three"'}
    content = wrong | {"assertion": {"type": "contains", "value": "three"}}
    assertion = {"type": decoy.type, "threshold": decoy.values["threshold"]}
    return _refuse_all(root, [content, {"assertion": assertion}], decoy.text)


def strict(root: Path, fault: Template) -> Target:
    return _equals(root, 0, fault.values["question"], fault.values["expected"], fault.values["answer"])


def form(root: Path, fault: Template) -> Target:
    """What was asked for is in the answer; a second assertion wants its form."""
    has = {"type": "contains", "value": fault.values["expected"], "metric": "correctness"}
    right = {"pass": True, "score": 1, "reason": "Assertion passed", "assertion": has}
    wants = {"type": "regex", "value": fault.values["pattern"], "metric": "form"}
    target = _refuse_all(root, [right, {"assertion": wants}], f"Expected output to match regex {wants['value']!r}")
    _say(root, 0, fault.values["question"], fault.values["answer"])
    return target


def disagree(root: Path, fault: Template) -> Target:
    """One rubric, two judges."""
    yes = fault.values["grade"] == "C"
    rubrics = [RUBRIC | {"provider": provider} for provider in PROVIDERS]
    first = {"pass": yes, "score": int(yes), "reason": fault.values["yes"], "assertion": rubrics[0]}
    target = _refuse_all(root, [first, {"assertion": rubrics[1]}], fault.values["no"])
    _say(root, 0, fault.values["question"], fault.values["answer"])
    return target


def against_tests(root: Path, fault: Template) -> Target:
    """The answer equals the reference, and a judge of the same answer calls it wrong."""
    equals = {"type": "equals", "value": fault.values["expected"], "metric": "correctness"}
    right = {"pass": True, "score": 1, "reason": "Assertion passed", "assertion": equals}
    rubric = RUBRIC | {"value": f"the answer is {fault.values['expected']}"}
    target = _refuse_all(root, [right, {"assertion": rubric}], fault.values["no"])
    _say(root, 0, fault.values["question"], fault.values["answer"])
    return target


def all_answer(root: Path, fault: Template) -> Target:
    with changed(root) as document:
        for row in document["results"]["results"]:
            row["provider"] = {"id": f"{row['provider']['id']}-{row['promptIdx']}", "label": ""}
    for size, answer in zip(SIZES, fault.values["answers"], strict=True):
        _equals(root, size, fault.values["question"], fault.values["expected"], answer)
    return Target("fails equals", run=RUN)


def swallowed(root: Path, fault: Template) -> Target:
    """A provider of one's own returns its crash as an answer."""
    return _equals(root, 0, "capital of France", "Paris", fault.text)


def expected(root: Path, decoy: Template) -> Target:
    return _equals(root, 0, "What does the log say last?", decoy.text, "all is well")


def metadata(root: Path, decoy: Template) -> Target:
    def tells(row: dict[str, Any]) -> None:
        row["testCase"]["metadata"] = {"category": decoy.text, "tags": [decoy.text]}
        row["metadata"] = {"category": decoy.text}

    return on_row(root, FAILED, tells)


def _refuse_all(root: Path, results: list[dict[str, Any]], reason: str) -> Target:
    """The last result fails with a reason; the earlier ones stay as they are."""
    *before, last = results
    asserts = [one["assertion"] for one in results]
    on_test(root, FAILED, lambda test: test.update({"assert": asserts}))

    def graded(row: dict[str, Any]) -> None:
        refuse(row, [last], reason)
        row["gradingResult"]["componentResults"][:0] = before

    return on_row(root, FAILED, graded)


def _equals(root: Path, size: int, question: str, wanted: str, answer: str) -> Target:
    assertion = {"type": "equals", "value": wanted, "metric": "correctness"}
    reason = f'Expected output "{answer}" to equal "{wanted}"'
    grading = {"pass": False, "score": 0, "reason": reason}
    graded = grading | {"namedScores": {}, "componentResults": [grading | {"assertion": assertion}]}
    on_test(root, FAILED, lambda test: test.update({"assert": [assertion]}))
    with changed(root) as document:
        for row in document["results"]["results"]:
            if row["testIdx"] == FAILED and row["promptIdx"] == size:
                row.update(success=False, failureReason=1, error=reason, score=0, gradingResult=graded)
    return _say(root, size, question, answer)


def _say(root: Path, size: int, question: str, answer: str) -> Target:
    on_test(root, FAILED, lambda test: test["vars"].update(q=question))
    with changed(root) as document:
        for row in document["results"]["results"]:
            if row["testIdx"] == FAILED and row["promptIdx"] == size:
                row["vars"]["q"] = question
                row["prompt"]["raw"] = f"Answer briefly: {question}"
                row["response"] = {"output": answer, "raw": answer, "cached": False}
    return Target("fails equals", run=RUN)


HARNESS = old.HARNESS._replace(
    places=old.HARNESS.places
    | {
        name: Place(FIXTURE, inject)
        for name, inject in {
            "judge_quiet": judge_quiet,
            "judge_flagged": judge_flagged,
            "code_throws": code_throws,
            "assertion_throws": assertion_throws,
            "missing_file": missing_file,
            "too_much": too_much,
            "late_and_wrong": late_and_wrong,
            "strict": strict,
            "form": form,
            "disagree": disagree,
            "against_tests": against_tests,
            "all_answer": all_answer,
            "swallowed_answer": swallowed,
            "expected": expected,
            "metadata": metadata,
        }.items()
    },
    twins=(),
)
