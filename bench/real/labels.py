"""The labelled attempts, and how well their readers agree."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
INFRASTRUCTURE = ("provider", "environment", "harness", "collateral")
"""Owners of infrastructure failures. A simulator that crashed would be among them."""


class Item(NamedTuple):
    id: str
    set: str
    held_out: bool
    kind: str
    """failure or pass."""
    sample: str
    run: str
    run_id: str
    """errata's, since runs may share a name; empty where errata could not read the run when it was labelled."""
    case: str
    attempt: int
    passed_elsewhere: bool
    """Of a failure: another subject, attempt or the reference passed the case."""


class ReaderLabel(NamedTuple):
    owner: str
    second: str
    confidence: str
    is_visible: bool
    is_self_evident: bool
    """For the owner `model`: the mistake shows without knowing that others passed the case."""
    reason: str
    line: str


class Label(NamedTuple):
    """What the readers settled on. Where both agree, there is no third reader."""

    owner: str
    second: str
    is_self_evident: bool
    agreed: bool
    readers: tuple[ReaderLabel, ...]


def read_items() -> list[Item]:
    return [Item(**json.loads(line)) for line in _lines("items.jsonl")]


def read_labels() -> dict[str, Label]:
    return {row["id"]: _label(row) for row in map(json.loads, _lines("labels.jsonl"))}


def _lines(name: str) -> list[str]:
    return (FOLDER / name).read_text("utf-8").splitlines()


def _label(row: dict[str, Any]) -> Label:
    readers = tuple(ReaderLabel(**reader) for reader in row["readers"])
    decisive = readers[-1]
    agreed = readers[0].owner == readers[1].owner
    if agreed:
        seconds = {reader.second for reader in readers[:2]} - {""}
        second = seconds.pop() if len(seconds) == 1 else ""
        evident = all(reader.is_self_evident for reader in readers[:2])
        return Label(decisive.owner, second, evident, agreed, readers)
    return Label(decisive.owner, decisive.second, decisive.is_self_evident, agreed, readers)


def kappa(labels: list[Label]) -> float:
    """Cohen's kappa of the first two readers."""
    pairs = [(label.readers[0].owner, label.readers[1].owner) for label in labels]
    if not pairs:
        return float("nan")
    same = sum(first == second for first, second in pairs) / len(pairs)
    firsts, seconds = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    chance = sum(firsts[owner] * seconds[owner] for owner in firsts) / len(pairs) ** 2
    return (same - chance) / (1 - chance) if chance < 1 else 1.0
