"""The verb `score`: one run under every policy, as a whole and by category."""

from collections.abc import Iterable, Iterator

import msgspec

from errata.compare.policies import POLICIES, Policy, Score, Trials
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
    purse = _Purse()
    attempts = purse.watch(attempts_of(store, stored.pk))
    whole = Trials(stored.run, attempts, attributions_of(store, stored.pk), broken_measurements(store, stored.pk))
    members: dict[str, set[str]] = {}
    for case, category in categories_of(store, stored.pk).items():
        members.setdefault(category, set()).add(case)
    parts = {name: _scores(whole.only(cases), ("strict", "clean")) for name, cases in sorted(members.items())}
    unit = "attempts" if whole.repeated else "cases"
    return Scores(stored, unit, whole.unavailable, _scores(whole, POLICIES), parts, purse.cost)


def _scores(trials: Trials, policies: Iterable[Policy]) -> dict[str, Score]:
    return {policy: POLICIES[policy](trials) for policy in policies}


class _Purse:
    """Adds up what was spent, while the attempts pass by."""

    def __init__(self) -> None:
        self._passes: list[float] = []
        self._failures: list[float] = []
        self._unknown = 0

    def watch(self, attempts: Iterable[Attempt]) -> Iterator[Attempt]:
        for attempt in attempts:
            if attempt.counted and attempt.execution != "missing":
                cost = attempt.usage.cost
                if cost is None:
                    self._unknown += 1
                else:
                    (self._passes if attempt.outcome == "pass" else self._failures).append(cost)
            yield attempt

    @property
    def cost(self) -> Cost:
        total = total_of([*self._passes, *self._failures])
        return Cost(
            total=total,
            of_passes=total_of(self._passes),
            of_failures=total_of(self._failures),
            per_pass=total / len(self._passes) if total is not None and self._passes else None,
            unknown=self._unknown,
        )
