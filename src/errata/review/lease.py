"""The verbs `review next` and `review release`: one packet, handed to one reader for a while, and given back."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from secrets import token_hex

import msgspec

from errata.errors import NotFoundError
from errata.model import Packet, Reviewer, StoredRun
from errata.model.times import from_iso
from errata.review.packing import Packing, packet_of, question_for, wanted_failures
from errata.review.queue import queue_of
from errata.review.redaction import redacted
from errata.review.status import named
from errata.runs.addresses import Located, locate
from errata.runs.failures import Filters, refuse_unknown
from errata.runs.names import handle_of
from errata.store.database import Store
from errata.store.reviews import Lease, end_lease, held_by, take_lease, word_for

LASTS = timedelta(hours=1)
"""How long a reader has; after that another may be given the same packet."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Who wants to read, and how."""

    reviewer: Reviewer
    filters: Filters = Filters()
    second: bool = False
    """What others have read, instead of what nobody has."""
    another: bool = False
    """One more, beside what is in hand."""
    taxonomy: str = ""
    blind: bool = False


class Handed(msgspec.Struct, frozen=True, kw_only=True):
    packet: Packet
    """Redacted: what is quoted from it is looked up in it."""
    case: str
    token: str
    until: str
    again: bool
    """It was in this reader's hands already."""
    returned: bool
    """Somebody has read it, and its evidence has changed since."""
    also: tuple[str, ...]
    """Cases that this reader has in hand besides."""
    waiting: int
    """What this reader could be given after this one."""


class NothingFree(msgspec.Struct, frozen=True, kw_only=True):
    failures: int
    read: int
    others: int
    """Read by others, not by this reader."""
    in_hand: int
    """Waiting, but given to a reader of the same name."""


def hand_out(thing: str, store: Store, asked: Asked, *, now: datetime) -> Handed | NothingFree:
    """Of a RUN what is in hand already, else the next that waits; of RUN/CASE or an attempt's id that one."""
    found = locate(thing, store)
    wanted, stored = _wanted(found, thing, store), found.stored
    packing = Packing(question=question_for(stored.run.source.name, asked.taxonomy), blind=asked.blind)
    queue = queue_of(stored, store, asked.reviewer, asked.filters, "second" if asked.second else "next")
    if not queue.failures and not wanted:
        refuse_unknown(asked.filters, [stored], store)
    held = held_by(store, stored.run.id, reviewer=word_for(asked.reviewer), now=as_text(now))
    candidates = [wanted] if wanted else [one.attempt for one in queue.waiting]
    lease = _in_hand(stored, store, held, asked, wanted) or _taken(stored, store, candidates, asked, now)
    if lease is None:
        mine = len({one.attempt for one in held}.intersection(candidates))
        return NothingFree(failures=queue.failures, read=queue.read, others=queue.others, in_hand=mine)
    also = [one.attempt for one in held if one.attempt != lease.attempt]
    return Handed(
        packet=redacted(packet_of(lease.attempt, store, packing=packing)),
        case=named(stored, lease.attempt),
        token=lease.token,
        until=lease.until,
        again=lease in held,
        returned=lease.attempt in queue.returned,
        also=tuple(named(stored, attempt) for attempt in also),
        waiting=sum(one.attempt not in (lease.attempt, *also) for one in queue.waiting),
    )


def _wanted(found: Located, thing: str, store: Store) -> str:
    """The one that is asked for by name; empty where a run is named."""
    if found.attempt is None:
        return ""
    if not found.attempt.is_failure:
        told = f"`{thing}` did not fail: there is nothing to review"
        raise NotFoundError(told, hint=f"`errata failures {handle_of(found.stored, store)}` lists what did")
    return found.attempt.id


def give_back(thing: str, store: Store, reviewer: Reviewer, *, now: datetime) -> list[str]:
    """The ids of what this reader had in hand: of a RUN all of it, of RUN/CASE or an attempt's id that one."""
    found = locate(thing, store)
    held = held_by(store, found.stored.run.id, reviewer=word_for(reviewer), now=as_text(now))
    meant = [one.attempt for one in held if found.attempt is None or one.attempt == found.attempt.id]
    for attempt in meant:
        end_lease(store, attempt, reviewer=word_for(reviewer))
    return meant


def _in_hand(stored: StoredRun, store: Store, held: list[Lease], asked: Asked, wanted: str) -> Lease | None:
    """The same again, so that whoever asks twice reads once."""
    if wanted:
        return next((one for one in held if one.attempt == wanted), None)
    if asked.another or not held:
        return None
    fitting = {one.id for one in wanted_failures(stored, store, asked.filters, {one.attempt for one in held})}
    return next((one for one in held if one.attempt in fitting), None)


def _taken(stored: StoredRun, store: Store, candidates: list[str], asked: Asked, now: datetime) -> Lease | None:
    lease, word = Lease("", token_hex(8), as_text(now + LASTS)), word_for(asked.reviewer)
    attempt = take_lease(store, stored.run.id, candidates, reviewer=word, lease=lease, now=as_text(now))
    return lease._replace(attempt=attempt) if attempt else None


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
