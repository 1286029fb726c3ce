"""The verb `review agreement`: how far independent readers say the same, and where a person has to decide."""

from collections.abc import Sequence

import msgspec

from errata.model import StoredRun, Verdict
from errata.review.agreement import Agreement, agreement, owner_of, ratings_of
from errata.review.standing import standing
from errata.review.status import named
from errata.store.database import Store
from errata.store.reviews import verdicts_of


class Dispute(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    case: str
    attempt_id: str
    labels: dict[str, str]
    """Reviewer → label."""
    owners: dict[str, str]
    """Reviewer → owner: the label `none` may hide that they differ."""
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
    labels, owners = agreement(verdicts), agreement(verdicts, owner_of)
    said, blamed = ratings_of(verdicts), ratings_of(verdicts, owner_of)
    disputed = sorted({*labels.disagreements, *owners.disagreements})
    disputes = tuple(_dispute(runs[attempt], attempt, verdicts, said[attempt], blamed[attempt]) for attempt in disputed)
    return Agreed(taxonomy=taxonomy, agreement=labels, owners=owners, disputes=disputes)


def _dispute(
    stored: StoredRun, attempt: str, verdicts: Sequence[Verdict], labels: dict[str, str], owners: dict[str, str]
) -> Dispute:
    stood = standing(one for one in verdicts if one.attempt == attempt)
    by_a_person = stood is not None and stood.verdict.reviewer.kind == "person"
    return Dispute(
        run=stored.run.native_id,
        case=named(stored, attempt),
        attempt_id=attempt,
        labels=labels,
        owners=owners,
        decided=stood.verdict.label if stood and by_a_person else "",
    )
