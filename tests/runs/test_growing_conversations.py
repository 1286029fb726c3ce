"""A conversation that has grown: only the added turns are read, and the store is the same as after a whole import."""

import json
from pathlib import Path

import pytest

from errata.runs import growing, importing
from errata.runs.importing import import_orders
from errata.runs.log_search import Order
from errata.store import blocks, growth, packing, shared_rows
from errata.store.database import open_store
from facts_in_store import facts_in


@pytest.fixture(autouse=True)
def everything_grows(monkeypatch):
    monkeypatch.setattr(importing, "GROWS_FROM", 0)
    monkeypatch.setattr(importing, "BATCHES_IN_MEMORY", 1)
    for module in (packing, shared_rows):
        monkeypatch.setattr(module, "BATCH_ROWS", 7)
    for module in (blocks, growth, shared_rows):
        monkeypatch.setattr(module, "BLOCK_SIZE", 2_000)


def turn(number: int, **more) -> bytes:
    scores = {"turn_taking": True, "tool_use_correct": number % 5 > 0, "state_tracking": None}
    tokens = {"prompt_tokens": 900 + number, "completion_tokens": 30, "total_tokens": 930 + number}
    fields = {
        "ts": f"2026-03-01T10:{number // 60:02}:{number % 60:02}.000Z",
        "turn": number,
        "model_name": "voice",
        "user_text": f"hello {number}",
        "assistant_text": f"good day {number}",
        "tool_calls": [],
        "tool_results": [],
        "tokens": tokens | {"cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
        "ttfb_ms": 300,
        "latency_ms": 2000,
        "reconnection_count": 0,
        "scores": scores,
        "judge_reasoning": "fine",
    }
    return json.dumps(fields | more).encode() + b"\n"


def write(folder: Path, lines: list[bytes], files: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "openai_judged.jsonl").write_bytes(b"".join(lines))
    for name, text in files.items():
        (folder / name).write_text(text)


def imported(folder: Path, store: Path) -> str:
    order = Order(str(folder), "conversation-bench")
    return import_orders([order], open_store(store))[0].runs[0].change


def runtime(turns: int) -> dict[str, str]:
    return {"runtime.json": json.dumps({"model_name": "voice", "turns": turns, "note": "bench"})}


EARLIER = [turn(number) for number in range(30)]
LOG = "2026-03-01 10:00:00,000 INFO started\n"


@pytest.mark.parametrize(
    ("added", "before", "after", "is_grown"),
    [
        ([turn(30), turn(31)], runtime(30), runtime(32), True),
        ([turn(31), b"{ cut\n", turn(30, assistant_text="[EMPTY_RESPONSE]")], runtime(30), runtime(32), True),
        ([turn(30)], {}, {}, True),
        ([turn(30), turn(33)], runtime(30), runtime(40), True),
        ([turn(30), turn(31)], runtime(40), runtime(40), False),
        ([turn(30), turn(3)], runtime(30), runtime(31), False),
        ([turn(30), turn(30)], runtime(30), runtime(31), False),
        ([turn(30, assistant_text="[MODEL_ENDED_SESSION] bye")], runtime(30), runtime(31), False),
        ([turn(30, assistant_text="[MODEL_ENDED_SESSION_EARLY]")], runtime(30), runtime(31), False),
        ([turn(30)], runtime(30), runtime(31) | {"openai_summary.json": '{"judge_model": "other"}'}, False),
        ([turn(30)], runtime(30), runtime(31) | {"transcript.jsonl": turn(30).decode()}, False),
        ([turn(30)], runtime(30) | {"run.log": LOG}, runtime(31) | {"run.log": LOG * 2}, True),
    ],
    ids=[
        "more turns", "any order", "no plan", "turns left out", "turns missing before", "a turn again", "twice",
        "session ended", "ended early", "another judge", "a transcript", "a log",
    ],
)  # fmt: skip
def test_the_store_is_that_of_a_whole_import(tmp_path, monkeypatch, added, before, after, is_grown):
    results = []
    grow = growing.grow
    monkeypatch.setattr(growing, "grow", lambda *given: results.append(grow(*given)) or results[-1])
    for name in ("grown.db", "whole.db"):
        folder = tmp_path / "run"
        for file in folder.iterdir() if folder.exists() else ():
            file.unlink()
        write(folder, EARLIER, before)
        imported(folder, tmp_path / name)
        write(folder, [*EARLIER, *added], after)
        assert imported(folder, tmp_path / name) == "grown"
        assert imported(folder, tmp_path / name) == "unchanged"
        monkeypatch.setattr(growing, "grow", lambda *_: None)

    assert facts_in(tmp_path / "grown.db") == facts_in(tmp_path / "whole.db")
    assert (results[1] is not None) == is_grown
