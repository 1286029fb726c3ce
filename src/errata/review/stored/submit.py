"""Verdicts that come in: one by one from those who lease packets, or as rows of a file."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from errata.model import Packet, Reviewer, Verdict
from errata.model.identity import split_attempt_id
from errata.model.run import case_name
from errata.model.times import to_microseconds, to_text
from errata.model.verdict import word_for
from errata.review.answers import ParsedAnswer, read_answer
from errata.review.import_answers import BadRow, FilledRow, ImportRequest, KeptRow
from errata.review.material import RunContext
from errata.review.packet import PacketOptions
from errata.review.packet_size import UNLIMITED
from errata.review.redaction import packet_hash, redacted
from errata.review.stored.packets import packet_maker, packets_of
from errata.review.stored.verdicts import identical_failures, keep, keep_refused, refusal_of, verdicts_on
from errata.review.submit import (
    AcceptedVerdict,
    RejectedVerdict,
    Submission,
    refuse_other_readings,
    refuse_without_lease,
    rejected,
)
from errata.review.verdicts import AnswerInfo, KeptVerdict, Rejection, judge
from errata.store.database import Store
from errata.store.reviews import end_lease, keep_refusal, keep_verdicts, lease_on


def submit(
    submission: Submission,
    context: RunContext,
    store: Store,
    reviewer: Reviewer,
    *,
    attempt: str,
    name: str,
    now: datetime,
) -> AcceptedVerdict | RejectedVerdict:
    """A verdict that can't be taken changes nothing: the packet stays with whoever has it in hand.

    `name` is what the reviewer calls the attempt: RUN/CASE.
    """
    word, earlier = word_for(reviewer), verdicts_on(store, attempt, withdrawn=True)
    lease = lease_on(store, attempt, reviewer=word, now=to_text(now))
    if known := _saved_before(submission, earlier):
        case = case_name(context.stored.run, split_attempt_id(attempt).case)
        return AcceptedVerdict(kept=KeptVerdict(verdict=known, state="unchanged"), case=case, inherited=0, ignored=())
    refuse_without_lease(submission.lease, name, reviewer, earlier, lease)
    refuse_other_readings(submission.adjudicates, name, reviewer, earlier)
    make = packet_maker(attempt, context, store)
    packet, blind = _leased_packet(submission, context, make)
    at = to_microseconds(now)
    by = AnswerInfo(
        reviewer=reviewer,
        at=at,
        blind=blind,
        adjudicates=submission.adjudicates,
        request=submission.request,
        triaged=context.owners_by_rules(attempt),
    )
    verdict = judge(submission.answer, packet, by, earlier, whole=partial(_whole, packet, make, blind=blind))
    answer = read_answer(submission.answer)
    if isinstance(verdict, Rejection):
        # every try counts, also the same one twice
        keep_refusal(store, refusal_of(submission.answer, verdict.reasons, packet, by))
        return rejected(answer, verdict, packet)
    kept = keep(verdict, store, seen=submission.seen)
    inherited = identical_failures(context, store).inherit(verdict, by.at)
    keep_verdicts(store, inherited)
    end_lease(store, attempt, reviewer=word)
    ignored = answer.ignored if isinstance(answer, ParsedAnswer) else ()
    case = case_name(context.stored.run, split_attempt_id(attempt).case)
    return AcceptedVerdict(kept=kept, case=case, inherited=len(inherited), ignored=ignored)


def _saved_before(submission: Submission, earlier: Sequence[Verdict]) -> Verdict | None:
    """What the same request has stored already."""
    if not submission.request:
        return None
    return next((one for one in earlier if one.request == submission.request), None)


def _leased_packet(
    submission: Submission, context: RunContext, make: Callable[[PacketOptions], Packet]
) -> tuple[Packet, bool]:
    """The packet that was leased, as far as it is still the same; and whether it was a blind one."""
    question = context.question(submission.taxonomy)
    packet = redacted(make(PacketOptions(question=question)))
    if submission.packet_hash and packet_hash(packet) != submission.packet_hash:
        blind = redacted(make(PacketOptions(question=question, blind=True)))
        if packet_hash(blind) == submission.packet_hash:
            return blind, True
    return packet, False


def _whole(packet: Packet, make: Callable[[PacketOptions], Packet], *, blind: bool) -> Packet:
    """The same failure with nothing left out."""
    return redacted(make(PacketOptions(question=packet.question, blind=blind, budget=UNLIMITED)))


def import_rows(
    rows: Mapping[str, Sequence[FilledRow]], context: RunContext, store: Store, request: ImportRequest
) -> Iterator[KeptRow | BadRow]:
    options = PacketOptions(question=context.question(request.taxonomy), blind=request.blind)
    for packet in packets_of(context, store, attempts=frozenset(rows), options=options):
        case = case_name(context.stored.run, packet.case_key)
        for row in rows[packet.attempt_id]:
            yield _import_row(row, case, redacted(packet), context, store, request)


def _import_row(
    row: FilledRow, case: str, packet: Packet, context: RunContext, store: Store, request: ImportRequest
) -> KeptRow | BadRow:
    triaged = context.owners_by_rules(packet.attempt_id)
    by = AnswerInfo(reviewer=request.reviewer, at=request.at, blind=request.blind, triaged=triaged)

    def whole() -> Packet:
        return _whole(packet, packet_maker(packet.attempt_id, context, store), blind=request.blind)

    earlier = verdicts_on(store, packet.attempt_id, withdrawn=True)
    verdict = judge(row.answer, packet, by, earlier, whole=whole)
    if isinstance(verdict, Rejection):
        keep_refused(row.answer, verdict.reasons, packet, by, store)
        return BadRow(row.line, case, verdict.reasons)
    return KeptRow(row.line, case, keep(verdict, store))


def inherit(verdicts: Iterable[Verdict], context: RunContext, store: Store, at: str) -> int:
    """What identical failures of the run that nobody has reviewed inherit; how many they are."""
    identical = identical_failures(context, store)
    return keep_verdicts(store, [one for verdict in verdicts for one in identical.inherit(verdict, at)])
