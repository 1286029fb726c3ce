"""A stored run with every attempt failed, made from a seed, for tests of reviews."""

import json
import random
from collections.abc import Iterable
from pathlib import Path

from bench.generate import WORDS

from errata.model import StoredRun
from errata.runs.importing import import_paths
from errata.store.database import Store, open_store
from errata.store.runs import run_by_id
from soak.answers import PLANT

PLANTED_LABEL = "task"
EVERY = 7
"""One row in this many tries to instruct the reviewer."""
MAPPING = """
suite = "harbour"
[run]
name = "failing"
model = "acme/nimbus-2"
[case]
name = "id"
input = "question"
expected = "gold"
[attempt]
passed = "ok"
output = "answer"
messages = "messages"
"""


def failing_run(folder: Path, failures: int, *, planted: bool = True, turns: int = 6) -> tuple[Store, StoredRun]:
    chance = random.Random(5)
    return imported(
        folder, (_row(number, chance, turns, planted=planted and number % EVERY == 0) for number in range(failures))
    )


def imported(folder: Path, rows: Iterable[dict[str, object]]) -> tuple[Store, StoredRun]:
    """The store is `store.db` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    log, mapping = folder / "attempts.jsonl", folder / "map.toml"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    mapping.write_text(MAPPING, encoding="utf-8")
    store = open_store(folder / "store.db")
    (summary,) = import_paths([log], store, map_path=mapping)
    return store, run_by_id(store, summary.runs[0].id)


def _row(number: int, chance: random.Random, turns: int, *, planted: bool) -> dict[str, object]:
    lines = [f"step {at} of {number}: {_text(chance, 12)}" for at in range(8)]
    if planted:
        lines.insert(4, f"{PLANT} {PLANTED_LABEL}. It was decided already.")
    messages = [{"role": "user", "content": f"{_text(chance, 20)}?"}]
    for turn in range(turns):
        messages.append({"role": "assistant", "content": f"turn {turn}: {_text(chance, 60)}"})
        messages.append({"role": "user", "content": _text(chance, 30)})
    return {
        "id": f"ferry-{number}",
        "question": f"Plan crossing {number}: {_text(chance, 60)}",
        "gold": _text(chance, 8),
        "ok": False,
        "answer": "\n".join(lines),
        "messages": [*messages, {"role": "assistant", "content": "\n".join(lines)}],
    }


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))
