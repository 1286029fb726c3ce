"""Reviewing by hand, as on the review page: the failures to review, and one of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from errata.errors import NotFoundError, NotReadyError
from errata.model import Attribution, Bucket, Packet, Quote, Reviewer, StoredRun, Verdict
from errata.model.attribution import suggested_label
from errata.model.bucket import BucketPlace
from errata.model.filters import Filters
from errata.model.identity import split_attempt_id
from errata.model.record import Struct
from errata.model.standing import is_same
from errata.model.verdict import short_word_for
from errata.review.drafts import DraftQuote, find_quote, first_cause, has_own_labels, lines_of
from errata.review.evidence import PlaceIndex, is_core
from errata.review.material import RunContext
from errata.review.packet import PacketOptions
from errata.review.packet_size import UNLIMITED
from errata.review.places import kind_of
from errata.review.redaction import packet_hash, redacted
from errata.review.status import case_of
from errata.review.stored import packets
from errata.review.stored.verdicts import verdicts_on
from errata.review.stored.worklist import reading_now, run_to_review
from errata.review.worklist import (
    ReviewProgress,
    RunToReview,
    WorkGroup,
    WorkItem,
    Worklist,
    WorkState,
    alike,
    build_worklist,
    newest_readings,
)
from errata.runs.names import handle_of, run_named
from errata.runs.review_context import context_of
from errata.runs.triaging import is_large
from errata.runs.view import RunView
from errata.store.buckets import buckets_of
from errata.store.database import Store
from errata.store.reviews import verdicts_of
from errata.store.runs import all_runs, run_by_id
from errata.verbs.review import agreement_of

__all__ = [
    "ReviewProgress",
    "WorkGroup",
    "WorkItem",
    "WorkState",
    "Worklist",
    "has_own_labels",
    "is_core",
    "kind_of",
    "lines_of",
]

ENOUGH = 2_000
"""Failures in a list over all runs; then further runs are left to the filter."""
CAUSES = 200


class WorkRequest(Struct):
    reviewer: Reviewer
    run: str = ""
    filters: Filters = Filters()
    state: WorkState = "open"


def worklist(request: WorkRequest, store: Store, *, now: datetime) -> Worklist:
    """Over one run, or over all, the newest first; a large one only where there is nothing else."""
    runs = [run_named(request.run, store)] if request.run else sorted(all_runs(store), key=is_large)
    parts: list[RunToReview] = []
    waiting = 0
    for stored in runs:
        listed = sum(len(part.failures) for part in parts)
        if listed >= ENOUGH or (listed and is_large(stored)):
            break
        if not stored.counts.failures:
            parts.append(RunToReview(stored=stored, failures=(), attributions={}, verdicts={}))
            continue
        try:
            context = context_of(RunView(stored, store))
        except NotReadyError:
            if request.run:
                raise
            waiting += 1
            continue
        parts.append(run_to_review(context, store, request.filters, request.reviewer, now=now))
    built = build_worklist(parts, request.reviewer, state=request.state)
    return msgspec.structs.replace(built, more_runs=len(runs) - len(parts) - waiting, waiting=waiting)


class OwnAgreement(NamedTuple):
    """How far another reviewer names the same owner, over the failures that both reviewed."""

    reviewer: str
    both: int
    kappa: float


def agreement_with_others(run: str, store: Store, reviewer: Reviewer) -> list[OwnAgreement]:
    """Over one run, or over all; without pairs for which kappa is undefined."""
    runs = [run_named(run, store)] if run else all_runs(store)
    own = short_word_for(reviewer)
    pairs = []
    for agreement in agreement_of(runs, store):
        for pair in agreement.owners.pairs:
            if own in (pair.first, pair.other) and pair.kappa is not None:
                other = pair.other if pair.first == own else pair.first
                pairs.append(OwnAgreement(other.partition(":")[2], pair.both, pair.kappa))
    return pairs


class ShownReading(Struct):
    """One opinion on a failure, in the fields of the form."""

    by: str
    """Who gave it; `triage` for the rules."""
    verdict: str = ""
    owner: str
    label: str = ""
    confidence: str
    cause: str = ""
    note: str = ""
    evidence: tuple[Quote, ...] = ()
    decisive_step: int | None = None
    at: str = ""
    is_own: bool = False


class ReviewItem(Struct):
    """One failure to review, with everything that the page shows."""

    packet: Packet
    packet_hash: str
    case: str
    stored: StoredRun
    handle: str
    blind: bool
    readings: tuple[ShownReading, ...]
    """Triage first, then reviewers, oldest first; in a blind view only the reader's own."""
    seen: tuple[str, ...]
    """Ids of all verdicts on it: the version that was read."""
    in_hand: tuple[str, ...]
    """Names of others who are reading it at the moment."""
    bucket: BucketPlace | None
    causes: tuple[Bucket, ...]
    """Those of the suite, for the type-ahead."""
    cause: str
    """What the form suggests."""
    labels_here: Mapping[str, int]
    """Label → verdicts in this run that give it."""
    same_key: tuple[str, ...]
    same_bucket: tuple[str, ...]
    """Other open failures of the run that are alike."""


