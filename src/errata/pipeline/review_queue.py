"""What is waiting to be read, and by whom: nobody reads the same failure twice, and nobody sees what others said."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from errata.model import FailureKey, Reviewer, StoredRun, Verdict
from errata.pipeline.failures import Filters
from errata.pipeline.judging import name_of
from errata.pipeline.packeting import wanted_failures
from errata.pipeline.triaging import triage_if_needed
from errata.review.sampling import Waiting
from errata.review.standing import standing
from errata.store.attributions import attributions_of
from errata.store.database import Store
from errata.store.reviews import verdicts_of

Wanted = Literal["unread", "second", "next"]
"""What nobody has read; what others have read; or the first, and then what needs a second reader."""

NO_KEY = FailureKey(exact="", coarse="")


class Queue(NamedTuple):
    waiting: tuple[Waiting, ...]
    failures: int
    """That fit the filters, read or not."""
    read: int
    """Of these, by anybody; taken over from an identical failure counts, too."""


def queue_of(stored: StoredRun, store: Store, reviewer: Reviewer, filters: Filters, wanted: Wanted) -> Queue:
    triage_if_needed(stored, store)
    failures = list(wanted_failures(stored, store, filters))
    said = by_attempt(verdicts_of(store, stored.run.id))
    ranked = [(rank, one) for one in failures if (rank := _rank(said.get(one.id, ()), reviewer, wanted)) is not None]
    attributed = attributions_of(store, stored.pk) if ranked else {}
    waiting = tuple(
        Waiting(
            attempt=one.id,
            case=one.case,
            key=attributed[one.id].failure_key if one.id in attributed else NO_KEY,
            owner=one.owner or "",
        )
        for _, one in sorted(ranked, key=lambda entry: entry[0])
    )
    return Queue(waiting, len(failures), sum(one.id in said for one in failures))


def by_attempt(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.attempt, []).append(verdict)
    return found


def needs_second(verdicts: Sequence[Verdict]) -> bool:
    """Somebody has read it, but something in it talked to the reader, and no other has borne the verdict out."""
    stood = standing(verdicts)
    return stood is not None and stood.verdict.needs_second and not stood.final


def _rank(verdicts: Sequence[Verdict], reviewer: Reviewer, wanted: Wanted) -> int | None:
    """The lowest comes first; none for what this reviewer is not asked to read."""
    readers = set(_readers(verdicts))
    if name_of(reviewer) in readers:
        return None
    if wanted == "second":
        return (not needs_second(verdicts)) if readers else None
    if not verdicts:
        return 0
    return 1 if wanted == "next" and needs_second(verdicts) else None


def _readers(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Those who read it themselves."""
    return (name_of(one.reviewer) for one in verdicts if one.inherited_from is None)
