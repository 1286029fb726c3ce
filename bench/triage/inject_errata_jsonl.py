"""errata's own lines, as an outside harness would write them: the phase of each error is stated."""

import json
from pathlib import Path
from typing import Any

from bench.triage.logs import Harness, Inject, Place, Target, Twin
from bench.triage.templates import Template

FIXTURE = "errata_jsonl/handmade"
CASE = "harbour/wind-09"
NOT_MADE = {"execution": "error", "measurement": "not_run", "outcome": "none"}
NOT_MEASURED = {"execution": "completed", "measurement": "error", "outcome": "none"}
REFUSED = {"execution": "completed", "measurement": "scored", "outcome": "fail"}


def thrown_in(phase: str, facts: dict[str, str]) -> Inject:
    def inject(root: Path, fault: Template) -> Target:
        error = {"type": fault.type or "Error", "message": fault.text, "phase": phase}
        return add(root, facts | {"errors": [error]})

    return inject


def follower(root: Path, fault: Template) -> Target:
    facts = {"execution": "cancelled", "measurement": "not_run", "outcome": "none"}
    return add(root, facts | {"follows": "harbour/tide-01#1", "native_status": fault.text})


def check_text(root: Path, decoy: Template) -> Target:
    check = {"name": "tests", "status": "fail", "kind": "tests", "explanation": decoy.text}
    return add(root, REFUSED | {"checks": [check]})


def judge_reasoning(root: Path, decoy: Template) -> Target:
    judgement = {"judge": "quality", "valid": True, "reasoning": decoy.text}
    check = {"name": "quality", "status": "fail", "kind": "dimension", "explanation": decoy.text}
    return add(root, REFUSED | {"judgements": [judgement], "checks": [check]})


def answer(root: Path, decoy: Template) -> Target:
    return add(root, REFUSED | {"output": {"text": decoy.text}})


def add(root: Path, attempt: dict[str, Any]) -> Target:
    line = {"errata": 1, "kind": "attempt", "record": {"case": CASE} | attempt}
    lines = [line for line in root.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    root.write_text("\n".join([*lines, json.dumps(line), ""]), encoding="utf-8")
    return Target(CASE)


HARNESS = Harness(
    "errata-jsonl",
    {
        name: Place(FIXTURE, inject)
        for name, inject in {
            "call": thrown_in("subject", NOT_MADE),
            "setup": thrown_in("setup", NOT_MADE),
            "world": thrown_in("environment", NOT_MADE),
            "process": thrown_in("setup", NOT_MADE),
            "worker": thrown_in("aggregation", NOT_MADE),
            "harness": thrown_in("aggregation", NOT_MADE),
            "judge": thrown_in("scoring", NOT_MEASURED),
            "scorer": thrown_in("scoring", NOT_MEASURED),
            "simulator": thrown_in("simulator", NOT_MADE),
            "follower": follower,
            "check_text": check_text,
            "judge_reasoning": judge_reasoning,
            "answer": answer,
        }.items()
    },
    (Twin(FIXTURE, Target("harbour/tide-01", index=2)),),
)