def review_item(attempt: str, store: Store, reviewer: Reviewer, *, blind: bool, now: datetime) -> ReviewItem:
    """What others gave as their verdict is left out of a blind view until the reader has saved one."""
    context, view = context_and_view(attempt, store)
    packet = packet_for_reader(attempt, context, store, blind=blind)
    every = verdicts_on(store, attempt, withdrawn=True)
    readings = list(readings_on(attempt, packet, context, verdicts_on(store, attempt), reviewer))
    has_saved = any(one.is_own for one in readings)
    bucket = view.bucket_of(attempt)
    others = alike_attempts(attempt, context, bucket, store, reviewer, now=now)
    return ReviewItem(
        packet=packet,
        packet_hash=packet_hash(packet),
        case=case_of(context.stored, attempt),
        stored=context.stored,
        handle=handle_of(context.stored, store),
        blind=blind,
        readings=tuple(one for one in readings if not blind or has_saved),
        seen=tuple(one.id for one in every if one.inherited_from is None),
        in_hand=reading_now(attempt, store, reviewer, now=now),
        bucket=bucket,
        causes=tuple(buckets_of(store, context.stored.run.suite))[:CAUSES],
        cause=first_cause([bucket.title if bucket else "", str(packet.facts.get("error_line") or "")]),
        labels_here=Counter(one.label for one in verdicts_of(store, context.stored.run.id)),
        same_key=others.same_key,
        same_bucket=others.same_bucket,
    )


def context_and_view(attempt: str, store: Store) -> tuple[RunContext, RunView]:
    try:
        run_id = split_attempt_id(attempt).run
    except ValueError:
        hint = "`/review` lists what can be reviewed"
        raise NotFoundError(f"`{attempt}` is not the id of an attempt", hint=hint) from None
    view = RunView(run_by_id(store, run_id), store)
    return context_of(view), view


def packet_for_reader(attempt: str, context: RunContext, store: Store, *, blind: bool, whole: bool = False) -> Packet:
    options = PacketOptions(question=context.question(""), blind=blind)
    options = msgspec.structs.replace(options, budget=UNLIMITED) if whole else options
    return redacted(packets.packet_of(attempt, context, store, options=options))


def readings_on(
    attempt: str, packet: Packet, context: RunContext, verdicts: Sequence[Verdict], reviewer: Reviewer
) -> Iterator[ShownReading]:
    attribution = context.attributions.get(attempt)
    if attribution is not None:
        yield _by_triage(attribution, packet)
    for verdict in newest_readings(verdicts):
        yield ShownReading(
            by=verdict.reviewer.name,
            verdict=verdict.id,
            owner=verdict.owner,
            label=verdict.label,
            confidence=verdict.confidence,
            cause=verdict.cause,
            note=verdict.reasoning,
            evidence=verdict.evidence,
            decisive_step=verdict.decisive_step,
            at=verdict.at or "",
            is_own=is_same(verdict.reviewer, reviewer),
        )


def _by_triage(attribution: Attribution, packet: Packet) -> ShownReading:
    """The quotes of its signals, as far as they are in the packet."""
    index = PlaceIndex(packet)
    quotes = dict.fromkeys(one.quote for one in attribution.signals if one.quote)
    placed = [(places[0], quote) for quote in quotes if (places := index.holding(quote))]
    located = (find_quote(DraftQuote(quote=quote, place=place), packet) for place, quote in placed)
    return ShownReading(
        by="triage",
        owner=attribution.owner,
        label=suggested_label(attribution, packet.question.taxonomy),
        confidence=attribution.confidence,
        cause=", ".join(one.name.replace("_", " ") for one in attribution.signals[:3]),
        evidence=tuple(Quote(place=one.place, quote=one.quote, lines=one.lines) for one in located if one.is_found),
    )


class AlikeAttempts(NamedTuple):
    """Other open failures of the run."""

    same_key: tuple[str, ...]
    same_bucket: tuple[str, ...]


def alike_attempts(
    attempt: str, context: RunContext, bucket: BucketPlace | None, store: Store, reviewer: Reviewer, *, now: datetime
) -> AlikeAttempts:
    part = run_to_review(context, store, Filters(), reviewer, now=now)
    items = build_worklist([part], reviewer).items
    slugs = context.buckets() if bucket is not None else {}
    others = (one.attempt for one in items if one.attempt != attempt)
    members = tuple(one for one in others if bucket is not None and slugs.get(one) == bucket.slug)
    return AlikeAttempts(alike(attempt, items, context.attributions), members)
