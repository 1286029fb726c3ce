"""The verb `triage`: every failure gets its provisional owner, when it is first asked for and when rules change."""

from collections.abc import Iterator
from functools import lru_cache

from errata import triage
from errata.model import StoredRun
from errata.store.attempts import attempts_of, case_of, failures_to_triage
from errata.store.attributions import Kept, keep_attributions, rules_version_of
from errata.store.database import Store

CASES_HELD = 256


def triage_run(stored: StoredRun, store: Store) -> int:
    """Attribute every failure anew; how many there are."""
    version = triage.version_of(triage.built_in())
    return keep_attributions(store, stored.pk, _attributed(stored, store), version=version)


def triage_if_needed(stored: StoredRun, store: Store) -> None:
    """Only where the run was not triaged yet, or with other rules."""
    if stored.counts.failures and rules_version_of(store, stored.pk) != triage.version_of(triage.built_in()):
        triage_run(stored, store)


def _attributed(stored: StoredRun, store: Store) -> Iterator[Kept]:
    book = triage.built_in()
    counts = stored.counts
    made = counts.counted - counts.executions.get("missing", 0)
    wide = triage.look_over(attempts_of(store, stored.pk, failures=True), made=made)
    known_case = lru_cache(CASES_HELD)(lambda key: case_of(store, stored.pk, key))
    for seq, attempt in failures_to_triage(store, stored.pk):
        case = known_case(attempt.case) if attempt.artefacts else None
        observed = triage.observe(stored.run, attempt, case, wide, book)
        attribution = triage.attribute(
            attempt, observed, source=stored.run.source.name, rules_version=triage.version_of(book)
        )
        yield seq, attribution, any(one.breaks for one in observed)
