"""The verb `review agreement`: how far independent readers say the same, and where a person has to decide."""

from collections.abc import Sequence

import msgspec

from errata.model import StoredRun, Verdict
from errata.pipeline.review_state import named
from errata.review.agreement import Agreement, agreement, owner_of, ratings_of
from errata.review.standing import standing
from errata.store.database import Store
from errata.store.reviews import verdicts_of


class Dispute(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    case: str
    attempt_id: str
    labels: dict[str, str]
    """Reviewer → label."""
    decided: str
    """By a person; empty while nobody has."""


class Agreed(msgspec.Struct, frozen=True, kw_only=True):
    taxonomy: str
    agreement: Agreement
    """On the label."""
    owners: Agreement
    """On who has to act, over the same failures."""
    disputes: tuple[Dispute, ...]


def agreement_of(runs: Sequence[StoredRun], store: Store) -> list[Agreed]:
    """Over all runs together; apart for each taxonomy, since labels of two can't be compared."""
    given: dict[str, list[tuple[StoredRun, Verdict]]] = {}
    for stored in runs:
        for verdict in verdicts_of(store, stored.run.id):
            given.setdefault(verdict.taxonomy, []).append((stored, verdict))
    return [_agreed(taxonomy, found) for taxonomy, found in sorted(given.items())]


def _agreed(taxonomy: str, given: Sequence[tuple[StoredRun, Verdict]]) -> Agreed:
    verdicts = [verdict for _, verdict in given]
    runs = {verdict.attempt: stored for stored, verdict in given}
    measured, ratings = agreement(verdicts), ratings_of(verdicts)
    disputes = []
    for attempt in measured.disagreements:
        stood = standing(one for one in verdicts if one.attempt == attempt)
        by_a_person = stood is not None and stood.verdict.reviewer.kind == "person"
        disputes.append(
            Dispute(
                run=runs[attempt].run.native_id,
                case=named(runs[attempt], attempt),
                attempt_id=attempt,
                labels=ratings[attempt],
                decided=stood.verdict.label if stood and by_a_person else "",
            )
        )
    owners = agreement(verdicts, owner_of)
    return Agreed(taxonomy=taxonomy, agreement=measured, owners=owners, disputes=tuple(disputes))
