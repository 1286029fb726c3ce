"""The list of what a person has to review, and who reads what at the moment, from the store."""

from collections.abc import Collection
from datetime import datetime, timedelta
from secrets import token_hex

from errata.model import Reviewer
from errata.model.filters import Filters
from errata.model.identity import split_attempt_id
from errata.model.record import Struct
from errata.model.times import to_text
from errata.model.verdict import Lease, word_for
from errata.review.material import RunContext
from errata.review.queue import by_attempt
from errata.review.stored.packets import wanted_failures
from errata.review.stored.queue import returned_to
from errata.review.worklist import RunToReview
from errata.store.database import Store
from errata.store.reviews import leases_of, renew_lease, verdicts_of

CLAIM = timedelta(minutes=2)
"""How long others see that somebody is reading a failure, after the last sign of it."""


class Claim(Struct):
    """A failure in somebody's hands. It stops nobody: others see it, and are offered the next."""

    attempt: str
    token: str
    until: str
    others: tuple[str, ...]
    """Names of others who are reading it."""


def run_to_review(
    context: RunContext, store: Store, filters: Filters, reviewer: Reviewer, *, now: datetime
) -> RunToReview:
    run_id = context.stored.run.id
    failures = list(wanted_failures(context, store, filters))
    verdicts = by_attempt(verdicts_of(store, run_id))
    given = {one.id: verdicts[one.id] for one in failures if one.id in verdicts}
    in_hand = leases_of(store, run_id, now=to_text(now))
    return RunToReview(
        stored=context.stored,
        failures=failures,
        attributions=context.attributions,
        verdicts=given,
        returned=returned_to(reviewer, given, context, store),
        in_hand={attempt: _others(words, reviewer) for attempt, words in in_hand.items()},
    )


def claim_failure(attempt: str, store: Store, reviewer: Reviewer, *, now: datetime) -> Claim:
    """Taken, or renewed where it is in the same hands already."""
    word = word_for(reviewer)
    wanted = Lease(attempt, token_hex(8), to_text(now + CLAIM))
    lease = renew_lease(store, attempt, reviewer=word, lease=wanted, now=to_text(now))
    others = reading_now(attempt, store, reviewer, now=now)
    return Claim(attempt=attempt, token=lease.token, until=lease.until, others=others)


def reading_now(attempt: str, store: Store, reviewer: Reviewer, *, now: datetime) -> tuple[str, ...]:
    """Names of others who have claimed it."""
    held = leases_of(store, split_attempt_id(attempt).run, now=to_text(now))
    return _others(held.get(attempt, ()), reviewer)


def _others(words: Collection[str], reviewer: Reviewer) -> tuple[str, ...]:
    """`person:ada` is Ada; the version and the reading are left out."""
    names = {one.partition(":")[2].partition("#")[0].partition("@")[0] for one in words if one != word_for(reviewer)}
    return tuple(sorted(names))
