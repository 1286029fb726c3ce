"""The verb `score`: one run under every policy, as a whole and by category."""

import msgspec

from errata.compare.policies import POLICIES, Score, Trials
from errata.model import StoredRun
from errata.pipeline.triaging import triage_if_needed
from errata.store.attempts import attempts_of, categories_of
from errata.store.attributions import attributions_of, broken_measurements
from errata.store.database import Store


class Scores(msgspec.Struct, frozen=True):
    stored: StoredRun
    unit: str
    unavailable: bool
    scores: dict[str, Score]
    categories: dict[str, dict[str, Score]]


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
    return Scores(stored, unit, whole.unavailable, {policy: score(whole) for policy, score in POLICIES.items()}, parts)
