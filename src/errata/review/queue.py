"""What is waiting to be read, and by whom: nobody reads the same failure twice, and nobody sees what others said."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from errata.model import FailureKey, Reviewer, StoredRun, Verdict
from errata.review.packing import wanted_failures
from errata.review.sampling import Waiting
from errata.review.standing import name_of, standing
from errata.runs.failures import Filters
from errata.runs.stale_quotes import quotes_found
from errata.runs.standings import may_be_stale
from errata.runs.triaging import triage_if_needed
from errata.store.attributions import attributions_of
from errata.store.database import Store
from errata.store.reviews import verdicts_of

Wanted = Literal["unread", "second", "next"]
"""What nobody has read; what others have read; or the first, and then what needs a second reader. What was read before
its evidence changed comes last, but not for a second opinion."""

NO_KEY = FailureKey(exact="", coarse="")


class Queue(NamedTuple):
    waiting: tuple[Waiting, ...]
    failures: int
    """That fit the filters, read or not."""
    read: int
    """Of these, by anybody; taken over from an identical failure counts, too."""
    others: int
    """Of these, read by others and not by this reviewer."""
    returned: frozenset[str]
    """Of what is waiting: read before, evidence changed since."""


def queue_of(stored: StoredRun, store: Store, reviewer: Reviewer, filters: Filters, wanted: Wanted) -> Queue:
    triage_if_needed(stored, store)
    failures = list(wanted_failures(stored, store, filters))
    said = by_attempt(verdicts_of(store, stored.run.id))
    given = {one.id: said[one.id] for one in failures if one.id in said}
    stale = frozenset() if wanted == "second" else returned_to(reviewer, given, stored, store)
    ranks = {one.id: _rank(given.get(one.id, ()), reviewer, wanted, one.id in stale) for one in failures}
    ranked = [(rank, one) for one in failures if (rank := ranks[one.id]) is not None]
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
    others = sum(_rank(found, reviewer, "second", False) is not None for found in given.values())
    return Queue(waiting, len(failures), len(given), others, stale)


def returned_to(
    reviewer: Reviewer, given: Mapping[str, Sequence[Verdict]], stored: StoredRun, store: Store
) -> frozenset[str]:
    """Attempts whose standing verdict goes by what is there no more, and that nobody has read again since.

    What a person said stands until a person says otherwise: it returns to people also where a program has read it.
    """
    again = []
    for verdicts in given.values():
        stood = standing(verdicts)
        since = [one for one in verdicts if one.inherited_from is None and not may_be_stale(one, stored)]
        own = any(name_of(one.reviewer) == name_of(reviewer) for one in since)
        if stood is not None and not own and (not since or reviewer.kind == "person"):
            again.append(stood.verdict)
    read = [one for one in again if one.inherited_from is None and may_be_stale(one, stored)]
    return frozenset(quotes_found(stored, store, read).stale) if read else frozenset()


def has_failures(stored: StoredRun, store: Store, filters: Filters) -> bool:
    """Whether any fits the filters, read or not."""
    triage_if_needed(stored, store)
    return next(wanted_failures(stored, store, filters), None) is not None


def by_attempt(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.attempt, []).append(verdict)
    return found


def needs_second(verdicts: Sequence[Verdict]) -> bool:
    """Somebody has read it, but something in it talked to the reader, and no other has borne the verdict out."""
    stood = standing(verdicts)
    return stood is not None and stood.verdict.needs_second and not stood.final


def _rank(verdicts: Sequence[Verdict], reviewer: Reviewer, wanted: Wanted, returned: bool) -> int | None:
    """The lowest comes first; none for what this reviewer is not asked to read."""
    readers = set(_readers(verdicts))
    if returned:
        return 2
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
