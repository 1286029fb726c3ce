"""Judged turns of invented benchmarks in the judge's long form, each with the cluster that a reader would give it."""

import json
from pathlib import Path
from typing import NamedTuple

from errata.model import Attempt, Case, Run
from errata.sources.conversation_bench.reader import read
from errata.triage import observe
from errata.triage.attribution import attribute
from errata.triage.rulesets import built_in

DOMAINS = Path(__file__).parent / "fixtures" / "conversation_clusters"
ALWAYS = ("turn_taking", "tool_use_correct", "instruction_following", "kb_grounding")
SOMETIMES = ("ambiguity_handling", "state_tracking")


class Clustered(NamedTuple):
    turn: int
    truth: str
    label: str
    signals: tuple[str, ...]
    judge: str


def write_run(domain: Path, folder: Path) -> Path:
    """A run folder with one turn per row, and the benchmark's contract beside it unless the domain has none."""
    data = json.loads(domain.read_text(encoding="utf-8"))
    name = data["benchmark"]
    run = folder / "runs" / name / "20260401T090000_voice-x_0a1b2c3d"
    run.mkdir(parents=True)
    turns = [data["turns"][str(row["turn"])] for row in data["rows"]]
    lines = [json.dumps(_judged(place, row, turns[place])) for place, row in enumerate(data["rows"])]
    (run / "openai_judged.jsonl").write_text("\n".join(lines), encoding="utf-8")
    if data.get("contract", True):
        contract = folder / "benchmarks" / name
        contract.mkdir(parents=True)
        listed = [_contract(place, turn) for place, turn in enumerate(turns)]
        (contract / "turns.json").write_text(json.dumps(listed), encoding="utf-8")
    return run


def _judged(place: int, row: dict, turn: dict) -> dict:
    scored = {*ALWAYS, *row["failed"], *row.get("scored", ())}
    calls = row.get("calls", ())
    return {
        "ts": f"2026-04-01T09:{place:02}:00.000Z",
        "turn": place,
        "model_name": "voice-x",
        "user_text": turn["ask"],
        "assistant_text": row["says"],
        "tool_calls": [{"name": call[0], "args": call[1]} for call in calls],
        "tool_results": [
            {"name": call[0], "response": {"status": call[2] if call[2:] else "success"}} for call in calls
        ],
        "tokens": None,
        "ttfb_ms": 400,
        "latency_ms": 2000,
        "reconnection_count": 0,
        "scores": {name: name not in row["failed"] if name in scored else None for name in (*ALWAYS, *SOMETIMES)},
        "judge_reasoning": row["judge"],
    }


def _contract(place: int, turn: dict) -> dict:
    calls = [{"name": name, "args": args} for name, args in turn.get("requires", ())]
    required = calls[0] if len(calls) == 1 else calls or None
    return {
        "turn": place,
        "input": turn["ask"],
        "golden_text": "…",
        "required_function_call": required,
        "categories": ["any"],
    }


def clustered(domain: Path, folder: Path) -> list[Clustered]:
    rows = json.loads(domain.read_text(encoding="utf-8"))["rows"]
    items = list(read(write_run(domain, folder)))
    run = next(item for item in items if isinstance(item, Run))
    cases = {item.key: item for item in items if isinstance(item, Case)}
    attempts = [item for item in items if isinstance(item, Attempt)]
    return [_cluster(run, attempt, cases.get(attempt.case), row) for attempt, row in zip(attempts, rows, strict=True)]


def _cluster(run: Run, attempt: Attempt, case: Case | None, row: dict) -> Clustered:
    rules = built_in()
    observed = observe(run, attempt, case, None, rules)
    found = attribute(attempt, observed, source=run.source.name, rules=rules)
    label = found.suggested_labels.get("conversation-bench", "")
    return Clustered(row["turn"], row["truth"], label, tuple(one.name for one in found.signals), row["judge"])
