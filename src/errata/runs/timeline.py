"""The verb `sessions`: the timeline of a run's sessions, what the latest one hides, and its cascades."""

from errata.compare.sessions import Timeline, timeline
from errata.compare.trials import Opinions
from errata.model import StoredRun
from errata.runs.standings import counting_verdicts
from errata.runs.triaging import triage_if_needed
from errata.store.attempts import attempts_of
from errata.store.attributions import attributions_of, broken_measurements
from errata.store.database import Store


def timeline_of(stored: StoredRun, store: Store) -> Timeline:
    triage_if_needed(stored, store)
    opinions = Opinions(
        attributions=attributions_of(store, stored.pk),
        broken=broken_measurements(store, stored.pk),
        verdicts=counting_verdicts(stored, store),
    )
    return timeline(stored.run, attempts_of(store, stored.pk), opinions)
