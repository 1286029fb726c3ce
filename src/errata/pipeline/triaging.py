"""The verb `triage`: every failure gets its provisional owner, when it is first asked for and when rules change."""

from collections.abc import Iterator
from functools import lru_cache

from errata import triage
from errata.model import StoredRun
from errata.store.attempts import case_of, failures_to_triage
from errata.store.attributions import Kept, keep_attributions, mark_triaged, rules_version_of
from errata.store.database import Store

CASES_HELD = 256


def triage_run(stored: StoredRun, store: Store) -> int:
    """Attribute every failure anew; how many there are."""
    version = _version()
    counts = stored.counts
    survey = triage.Survey()
    made = keep_attributions(store, stored.pk, _attributed(stored, store, survey=survey))
    wide = survey.result(counts.counted - counts.executions.get("missing", 0))
    if wide:  # what only the whole run shows is rare: it is worth a second pass, not one for every run
        keep_attributions(store, stored.pk, _attributed(stored, store, wide=wide))
    mark_triaged(store, stored.pk, version)
    return made


def triage_if_needed(stored: StoredRun, store: Store) -> None:
    """Only where the run was not triaged yet, or with other rules."""
    if stored.counts.failures and rules_version_of(store, stored.pk) != _version():
        triage_run(stored, store)


def _version() -> str:
    return triage.version_of(triage.built_in())


def _attributed(
    stored: StoredRun, store: Store, *, survey: triage.Survey | None = None, wide: triage.RunWide | None = None
) -> Iterator[Kept]:
    book, version, source = triage.built_in(), _version(), stored.run.source.name
    known_case = lru_cache(CASES_HELD)(lambda key: case_of(store, stored.pk, key))
    for seq, attempt in failures_to_triage(store, stored.pk):
        if survey is not None:
            survey.add(attempt)
        case = known_case(attempt.case) if attempt.artefacts else None
        observed = triage.observe(stored.run, attempt, case, wide, book)
        attribution = triage.attribute(attempt, observed, source=source, rules_version=version)
        yield seq, attribution, any(one.breaks for one in observed)
