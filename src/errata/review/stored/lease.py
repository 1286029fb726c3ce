"""Leases in the store: one packet for one reviewer for a while, and given back."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from secrets import token_hex

from errata.errors import NotFoundError
from errata.model import Packet, Reviewer
from errata.model.filters import Filters
from errata.model.output.review import ReadingOutput
from errata.model.record import Struct
from errata.model.times import to_text
from errata.model.verdict import Lease, word_for
from errata.review.adjudicate import disputed, readings_of
from errata.review.material import RunContext
from errata.review.packet import PacketOptions
from errata.review.queue import QueueKind
from errata.review.redaction import redacted
from errata.review.status import case_of
from errata.review.stored.packets import packet_of, wanted_failures
from errata.review.stored.queue import queue_of
from errata.review.stored.verdicts import verdicts_on
from errata.store.database import Store
from errata.store.reviews import end_lease, held_by, take_lease


class LeaseRequest(Struct):
    """Who wants to read, and how."""

    reviewer: Reviewer
    filters: Filters = Filters()
    second: bool = False
    """What others have read, instead of what nobody has."""
    adjudicate: bool = False
    """What reviewers disagree on, with their verdicts but without their names."""
    another: bool = False
    """One more, beside what is in hand."""
    taxonomy: str = ""
    blind: bool = False
    tasks: bool = False
    """Suspect tasks instead of failures."""


class LeasedPacket(Struct):
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
    readings: tuple[ReadingOutput, ...] = ()
    """The verdicts to decide between."""
    adjudicates: tuple[str, ...] = ()
    """Their ids."""


class NothingWaiting(Struct):
    failures: int
    read: int
    others: int
    """Read by others, not by this reader."""
    in_hand: int
    """Waiting, but given to a reader of the same name."""


LASTS = timedelta(hours=1)
"""How long a reviewer has; after that another may be given the same packet."""


def lease_packet(
    context: RunContext, store: Store, request: LeaseRequest, *, attempt: str, now: datetime
) -> LeasedPacket | NothingWaiting:
    """This attempt; where none is named, what the reviewer has in hand already, else the next that waits."""
    stored = context.stored
    options = PacketOptions(question=context.question(request.taxonomy), blind=request.blind)
    queue = queue_of(context, store, request.reviewer, request.filters, _queue_kind(request))
    held = held_by(store, stored.run.id, reviewer=word_for(request.reviewer), now=to_text(now))
    candidates = [attempt] if attempt else [waiting.attempt for waiting in queue.waiting]
    lease = _in_hand(context, store, held, request, attempt) or _new_lease(context, store, candidates, request, now)
    if lease is None:
        in_hand = len({one.attempt for one in held}.intersection(candidates))
        return NothingWaiting(failures=queue.failures, read=queue.read, others=queue.others, in_hand=in_hand)
    readings = disputed(verdicts_on(store, lease.attempt)) if request.adjudicate else ()
    if request.adjudicate and not readings:
        end_lease(store, lease.attempt, reviewer=word_for(request.reviewer))
        raise NotFoundError(
            f"`{case_of(stored, lease.attempt)}` needs no decision: its reviews agree, or were decided on",
            hint="`errata review agreement RUN` lists disputes",
        )
    also = [one.attempt for one in held if one.attempt != lease.attempt]
    return LeasedPacket(
        packet=redacted(packet_of(lease.attempt, context, store, options=options)),
        case=case_of(stored, lease.attempt),
        token=lease.token,
        until=lease.until,
        again=lease in held,
        returned=lease.attempt in queue.returned,
        also=tuple(case_of(stored, each) for each in also),
        readings=readings_of(readings),
        adjudicates=tuple(one.id for one in readings),
        waiting=sum(waiting.attempt not in (lease.attempt, *also) for waiting in queue.waiting),
    )


def _queue_kind(request: LeaseRequest) -> QueueKind:
    return "disputed" if request.adjudicate else "second" if request.second else "next"


def count_waiting(context: RunContext, store: Store, request: LeaseRequest) -> int:
    return len(queue_of(context, store, request.reviewer, request.filters, _queue_kind(request)).waiting)


def _in_hand(
    context: RunContext, store: Store, held: Sequence[Lease], request: LeaseRequest, attempt: str
) -> Lease | None:
    """The same again, so that whoever asks twice reads once."""
    if attempt:
        return next((lease for lease in held if lease.attempt == attempt), None)
    if request.another or not held:
        return None
    in_hand = {lease.attempt for lease in held}
    fitting = {failure.id for failure in wanted_failures(context, store, request.filters, in_hand)}
    return next((lease for lease in held if lease.attempt in fitting), None)


def _new_lease(
    context: RunContext, store: Store, candidates: Sequence[str], request: LeaseRequest, now: datetime
) -> Lease | None:
    lease, word = Lease("", token_hex(8), to_text(now + LASTS)), word_for(request.reviewer)
    run_id = context.stored.run.id
    attempt = take_lease(store, run_id, candidates, reviewer=word, lease=lease, now=to_text(now))
    return lease._replace(attempt=attempt) if attempt else None


def release_leases(store: Store, run_id: str, reviewer: Reviewer, *, attempt: str = "", now: datetime) -> list[str]:
    """The ids of what this reviewer had in hand: of a run, or of one attempt of it."""
    held = held_by(store, run_id, reviewer=word_for(reviewer), now=to_text(now))
    released = [lease.attempt for lease in held if attempt in ("", lease.attempt)]
    for each in released:
        end_lease(store, each, reviewer=word_for(reviewer))
    return released
