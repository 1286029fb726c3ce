"""The verb `triage`: every failure gets its provisional owner, when it is first asked for and when rules change."""

from collections.abc import Iterator
from functools import lru_cache

from errata import triage
from errata.model import StoredRun
from errata.pipeline.rules import rules_in_use
from errata.store.attempts import case_of, failures_to_triage
from errata.store.attributions import Kept, keep_attributions, mark_triaged, rules_version_of
from errata.store.database import Store

CASES_HELD = 256


def triage_run(stored: StoredRun, store: Store, rules: triage.Rules | None = None) -> int:
    """Attribute every failure anew; how many there are."""
    rules = rules or rules_in_use()
    counts = stored.counts
    survey = triage.Survey()
    made = keep_attributions(store, stored.pk, _attributed(stored, store, rules, survey=survey))
    wide = survey.result(counts.counted - counts.executions.get("missing", 0))
    if wide:  # what only the whole run shows is rare: it is worth a second pass, not one for every run
        keep_attributions(store, stored.pk, _attributed(stored, store, rules, wide=wide))
    mark_triaged(store, stored.pk, rules.version)
    return made


def triage_if_needed(stored: StoredRun, store: Store) -> None:
    """Only where the run was not triaged yet, or with other rules."""
    rules = rules_in_use()
    if stored.counts.failures and rules_version_of(store, stored.pk) != rules.version:
        triage_run(stored, store, rules)


def _attributed(
    stored: StoredRun,
    store: Store,
    rules: triage.Rules,
    *,
    survey: triage.Survey | None = None,
    wide: triage.RunWide | None = None,
) -> Iterator[Kept]:
    source = stored.run.source.name
    known_case = lru_cache(CASES_HELD)(lambda key: case_of(store, stored.pk, key))
    for seq, attempt in failures_to_triage(store, stored.pk):
        if survey is not None:
            survey.add(attempt)
        case = known_case(attempt.case) if attempt.artefacts else None
        observed = triage.observe(stored.run, attempt, case, wide, rules)
        attribution = triage.attribute(attempt, observed, source=source, rules=rules)
        yield seq, attribution, any(one.breaks for one in observed)
