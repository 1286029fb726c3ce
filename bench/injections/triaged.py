"""The owner that triage gives to each injected failure: written as a log, imported and triaged as a user's would be."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bench.injections.cases import Injection
from errata.runs.importing import import_paths
from errata.runs.triaging import triage_run
from errata.store.attributions import attributions_of
from errata.store.database import open_store
from errata.store.runs import run_by_id

SUITE = "injections"


def with_triage(injections: Sequence[Injection]) -> list[Injection]:
    """Each with the owner that rules name, and their signals in its packet."""
    with tempfile.TemporaryDirectory(prefix="errata-bench-") as folder:
        log = Path(folder) / "injections.jsonl"
        log.write_text("".join(json.dumps({"errata": 1, **line}) + "\n" for line in _lines(injections)))
        store = open_store(Path(folder) / "errata.db")
        ((run,),) = (summary.runs for summary in import_paths([log], store))
        stored = run_by_id(store, run.id)
        triage_run(stored, store)
        by_attempt = attributions_of(store, stored.pk)
        store.engine.dispose()
    by_case = {attempt.partition(":")[2].partition("#")[0]: one for attempt, one in by_attempt.items()}
    triaged = []
    for number, injection in enumerate(injections):
        attribution = by_case[f"{SUITE}/{number}"]
        packet = msgspec.structs.replace(injection.packet, signals=attribution.signals)
        triaged.append(injection._replace(packet=packet, triaged=(attribution.owner, *attribution.also)))
    return triaged


def _lines(injections: Sequence[Injection]) -> Iterator[dict[str, Any]]:
    run = {"native_id": "injected", "suite": SUITE, "source": {"name": "bench"}, "subject": {"model": "acme/nimbus-2"}}
    yield {"kind": "run", "record": run}
    for number, injection in enumerate(injections):
        texts = {place.place: place.text for place in injection.packet.places}
        case = {"suite": SUITE, "native_id": str(number), "input": texts["task"], "target": texts["expected"]}
        yield {"kind": "case", "record": case}
        yield {"kind": "attempt", "record": _attempt(number, texts)}


def _attempt(number: int, texts: dict[str, str]) -> dict[str, Any]:
    steps = [{"index": 1, "actor": {"role": "assistant"}, "text": "I look at the page."}]
    if "steps/2" in texts:
        steps.append({"index": 2, "actor": {"role": "tool", "name": "fetch_page"}, "text": texts["steps/2"]})
    return {
        "case": f"{SUITE}/{number}",
        "execution": "completed",
        "measurement": "scored",
        "outcome": "fail",
        "output": {"text": texts["output"]},
        "checks": [{"name": "answer", "status": "fail", "kind": "tests", "explanation": texts["checks/answer"]}],
        "steps": steps,
        "artefacts": [{"role": "log", "path": "run.log", "text": texts["run.log"]}],
    }
