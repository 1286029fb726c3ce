"""What is waiting to be reviewed and by whom, and a sample of it where that is too much."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from errata.model import Attribution, FailureKey, Reviewer, StoredRun, Verdict
from errata.model.attempt import ListedFailure
from errata.model.attribution import NO_KEY
from errata.model.standing import is_same, may_be_stale, standing
from errata.review.adjudicate import disputed

QueueKind = Literal["unread", "second", "next", "disputed"]
"""What nobody has read; what others have read; the first, and then what needs a second reader; or what others disagree
on. What was read before its evidence changed comes last, but neither for a second opinion nor for an adjudication."""


class WaitingFailure(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A failure that nobody has read yet, and the group it is taken for."""

    attempt: str
    case: str
    key: FailureKey
    owner: str = ""


class QueueSample(msgspec.Struct, frozen=True):
    taken: tuple[WaitingFailure, ...]
    left_out: dict[str, int]
    """Coarse key → how many of it are not read."""


def sample(waiting: Iterable[WaitingFailure], limit: int | None) -> QueueSample:
    """One of each group, then a second of each, and so on, so that no group is read whole while another is not begun.

    Within a group those of different exact keys come first: they are the likeliest to differ. Nothing is left to
    chance, so that a second call takes up where the first one stopped.
    """
    every = list(waiting)
    if limit is None or len(every) <= limit:
        return QueueSample(tuple(every), {})
    groups: dict[str, list[WaitingFailure]] = {}
    for failure in every:
        groups.setdefault(failure.key.coarse, []).append(failure)
    ranked = sorted(
        ((rank, -len(members), coarse), failure)
        for coarse, members in groups.items()
        for rank, failure in enumerate(_varied(members))
    )
    taken = [one for _, one in ranked[:limit]]
    left_out: dict[str, int] = {}
    for _, failure in ranked[limit:]:
        left_out[failure.key.coarse] = left_out.get(failure.key.coarse, 0) + 1
    chosen = {one.attempt for one in taken}
    return QueueSample(tuple(one for one in every if one.attempt in chosen), left_out)


def _varied(members: list[WaitingFailure]) -> list[WaitingFailure]:
    """Those with a new exact key first, in their order; then the second of each key, and so on."""
    seen: dict[str, int] = {}
    ranked = []
    for at, failure in enumerate(members):
        rank = seen.get(failure.key.exact, 0)
        seen[failure.key.exact] = rank + 1
        ranked.append((rank, at, failure))
    return [one for _, _, one in sorted(ranked, key=lambda entry: entry[:2])]


class Queue(NamedTuple):
    waiting: tuple[WaitingFailure, ...]
    failures: int
    """That fit the filters, read or not."""
    read: int
    """Of these, by anybody; taken over from an identical failure counts, too."""
    others: int
    """Of these, read by others and not by this reviewer."""
    returned: frozenset[str]
    """Of what is waiting: read before, evidence changed since."""


def build_queue(
    failures: Sequence[ListedFailure],
    given: Mapping[str, Sequence[Verdict]],
    attributions: Mapping[str, Attribution],
    stale: frozenset[str],
    reviewer: Reviewer,
    wanted: QueueKind,
) -> Queue:
    """Of the failures that fit the filters, with the verdicts on them, and which of these verdicts are stale."""
    ranks = {
        failure.id: _rank(given.get(failure.id, ()), reviewer, wanted, failure.id in stale) for failure in failures
    }
    ranked = [(rank, failure) for failure in failures if (rank := ranks[failure.id]) is not None]
    waiting = tuple(
        WaitingFailure(
            attempt=failure.id,
            case=failure.case,
            key=attributions[failure.id].failure_key if failure.id in attributions else NO_KEY,
            owner=failure.owner or "",
        )
        for _, failure in sorted(ranked, key=lambda entry: (entry[0], _doubt(attributions.get(entry[1].id))))
    )
    others = sum(_rank(verdicts, reviewer, "second", False) is not None for verdicts in given.values())
    return Queue(waiting, len(failures), len(given), others, stale)


def perhaps_returned(reviewer: Reviewer, given: Mapping[str, Sequence[Verdict]], stored: StoredRun) -> list[Verdict]:
    """Standing verdicts older than the run's content that nobody has renewed: stale if their quotes are gone.

    A person's verdict is in force until a person changes it: it returns to people even after a program's review.
    """
    again = []
    for verdicts in given.values():
        stood = standing(verdicts)
        since = [one for one in verdicts if one.inherited_from is None and not may_be_stale(one, stored)]
        own = any(is_same(one.reviewer, reviewer) for one in since)
        if stood is not None and not own and (not since or reviewer.kind == "person"):
            again.append(stood.verdict)
    return [one for one in again if one.inherited_from is None and may_be_stale(one, stored)]


def by_attempt(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    by_attempt: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_attempt.setdefault(verdict.attempt, []).append(verdict)
    return by_attempt


def needs_second(verdicts: Sequence[Verdict]) -> bool:
    """Somebody has read it, but something in it talked to the reader, and no other has borne the verdict out."""
    stood = standing(verdicts)
    return stood is not None and stood.verdict.needs_second and not stood.final


def _rank(verdicts: Sequence[Verdict], reviewer: Reviewer, wanted: QueueKind, returned: bool) -> int | None:
    """The lowest comes first; none for what this reviewer is not asked to read."""
    readers = [one.reviewer for one in verdicts if one.inherited_from is None]
    if returned:
        return 2
    if any(is_same(one, reviewer) for one in readers):
        return None
    if wanted == "disputed":
        return 0 if disputed(verdicts) else None
    if wanted == "second":
        return (not needs_second(verdicts)) if readers else None
    if not verdicts:
        return 0
    return 1 if wanted == "next" and needs_second(verdicts) else None


def _doubt(attribution: Attribution | None) -> int:
    """What rules disagree about comes first, then what is only presumed to be the model's."""
    if attribution is None or attribution.also:
        return 0
    return 1 if attribution.proof == "presumed" else 2
