"""Triage of many failures beside importing them, in the same run."""

import json
import random
import time
from pathlib import Path

import msgspec

from bench.triage.templates import Template, faults
from errata.runs.importing import import_paths
from errata.runs.triaging import triage_run
from errata.store.database import open_store
from errata.store.runs import run_by_id

FAILURES = 100_000
PHRASES = (
    "names the wrong pier",
    "omits the ferry",
    "books too many seats",
    "gives no price",
    "is late",
)


class Speed(msgspec.Struct, frozen=True):
    failures: int
    import_seconds: float
    triage_seconds: float

    @property
    def ratio(self) -> float:
        return self.triage_seconds / self.import_seconds


def compare(folder: Path, failures: int = FAILURES) -> Speed:
    log = _all_failing(folder, failures)
    store = open_store(folder / "speed.db")
    started = time.perf_counter()
    imported = import_paths([log], store, map_path=log.parent / "map.toml")
    between = time.perf_counter()
    made = sum(triage_run(run_by_id(store, run.id), store) for summary in imported for run in summary.runs)
    done = time.perf_counter()
    assert made == failures, f"{made} of {failures} were triaged"
    return Speed(failures, between - started, done - between)


def _all_failing(folder: Path, rows: int) -> Path:
    """JSON lines, every one a failure: half of them errors, half refused answers, hardly two messages alike."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(7)
    thrown = [template for template in faults() if template.type and template.text]
    path = folder / "failures.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            file.write(f"{json.dumps(_row(number, thrown[number % len(thrown)], chance))}\n")
    (folder / "map.toml").write_text(
        'suite = "failing"\n[run]\nmodel = "bench"\n[case]\nname = "id"\n'
        '[attempt]\npassed = "ok"\noutput = "answer"\nerror = "error"\n[checks]\nquality = "ok"\n'
    )
    return path


def _row(number: int, template: Template, chance: random.Random) -> dict[str, object]:
    row: dict[str, object] = {"id": f"q-{number}", "answer": ", ".join(chance.choices(PHRASES, k=5)), "ok": False}
    if number % 2:
        error = f"{template.type}: {template.text} (request {chance.randrange(10**9)})"
        row |= {"answer": None, "ok": None, "error": error}
    return row
