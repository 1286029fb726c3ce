"""The same way of failing with other models: failures of other runs of the suite that have the same exact key."""

from collections import Counter

import msgspec

from errata.model import FailureKey, StoredRun
from errata.runs.causes import says_something
from errata.runs.history import is_same_subject
from errata.store.attributions import each_attribution
from errata.store.database import Store
from errata.store.runs import all_runs

MOST_RUNS = 50
MOST_LOOKED_AT = 20_000
"""Failures of other runs, the newest run first."""


class Alike(msgspec.Struct, frozen=True):
    model: str
    count: int
    run: str
    """The newest with such a failure."""


def failing_alike(stored: StoredRun, store: Store, key: FailureKey) -> tuple[Alike, ...]:
    """Models that fail in the same way, those that do so most often first.

    A key without words of its own, such as `unresolved`, is no likeness; nor is a run without a model another model.
    """
    if not says_something(key):
        return ()
    often: Counter[str] = Counter()
    newest: dict[str, str] = {}
    left = MOST_LOOKED_AT
    named = (one for one in all_runs(store, suite=stored.run.suite) if one.run.subject.model)
    others = [one for one in named if one.run.id != stored.run.id and not is_same_subject(one.run, stored.run)]
    for one in others[:MOST_RUNS] if stored.run.suite else ():
        left -= one.counts.failures
        if one.run.excluded is not None or left < 0:
            continue
        found = sum(said.failure_key.exact == key.exact for said, _ in each_attribution(store, one.pk))
        if found:
            often[one.run.subject.model] += found
            newest.setdefault(one.run.subject.model, one.run.native_id)
    return tuple(Alike(model, count, newest[model]) for model, count in often.most_common())
