"""The verb `score`: one run under every policy, as a whole and by category."""

import msgspec

from errata.compare.policies import POLICIES, Score, Trials
from errata.model import Attempt, StoredRun
from errata.model.usage import total_of
from errata.pipeline.triaging import triage_if_needed
from errata.store.attempts import attempts_of, categories_of
from errata.store.attributions import attributions_of, broken_measurements
from errata.store.database import Store


class Cost(msgspec.Struct, frozen=True):
    """What was spent, as far as the log tells; absent is not zero."""

    total: float | None
    of_passes: float | None
    of_failures: float | None
    per_pass: float | None
    """Everything that was spent, over the passes it bought."""
    unknown: int


class Scores(msgspec.Struct, frozen=True):
    stored: StoredRun
    unit: str
    unavailable: bool
    scores: dict[str, Score]
    categories: dict[str, dict[str, Score]]
    cost: Cost


def score_run(stored: StoredRun, store: Store) -> Scores:
    triage_if_needed(stored, store)
    said = attributions_of(store, stored.pk)
    broken = broken_measurements(store, stored.pk)
    categories = categories_of(store, stored.pk)
    attempts = list(attempts_of(store, stored.pk))
    whole = Trials(stored.run, attempts, said, broken)
    parts: dict[str, dict[str, Score]] = {}
    for name in sorted(set(categories.values())):
        part = Trials(
            msgspec.structs.replace(stored.run, expected_cases=None),
            [attempt for attempt in attempts if categories.get(attempt.case) == name],
            said,
            broken,
        )
        parts[name] = {policy: score(part) for policy, score in POLICIES.items() if policy in ("strict", "clean")}
    unit = "attempts" if whole.repeated else "cases"
    scores = {str(policy): score(whole) for policy, score in POLICIES.items()}
    return Scores(stored, unit, whole.unavailable, scores, parts, _cost(attempts))


def _cost(attempts: list[Attempt]) -> Cost:
    counted = [attempt for attempt in attempts if attempt.counted and attempt.execution != "missing"]
    known = [(attempt.usage.cost, attempt.outcome == "pass") for attempt in counted if attempt.usage.cost is not None]
    total = total_of(cost for cost, _ in known)
    passes = sum(passed for _, passed in known)
    return Cost(
        total=total,
        of_passes=total_of(cost for cost, passed in known if passed),
        of_failures=total_of(cost for cost, passed in known if not passed),
        per_pass=total / passes if total is not None and passes else None,
        unknown=len(counted) - len(known),
    )
