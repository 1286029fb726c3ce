"""Which verdicts on failures stand and count, what they say that triage did not, and whether their quotes hold."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from errata.model import Attribution, StoredRun, Verdict
from errata.model.attribution import suggested_label
from errata.model.standing import AttemptReview, Standing, may_be_stale, standing
from errata.store.database import Store
from errata.store.reviews import verdicts_of

if TYPE_CHECKING:
    from errata.model.output.review import QuoteCheckOutput


def standing_of(
    store: Store, run_id: str, *, attempt: str = "", attributed: Mapping[str, Attribution] | None = None
) -> dict[str, AttemptReview]:
    """Attempt → its review. With attributions, triage's owner is the first label in the list of changes."""
    by_attempt: dict[str, list[Verdict]] = {}
    for verdict in verdicts_of(store, run_id, attempt=attempt):
        by_attempt.setdefault(verdict.attempt, []).append(verdict)
    reviews = {}
    for each, verdicts in by_attempt.items():
        suggested = suggested_label((attributed or {}).get(each), verdicts[-1].taxonomy)
        stood = standing(verdicts, suggested=suggested)
        if stood is not None:
            reviews[each] = AttemptReview(tuple(verdicts), stood)
    return reviews


def standing_now(
    stored: StoredRun, store: Store, *, attributed: Mapping[str, Attribution] | None = None
) -> dict[str, AttemptReview]:
    """Without stale ones: the run was imported again, and the quoted text is gone."""
    reviews = standing_of(store, stored.run.id, attributed=attributed)
    doubtful = [one.standing.verdict for one in reviews.values() if may_be_stale(one.standing.verdict, stored)]
    if not doubtful:
        return reviews

    gone = frozenset(quotes_found(stored, store, doubtful).stale)
    return {attempt: said for attempt, said in reviews.items() if attempt not in gone}


def owner_of(attribution: Attribution | None, standing: Standing | None) -> str:
    return standing.verdict.owner if standing else attribution.owner if attribution else ""


def counts(stood: Standing) -> bool:
    """Not one that needs a second, since text that talks to the reader may have made it."""
    return stood.final or stood.verdict.inherited_from is not None


def quotes_found(stored: StoredRun, store: Store, verdicts: Sequence[Verdict]) -> "QuoteCheckOutput":
    # every page asks for standings, and few runs have a verdict that may be stale; the view asks for this
    from errata.review.stored import queue  # noqa: PLC0415
    from errata.runs.review_context import context_of  # noqa: PLC0415
    from errata.runs.view import RunView  # noqa: PLC0415

    return queue.quotes_found(context_of(RunView(stored, store)), store, verdicts)


def is_stale(verdict: Verdict, stored: StoredRun, store: Store) -> bool:
    is_own = verdict.inherited_from is None
    return is_own and may_be_stale(verdict, stored) and bool(quotes_found(stored, store, [verdict]).stale)
