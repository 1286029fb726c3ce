"""conversation-bench: the judged rows of a run, the markers in their answers, and `run.log`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.triage.logs import Harness, Place, Target, Twin
from bench.triage.templates import Template

FIXTURE = "conversation_bench/comparison"
RUN = "20260301T100000_voice-alpha_1a2b3c4d"
PASSED, FAILED = 4, 22
"""Turns of that run."""


def marker(root: Path, fault: Template) -> Target:
    def silent(row: dict[str, Any]) -> None:
        row.update(assistant_text=fault.text, tool_calls=[], tool_results=[], tokens=None)
        row["scores"].update(turn_taking=False, instruction_following=False)
        row["judge_reasoning"] = "There is no response to judge."

    log_line(root, f"2026-03-01 10:04:00.000 WARNING pipeline: [EMPTY_RESPONSE] turn={PASSED} retry_count=3")
    return on_turn(root, PASSED, silent)


def follower(root: Path, fault: Template) -> Target:
    """The turn before ends the session; this one was never asked."""

    def ends(row: dict[str, Any]) -> None:
        row["assistant_text"] = f"[MODEL_ENDED_SESSION] {row['assistant_text']}"
        row["tool_calls"] = [{"name": "end_session", "args": {}}]
        row["scores"].update(tool_use_correct=False)

    def filled(row: dict[str, Any]) -> None:
        row.update(assistant_text=fault.text, tool_calls=[], tool_results=[])
        row["scores"].update(instruction_following=False)
        row["judge_reasoning"] = "The session had ended."

    on_turn(root, PASSED - 1, ends)
    return on_turn(root, PASSED, filled)


def no_verdict(root: Path, _fault: Template) -> Target:
    def unjudged(row: dict[str, Any]) -> None:
        row["scores"] = dict.fromkeys(row["scores"])
        row["judge_reasoning"] = ""

    return on_turn(root, PASSED, unjudged)


def judge_reasoning(root: Path, decoy: Template) -> Target:
    return on_turn(root, FAILED, lambda row: row.update(judge_reasoning=decoy.text))


def answer(root: Path, decoy: Template) -> Target:
    return on_turn(root, FAILED, lambda row: row.update(assistant_text=decoy.text))


def case_input(root: Path, decoy: Template) -> Target:
    return on_turn(root, FAILED, lambda row: row.update(user_text=decoy.text))


def tool_output(root: Path, decoy: Template) -> Target:
    calls = [{"name": "check_status", "args": {}}]
    results = [{"name": "check_status", "response": {"status": "error", "message": decoy.text}}]
    return on_turn(root, FAILED, lambda row: row.update(tool_calls=calls, tool_results=results))


def on_turn(root: Path, turn: int, change: Callable[[dict[str, Any]], None]) -> Target:
    path = root / "runs" / "harbour_bench" / RUN / "openai_judged.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["turn"] == turn:
            change(row)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return Target(f"turn-{turn}", run=RUN)


def log_line(root: Path, line: str) -> None:
    with (root / "runs" / "harbour_bench" / RUN / "run.log").open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


HARNESS = Harness(
    "conversation-bench",
    {
        "marker": Place(FIXTURE, marker),
        "follower": Place(FIXTURE, follower),
        "no_verdict": Place(FIXTURE, no_verdict),
        "judge_reasoning": Place(FIXTURE, judge_reasoning),
        "answer": Place(FIXTURE, answer),
        "case_input": Place(FIXTURE, case_input),
        "tool_output": Place(FIXTURE, tool_output),
    },
    tuple(Twin(FIXTURE, Target(f"turn-{turn}", run=RUN)) for turn in (5, 11, 14, FAILED, 26)),
)
