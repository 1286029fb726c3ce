"""A comparison of conversations with commentary as long as a real judge's: two runs of one model, and two others.

Mistakes are taken from the rows of `fixtures/conversation_clusters/kiln_bench.json`; the turns between them pass.
"""

import csv
import json
from pathlib import Path

from conversation_rows import ALWAYS, DOMAINS, SOMETIMES

BENCHMARK = "kiln_bench"
TURNS = 34
MISTAKES = {
    "voice-x_00000001": {3: 0, 5: 1, 7: 5, 15: 11, 19: 14, 21: 15, 25: 17},
    "voice-x_00000002": {5: 3, 7: 6, 15: 11, 25: 17},
    "voice-y_00000003": {7: 5, 15: 11, 23: 16},
    "acme_voice-z_00000004": {5: 4, 13: 10, 15: 11, 17: 12, 25: 17, 28: 19},
}
"""Run → turn → the row of the fixture with its mistake."""
MISSING, UNJUDGED = 9, 30
"""Of the last run: a turn without a row, and one without a verdict."""
PASSES = (
    "No function expected. No tool was called, which is right. The assistant answered directly, there is no factual "
    "error and nothing was hallucinated. → kb_grounding=TRUE, instruction_following=TRUE. It did not ask again for "
    "anything that had been given earlier, the request was not ambiguous, and the session was not ended."
)


def build(folder: Path) -> Path:
    """The comparison folder; runs and the benchmark's contract are beside it."""
    data = json.loads((DOMAINS / f"{BENCHMARK}.json").read_text(encoding="utf-8"))
    _write_contract(folder / "benchmarks" / BENCHMARK, data["turns"])
    runs = [_write_run(folder / "runs" / BENCHMARK, at, name, data) for at, name in enumerate(MISTAKES)]
    comparison = folder / "results" / BENCHMARK / "compare"
    comparison.mkdir(parents=True)
    with (comparison / "run_results.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["model_name", "run_index", "run_id", "run_dir", "benchmark_name", "judge_name"])
        writer.writeheader()
        for run in runs:
            home = f"/somewhere/else/runs/{BENCHMARK}/{run.name}"
            writer.writerow(
                {"model_name": _model(run.name), "run_id": run.name, "run_dir": home, "benchmark_name": BENCHMARK}
            )
    return comparison


def truths(name: str) -> dict[int, str]:
    """Turn → the cluster that a reader gives it, without the rows that only follow."""
    rows = json.loads((DOMAINS / f"{BENCHMARK}.json").read_text(encoding="utf-8"))["rows"]
    return {turn: rows[at]["truth"] for turn, at in MISTAKES[name].items()}


def _model(run: str) -> str:
    name = run.rpartition("_")[0].partition("_")[2] if run[0].isdigit() else run.rpartition("_")[0]
    return name.replace("acme_", "acme/")


def _write_contract(folder: Path, turns: dict) -> None:
    folder.mkdir(parents=True)
    listed = []
    for turn in range(TURNS):
        known = turns.get(str(turn), {"ask": f"Question {turn}?"})
        calls = [{"name": name, "args": args} for name, args in known.get("requires", ())]
        required = calls[0] if len(calls) == 1 else calls or None
        kind = "multi_step_tool" if len(calls) > 1 else "tool_use" if calls else "basic_qa"
        listed.append(
            {"input": known["ask"], "golden_text": f"Rule {turn} applies.", "required_function_call": required}
            | {"categories": [kind]}
        )
    (folder / "turns.json").write_text(json.dumps(listed), encoding="utf-8")


def _write_run(folder: Path, at: int, name: str, data: dict) -> Path:
    run = folder / f"20260401T09{at:02}00_{name}"
    run.mkdir(parents=True)
    ended = next((turn for turn, row in MISTAKES[name].items() if data["rows"][row]["truth"].startswith("prem")), TURNS)
    is_last = name == list(MISTAKES)[-1]
    rows = [_row(turn, name, data, ended) for turn in range(TURNS) if not (is_last and turn == MISSING)]
    if is_last:
        rows = [row | {"scores": dict.fromkeys(row["scores"])} if row["turn"] == UNJUDGED else row for row in rows]
    (run / "openai_judged.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (run / "runtime.json").write_text(json.dumps({"model_name": _model(name), "turns": len(rows), "note": BENCHMARK}))
    (run / "run.log").write_text("\n".join(_log(name, broken=is_last)), encoding="utf-8")
    return run


def _log(name: str, *, broken: bool):
    yield f"2026-04-01 09:00:00.000 INFO cli: benchmark={BENCHMARK} model={_model(name)} turns={TURNS}"
    for turn in range(TURNS):
        yield f"2026-04-01 09:{turn:02}:01.000 INFO pipelines.base: turn={turn} start"
        if broken and turn == MISSING:
            yield "2026-04-01 09:09:20.000 ERROR services.realtime: request failed: 503 Service Unavailable"
            yield "2026-04-01 09:09:40.000 ERROR pipelines.realtime: WebSocket closed: code=1011 reason=internal error"
    yield "2026-04-01 09:59:00.000 INFO pipelines.base: Conversation complete"


def _row(turn: int, name: str, data: dict, ended: int) -> dict:
    known = data["turns"].get(str(turn), {"ask": f"Question {turn}?"})
    scores: dict[str, bool | None] = dict.fromkeys(ALWAYS, True) | dict.fromkeys(SOMETIMES)
    calls = [[*call] for call in known.get("requires", ())]
    says, judge = f"Answer {turn}, as {name} gives it.", PASSES
    if turn in MISTAKES[name]:
        row = data["rows"][MISTAKES[name][turn]]
        says, judge, calls = row["says"], row["judge"], row.get("calls", [])
        scores |= dict.fromkeys(row.get("scored", ()), True) | dict.fromkeys(row["failed"], False)
    elif turn > ended:
        says, calls = "[MODEL_ENDED_SESSION_EARLY]", []
        judge = f"No reply: the session was over, as the model had ended it on turn {ended}. No factual error."
        scores["instruction_following"] = False
    return {
        "ts": f"2026-04-01T09:{turn:02}:05.000Z",
        "turn": turn,
        "model_name": _model(name),
        "user_text": known["ask"],
        "assistant_text": says,
        "tool_calls": [{"name": call[0], "args": call[1]} for call in calls],
        "tool_results": [
            {"name": call[0], "response": {"status": call[2] if call[2:] else "success"}} for call in calls
        ],
        "tokens": None,
        "ttfb_ms": 400,
        "latency_ms": 2000,
        "reconnection_count": 0,
        "scores": scores,
        "judge_reasoning": judge,
    }
