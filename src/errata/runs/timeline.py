"""The sessions of a run one after the other, what the latest one hides, and its cascades."""

from errata.compare.sessions import Timeline, timeline
from errata.compare.trials import Opinions
from errata.runs.view import RunView
from errata.store.attributions import broken_measurements


def timeline_of(view: RunView) -> Timeline:
    opinions = Opinions(
        attributions=view.attributions,
        broken=broken_measurements(view.store, view.stored.pk),
        verdicts=view.counting_verdicts,
    )
    return timeline(view.run, view.attempts(), opinions)
