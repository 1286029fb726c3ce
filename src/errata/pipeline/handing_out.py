"""The verb `review next`: one packet, handed to one reader for a while."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from secrets import token_hex

import msgspec

from errata.errors import NotFoundError
from errata.model import Packet, Reviewer, StoredRun
from errata.model.times import from_iso
from errata.pipeline.failures import Filters, case_name
from errata.pipeline.packeting import Packing, packet_of, question_for
from errata.pipeline.review_queue import queue_of
from errata.pipeline.showing import ShownAttempt, find_shown
from errata.review.redaction import redacted
from errata.store.database import Store
from errata.store.reviews import Lease, end_lease, leases_of, take_lease, word_for

LASTS = timedelta(hours=1)
"""How long a reader has; after that another may be given the same packet."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Who wants to read, and how."""

    reviewer: Reviewer
    filters: Filters = Filters()
    taxonomy: str = ""
    blind: bool = False


class Handed(msgspec.Struct, frozen=True, kw_only=True):
    packet: Packet
    """Redacted: what is quoted from it is looked up in it."""
    case: str
    token: str
    until: str
    waiting: int
    """What this reader could be given after this one."""


class NothingFree(msgspec.Struct, frozen=True, kw_only=True):
    failures: int
    read: int
    in_hand: int
    """Waiting, but given to a reader of the same name."""


def hand_out(thing: str, store: Store, asked: Asked, *, now: datetime) -> Handed | NothingFree:
    """Of a RUN the next that nobody has read; of RUN/CASE or an attempt's id that one, whoever has read it."""
    shown = find_shown(thing, store)
    if isinstance(shown, ShownAttempt):
        if not shown.attempt.is_failure:
            told = f"`{thing}` did not fail: there is nothing to review"
            raise NotFoundError(told, hint=f"`errata failures {shown.handle}` lists what did")
        # whoever asks for a case by name knows what was in hand before
        end_lease(store, shown.attempt.id, reviewer=word_for(asked.reviewer))
        handed = _leased(shown.stored, store, [shown.attempt.id], asked, now)
        assert handed is not None
        return handed
    queue = queue_of(shown.stored, store, asked.reviewer, asked.filters, "next")
    handed = _leased(shown.stored, store, [one.attempt for one in queue.waiting], asked, now)
    return handed or NothingFree(failures=queue.failures, read=queue.read, in_hand=len(queue.waiting))


def _leased(stored: StoredRun, store: Store, candidates: Sequence[str], asked: Asked, now: datetime) -> Handed | None:
    word, moment, until = word_for(asked.reviewer), as_text(now), as_text(now + LASTS)
    token = token_hex(8)
    attempt = take_lease(store, stored.run.id, candidates, reviewer=word, lease=Lease("", token, until), now=moment)
    if not attempt:
        return None
    packing = Packing(question=question_for(stored.run.source.name, asked.taxonomy), blind=asked.blind)
    packet = redacted(packet_of(attempt, store, packing=packing))
    in_hand = leases_of(store, stored.run.id, now=moment)
    left = sum(word not in in_hand.get(one, ()) for one in candidates)
    name = case_name(stored.run, packet.case_key)
    return Handed(packet=packet, case=name, token=token, until=until, waiting=left)


def as_text(moment: datetime) -> str:
    """Always in the same length, so that times can be compared as texts."""
    return from_iso(moment.isoformat(timespec="seconds"))


@contextmanager
def given_back_if_broken_off(handed: Handed, store: Store, reviewer: Reviewer) -> Iterator[None]:
    """Whoever stops in the middle of a packet leaves it to the next."""
    try:
        yield
    except BaseException:
        end_lease(store, handed.packet.attempt_id, reviewer=word_for(reviewer))
        raise
