"""run.log: what it has about turns without an answer."""

import json
from pathlib import Path

from errata.model import Attempt
from errata.sources.conversation_bench.reader import read

HEAD = "2026-04-01 09:00:00.000 INFO cli: benchmark=kiln_bench model=voice-x turns=4"
CLOSED = "ERROR pipelines.realtime: WebSocket closed: code=1011 reason=internal error"
OVERLOADED = "ERROR services.realtime: server answered 503 Service Unavailable"


def attempts(folder: Path, log: list[str], turns: list[int], says: str = "Yes.", **runtime) -> dict[int, Attempt]:
    run = folder / "runs" / "kiln_bench" / "20260401T090000_voice-x_0a1b2c3d"
    run.mkdir(parents=True)
    rows = [
        {"turn": turn, "user_text": "?", "assistant_text": says, "scores": {"kb_grounding": True}, "tool_calls": []}
        for turn in turns
    ]
    (run / "openai_judged.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (run / "runtime.json").write_text(json.dumps({"model_name": "voice-x", "turns": len(turns)} | runtime))
    lines = [HEAD, *(f"2026-04-01 09:0{at}:00.000 {line}" for at, line in enumerate(log))]
    (run / "run.log").write_text("\n".join(lines), encoding="utf-8")
    return {item.position: item for item in read(run) if isinstance(item, Attempt)}


def started(turn: int) -> str:
    return f"INFO pipelines.base: turn={turn} start"


def messages(attempt: Attempt) -> list[str]:
    return [error.message for error in attempt.errors]


def test_lines_while_a_turn_is_going_on_explain_why_it_is_missing(tmp_path):
    log = [started(0), started(1), OVERLOADED, CLOSED, started(2), started(3)]

    missing = attempts(tmp_path, log, [0, 2, 3])[1]

    assert missing.execution == "missing"
    assert messages(missing) == [
        "server answered 503 Service Unavailable",
        "WebSocket closed: code=1011 reason=internal error",
    ]
    assert [error.code for error in missing.errors] == ["503", "1011"]
    assert str(missing.errors[1].ref) == "run.log:5"


def test_turns_that_never_started_have_what_ended_the_conversation(tmp_path):
    found = attempts(tmp_path, [started(0), started(1), CLOSED], [0])

    assert messages(found[3]) == messages(found[1]) == ["WebSocket closed: code=1011 reason=internal error"]
    assert [error.collateral for error in found[3].errors] == [True]
    assert not found[1].errors[0].collateral


def test_where_turns_run_side_by_side_a_line_has_to_name_its_turn(tmp_path):
    log = [started(0), started(1), OVERLOADED, "WARNING pipelines.base: no audio for turn 3 after reconnect"]

    found = attempts(tmp_path, log, [0, 2], mode="rehydrated", parallel=4)

    assert messages(found[1]) == []
    assert messages(found[3]) == ["no audio for turn 3 after reconnect"]


def test_an_empty_answer_has_the_lines_of_its_turn(tmp_path):
    says = "[EMPTY_RESPONSE: No valid response after max retries]"

    found = attempts(tmp_path, [started(0), OVERLOADED], [0], says)

    assert messages(found[0]) == ["No valid response after max retries", "server answered 503 Service Unavailable"]


def test_an_answered_turn_has_no_errors_of_untagged_lines(tmp_path):
    assert messages(attempts(tmp_path, [started(0), OVERLOADED], [0])[0]) == []
