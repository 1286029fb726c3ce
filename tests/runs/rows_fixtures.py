"""Logs of three harnesses from the same rows: an id, a question, its gold, an answer and whether it was accepted."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from errata.runs.importing import import_paths
from errata.runs.view import RunView
from errata.store.database import Store, open_store
from errata.store.runs import run_by_id

MAP = """
suite = "sums"
[case]
name = "id"
input = "question"
expected = "gold"
[attempt]
output = "answer"
passed = "correct"
"""


class Line(NamedTuple):
    """One row of a log."""

    id: str
    question: str | None
    gold: str | None
    answer: str
    correct: bool = False


def generic(folder: Path, lines: list[Line]) -> Path:
    path = folder / f"{folder.name}.jsonl"
    path.write_text("".join(json.dumps(line._asdict()) + "\n" for line in lines))
    (folder / f"{path.name}.map.toml").write_text(MAP)
    return path


def deepeval(folder: Path, lines: list[Line]) -> Path:
    cases = [
        {
            "name": line.id,
            "input": line.question,
            "actualOutput": line.answer,
            "expectedOutput": line.gold,
            "success": line.correct,
            "metricsData": [
                {"name": "Exact", "threshold": 1.0, "success": line.correct, "score": float(line.correct)},
            ],
            "order": at,
        }
        for at, line in enumerate(lines)
    ]
    path = folder / "test_run.json"
    path.write_text(json.dumps({"testCases": cases, "conversationalTestCases": [], "metricsScores": []}))
    return path


def ragas(folder: Path, lines: list[Line]) -> Path:
    path = folder / "result.jsonl"
    rows: list[dict[str, Any]] = [
        {"id": line.id, "user_input": line.question, "response": line.answer, "reference": line.gold}
        | {"exact_match": float(line.correct)}
        for line in lines
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


WRITERS = {"generic": generic, "deepeval": deepeval, "ragas": ragas}


def view_of(folder: Path, lines: list[Line], *, source: str = "generic", store: Store | None = None) -> RunView:
    folder.mkdir(parents=True, exist_ok=True)
    opened = store or open_store(folder / "store.db")
    (summary,) = import_paths([WRITERS[source](folder, lines)], opened)
    return RunView(run_by_id(opened, summary.runs[0].id), opened)


def owners(view: RunView) -> Counter[tuple[Any, ...]]:
    """By the content of a row, whatever its place: what it was held against, and whose its failure is."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for attempt in view.attempts():
        case, attribution = view.case_for(attempt), view.attributions.get(attempt.id)
        asked = (case.input, case.expected) if case is not None else None
        decided = (attribution.owner, attribution.decided_by) if attribution is not None else None
        counts[attempt.case, attempt.output.text, attempt.outcome, repr(asked), decided] += 1
    return counts


def findings(view: RunView) -> list[tuple[Any, ...]]:
    """Without the places in the log, which the order of rows changes."""
    return [
        (one.name, one.severity, one.text, sorted(evidence.quote for evidence in one.evidence))
        for one in view.health.findings
    ]
