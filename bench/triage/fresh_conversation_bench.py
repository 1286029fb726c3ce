"""conversation-bench, for the fresh part: words of the log, equal calls, judges of two minds, runs that all agree."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.triage import inject_conversation_bench as old
from bench.triage.inject_conversation_bench import FAILED, FIXTURE, PASSED, RUN, log_line, on_turn
from bench.triage.logs import Place, Target, Twin, changed
from bench.triage.templates import Template

TWO = "conversation_bench/two_judges"
DAMAGED = "conversation_bench/damaged"
BOOKED, ENDED, FAR, ASKED = 6, 12, 19, 17
"""Turns: one call is required, where a session is ended, long after it, a plain question."""
EMPTY = "[EMPTY_RESPONSE: No valid response after max retries]"


def marker_log(root: Path, fault: Template) -> Target:
    """The row has only the marker; the provider's message is in the log."""

    def silent(row: dict[str, Any]) -> None:
        row.update(assistant_text=EMPTY, tool_calls=[], tool_results=[], tokens=None)
        row["scores"].update(turn_taking=False, instruction_following=False)
        row["judge_reasoning"] = "There is no response to judge."

    log_line(root, f"2026-03-01 10:04:00.000 ERROR pipelines.realtime: [NO_RESPONSE] turn={PASSED} {fault.text}")
    log_line(root, f"2026-03-01 10:04:45.000 WARNING pipelines.base: [EMPTY_RESPONSE] turn={PASSED} retry_count=3")
    return on_turn(root, PASSED, silent)


def recovered(root: Path, decoy: Template) -> Target:
    """The turn was answered at the second try, and wrongly."""
    log_line(root, f"2026-03-01 10:22:00.000 WARNING pipelines.base: [EMPTY_RESPONSE] turn={FAILED} retry_count=1")
    log_line(root, f"2026-03-01 10:22:01.000 ERROR pipelines.realtime: [NO_RESPONSE] turn={FAILED} {decoy.text}")
    return on_turn(root, FAILED, lambda row: row.update(reconnection_count=1))


def far_follower(root: Path, _fault: Template) -> Target:
    """The session ended turns ago; every turn since then was filled in."""

    def ends(row: dict[str, Any]) -> None:
        row["assistant_text"] = f"[MODEL_ENDED_SESSION] {row['assistant_text']}"
        row["tool_calls"] = [{"name": "end_session", "args": {}}]
        row["scores"].update(tool_use_correct=False)

    def filled(row: dict[str, Any]) -> None:
        row.update(assistant_text="[MODEL_ENDED_SESSION_EARLY]", tool_calls=[], tool_results=[], tokens=None)
        row["scores"].update(instruction_following=False)
        row["judge_reasoning"] = "No answer was given on this turn."

    on_turn(root, ENDED, ends)
    for turn in range(ENDED + 1, FAR):
        on_turn(root, turn, filled)
    return on_turn(root, FAR, filled)


def calls(root: Path, fault: Template) -> Target:
    """The calls are compared with the required ones, letter by letter."""

    def called(row: dict[str, Any]) -> None:
        row["tool_calls"] = fault.values["calls"]
        row["tool_results"] = [{"name": one["name"], "response": {"status": "success"}} for one in row["tool_calls"]]
        row["scores"].update(tool_use_correct=False)
        row["judge_reasoning"] = fault.text

    return on_turn(root, fault.values["turn"], called)


def tool_missing(root: Path, fault: Template) -> Target:
    """What the turn requires is a tool that the subject was not given."""
    wanted = {"name": fault.values["tool"], "args": {"name": "Lena Okafor"}}
    for turns in root.glob("benchmarks/*/turns.json"):
        with changed(turns) as listed:
            listed[BOOKED]["required_function_call"] = wanted
    return on_turn(root, BOOKED, lambda row: _fails(row, "tool_use_correct", fault.text))


def disagree(root: Path, fault: Template) -> Target:
    """Two judges of the same turn; the first one's verdict counts."""

    def first(row: dict[str, Any]) -> None:
        row["scores"].update(dict.fromkeys(("turn_taking", "tool_use_correct", "state_tracking"), True))
        _fails(row, "instruction_following", fault.values["no"])

    def second(row: dict[str, Any]) -> None:
        row["scores"].update(dict.fromkeys(row["scores"], True))
        row["judge_reasoning"] = fault.values["yes"]

    def also(row: dict[str, Any]) -> None:
        first(row)
        row["judge_reasoning"] = fault.values["yes"]

    _rows(root / "openai_judged.jsonl", 1, first)
    _rows(root / "claude_judged.jsonl", 1, second if fault.values["grade"] == "C" else also)
    return Target("turn-1")


def all_answer(root: Path, fault: Template) -> Target:
    """Every run answers the turn; the golden text differs."""
    for turns in root.glob("benchmarks/*/turns.json"):
        with changed(turns) as listed:
            listed[ASKED].update(input=fault.values["question"], golden_text=fault.values["expected"])

    def answered(answer: str) -> Callable[[dict[str, Any]], None]:
        def change(row: dict[str, Any]) -> None:
            row.update(user_text=fault.values["question"], assistant_text=answer)
            _fails(row, "kb_grounding", f"The golden text says {fault.values['expected']}")  # words: quoted

        return change

    answers = fault.values["answers"]
    for number, folder in enumerate(sorted((root / "runs" / "harbour_bench").iterdir())):
        _rows(folder / "openai_judged.jsonl", ASKED, answered(answers[min(number, len(answers) - 1)]))
    return Target(f"turn-{ASKED}", run=RUN)


def system_prompt(root: Path, decoy: Template) -> Target:
    for file in root.glob("benchmarks/*/system_prompt.txt"):
        file.write_text(f"{file.read_text(encoding='utf-8')}{decoy.text}\n", encoding="utf-8")
    return Target(f"turn-{FAILED}", run=RUN)


def expected(root: Path, decoy: Template) -> Target:
    for turns in root.glob("benchmarks/*/turns.json"):
        with changed(turns) as listed:
            listed[FAILED]["golden_text"] += f" It does not say `{decoy.text}`."
    return Target(f"turn-{FAILED}", run=RUN)


def _fails(row: dict[str, Any], dimension: str, why: str) -> None:
    row["scores"][dimension] = False
    row["judge_reasoning"] = why


def _rows(path: Path, turn: int, change: Callable[[dict[str, Any]], None]) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["turn"] == turn:
            change(row)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


HARNESS = old.HARNESS._replace(
    places=old.HARNESS.places
    | {
        "marker_log": Place(FIXTURE, marker_log),
        "recovered": Place(FIXTURE, recovered),
        "far_follower": Place(FIXTURE, far_follower),
        "calls": Place(FIXTURE, calls),
        "tool_missing": Place(FIXTURE, tool_missing),
        "disagree": Place(TWO, disagree),
        "all_answer": Place(FIXTURE, all_answer),
        "system_prompt": Place(FIXTURE, system_prompt),
        "expected": Place(FIXTURE, expected),
    },
    twins=tuple(Twin(DAMAGED, Target(f"turn-{turn}")) for turn in (8, 11, 22)),
)
