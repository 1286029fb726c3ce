"""errata's own lines, for the fresh part: limits, judges, choices, what was recovered, and several runs in one file."""

import json
from pathlib import Path
from typing import Any

from bench.triage import inject_errata_jsonl as old
from bench.triage.inject_errata_jsonl import CASE, FIXTURE, NOT_MADE, NOT_MEASURED, REFUSED, add, thrown_in
from bench.triage.logs import Place, Target, Twin
from bench.triage.templates import Template

MODELS = ("alpha-1", "beta-2", "gamma-3")


def limit(root: Path, fault: Template) -> Target:
    facts = {"execution": "limit", "measurement": "scored", "outcome": "fail", "output": {"text": "so far: 3 of 9"}}
    return add(root, facts | {"limit": {"type": fault.type, "reason": fault.text}})


def stop(root: Path, fault: Template) -> Target:
    fields = {"stop_reason": fault.text, "output": {"text": fault.values["answer"]}}
    return _ask(root, fault, REFUSED | fields)


def swallowed(root: Path, fault: Template) -> Target:
    nothing = {"subject": {"input": 0, "output": 0}}
    return add(root, REFUSED | {"output": {"text": fault.text}, "usage": nothing})


def strict(root: Path, fault: Template) -> Target:
    return _ask(root, fault, _failed_check(fault, "exact_match", f"expected {fault.values['expected']!r}"))


def decoder(root: Path, fault: Template) -> Target:
    refused = _failed_check(fault, "ast", fault.text)
    refused["checks"][0]["reason_code"] = fault.type
    return _ask(root, fault, refused)


def choices(root: Path, fault: Template) -> Target:
    return _ask(root, fault, _failed_check(fault, "choice", ""), choices=fault.values["choices"])


def disagree(root: Path, fault: Template) -> Target:
    verdicts = ("no", "fail"), ("yes", "pass" if fault.values["grade"] == "C" else "fail")
    judgements = [{"judge": f"judge-{word}", "valid": True, "reasoning": fault.values[word]} for word, _ in verdicts]
    checks = [
        {"name": "right", "judge": f"judge-{word}", "status": status, "kind": "dimension", "counts": word == "no",
         "explanation": fault.values[word]}
        for word, status in verdicts
    ]  # fmt: skip
    return _ask(root, fault, _failed_check(fault, "right", "") | {"judgements": judgements, "checks": checks})


def against_tests(root: Path, fault: Template) -> Target:
    """Every test passes, and a judge calls the result wrong."""
    checks = [
        {"name": "tests", "status": "pass", "kind": "tests", "value": 1.0, "explanation": "12 passed"},
        {"name": "exact_match", "status": "pass", "kind": "assertion", "value": True},
        {"name": "right", "judge": "judge", "status": "fail", "kind": "dimension", "explanation": fault.values["no"]},
    ]
    fields = {"judgements": [{"judge": "judge", "valid": True, "reasoning": fault.values["no"]}], "checks": checks}
    return _ask(root, fault, _failed_check(fault, "right", "") | fields)


def missing_file(root: Path, fault: Template) -> Target:
    return thrown_in("setup", NOT_MADE)(root, fault)


def all_answer(root: Path, fault: Template) -> Target:
    for model, answer in zip(MODELS, fault.values["answers"], strict=True):
        run = {"native_id": f"{model}-1", "source": {"name": "harbour-harness"}, "suite": "harbour"}
        _write(root, "run", run | {"subject": {"model": model}})
        template = Template(name="", text="", places=(), values=fault.values | {"answer": answer})
        _ask(root, template, _failed_check(template, "exact_match", ""))
    return Target(CASE, run=f"{MODELS[0]}-1")


def recovered(root: Path, decoy: Template) -> Target:
    error = {"type": decoy.type, "message": decoy.text, "phase": "subject", "recovered": True, "retryable": True}
    return add(root, REFUSED | {"errors": [error], "output": {"text": "noon"}})


def _ask(root: Path, asked: Template, attempt: dict[str, Any], **more: Any) -> Target:
    case = {"suite": "harbour", "native_id": "wind-09", "input": asked.values["question"]}
    _write(root, "case", case | {"expected": asked.values["expected"]} | more)
    return add(root, attempt)


def _failed_check(asked: Template, name: str, reasoning: str) -> dict[str, Any]:
    check = {"name": name, "status": "fail", "kind": "assertion", "value": False, "explanation": reasoning}
    return REFUSED | {"output": {"text": asked.values["answer"]}, "checks": [check]}


def _write(root: Path, kind: str, record: dict[str, Any]) -> None:
    lines = [line for line in root.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    line = {"errata": 1, "kind": kind, "record": record}
    root.write_text("\n".join([*lines, json.dumps(line), ""]), encoding="utf-8")


HARNESS = old.HARNESS._replace(
    places=old.HARNESS.places
    | {
        name: Place(FIXTURE, inject)
        for name, inject in {
            "limit": limit,
            "stop": stop,
            "cell": thrown_in("subject", NOT_MADE),
            "scoring": thrown_in("scoring", NOT_MEASURED),
            "swallowed_answer": swallowed,
            "strict": strict,
            "ast": decoder,
            "choices": choices,
            "disagree": disagree,
            "against_tests": against_tests,
            "missing_file": missing_file,
            "all_answer": all_answer,
            "recovered": recovered,
        }.items()
    },
    twins=(Twin("errata_jsonl/exported", Target("x", run="beta-2")),),
)
