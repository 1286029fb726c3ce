"""Precision, recall, coverage and the rest, from true and predicted owners. `unknown` counts as wrong."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from bench.triage.trying import Tried

OWNERS: tuple[str, ...] = (
    "model", "budget", "provider", "environment", "harness", "grader", "task", "simulator", "collateral",
)  # fmt: skip


class Rates(msgspec.Struct, frozen=True):
    precision: float | None
    recall: float | None
    f1: float | None
    support: int


class TriageScores(msgspec.Struct, frozen=True, kw_only=True):
    samples: int
    right: int
    coverage: float
    """The share that is not `unknown`."""
    owners: dict[str, Rates]
    macro_f1: float
    """Over the owners that occur."""
    model: Rates
    """Of the model's failures against all others'."""
    not_model: Rates
    decoys: int
    decoys_misread: int
    twins: int
    twins_misread: int
    seconds: int
    """Failures that have a second owner, such as the grader whose tests never ran."""
    seconds_found: int
    confusion: dict[str, dict[str, int]]
    """True owner → predicted owner → how often."""


def measure(tried: Iterable[Tried]) -> TriageScores:
    every = list(tried)
    pairs: list[tuple[str, str]] = [(one.sample.owner, one.owner) for one in every]
    owners = {owner: _rates(pairs, {owner}) for owner in OWNERS if any(true == owner for true, _ in pairs)}
    scores = [rates.f1 or 0.0 for rates in owners.values()]
    decoys = [one for one in every if one.sample.kind == "decoy"]
    twins = [one for one in every if one.sample.kind == "twin"]
    seconds = [one for one in every if one.sample.template and one.sample.template.also]
    return TriageScores(
        samples=len(pairs),
        right=sum(true == said for true, said in pairs),
        coverage=sum(said != "unknown" for _, said in pairs) / len(pairs) if pairs else 1.0,
        owners=owners,
        macro_f1=sum(scores) / len(scores) if scores else 1.0,
        model=_rates(pairs, {"model"}),
        not_model=_rates(pairs, set(OWNERS) - {"model"}),
        decoys=len(decoys),
        decoys_misread=sum(not one.right for one in decoys),
        twins=len(twins),
        twins_misread=sum(not one.right for one in twins),
        seconds=len(seconds),
        seconds_found=sum(one.names_the_second for one in seconds),
        confusion=_confusion(pairs),
    )


def _rates(pairs: list[tuple[str, str]], wanted: set[str]) -> Rates:
    true = sum(owner in wanted for owner, _ in pairs)
    named = sum(owner in wanted for _, owner in pairs)
    both = sum(one in wanted and other in wanted for one, other in pairs)
    precision = both / named if named else None
    recall = both / true if true else None
    return Rates(precision, recall, 2 * both / (true + named) if true + named else None, true)


def _confusion(pairs: list[tuple[str, str]]) -> dict[str, dict[str, int]]:
    counted = Counter(pairs)
    rows: dict[str, dict[str, int]] = {}
    for (true, answer), often in sorted(counted.items()):
        rows.setdefault(true, {})[answer] = often
    return rows
