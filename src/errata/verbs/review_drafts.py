"""Reviewing by hand: checking quotes, saving a draft, saving it for all identical failures, undoing, claiming."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from errata.errors import ConflictError
from errata.model import Packet, Reviewer, Verdict
from errata.model.record import Struct
from errata.model.times import to_text
from errata.model.verdict import word_for
from errata.review.drafts import (
    NO_CAUSE,
    NO_CORE,
    NO_OWNER,
    NO_QUOTE,
    DraftProblem,
    DraftQuote,
    FoundQuote,
    VerdictDraft,
    answer_of,
    find_quote,
    first_cause,
    problems_of,
    transferred,
)
from errata.review.material import RunContext
from errata.review.redaction import packet_hash
from errata.review.status import case_of
from errata.review.stored import verdicts
from errata.review.stored.verdicts import verdicts_on
from errata.review.stored.worklist import Claim, claim_failure
from errata.review.submit import AcceptedVerdict, RejectedVerdict, Submission
from errata.store.buckets import buckets_of
from errata.store.database import Store
from errata.store.reviews import end_lease, lease_on
from errata.verbs.review import submit_verdict
from errata.verbs.review_worklist import ShownReading, alike_attempts, context_and_view, packet_for_reader, readings_on

__all__ = [
    "NO_CAUSE",
    "NO_CORE",
    "NO_OWNER",
    "NO_QUOTE",
    "AcceptedVerdict",
    "Claim",
    "DraftProblem",
    "DraftQuote",
    "FoundQuote",
    "VerdictDraft",
]


def check_quote(attempt: str, quote: DraftQuote, store: Store, *, blind: bool) -> FoundQuote:
    """Looked up in the packet, then in everything the log has of the attempt."""
    context, _ = context_and_view(attempt, store)
    packet = packet_for_reader(attempt, context, store, blind=blind)
    result = find_quote(quote, packet)
    if result.is_found or not packet.left_out:
        return result
    whole = find_quote(quote, packet_for_reader(attempt, context, store, blind=blind, whole=True))
    return whole if whole.is_found else result


class DraftRequest(Struct):
    """A draft to save, and what its reader had seen."""

    draft: VerdictDraft
    seen: tuple[str, ...] | None = None
    request: str = ""
    """The idempotency key."""
    blind: bool = False


class UnfinishedDraft(msgspec.Struct, frozen=True):
    problems: tuple[DraftProblem, ...]


class OtherVerdicts(Struct):
    """Somebody saved a verdict that the reader had not seen; nothing was stored."""

    readings: tuple[ShownReading, ...]
    seen: tuple[str, ...]


Saved = AcceptedVerdict | UnfinishedDraft | OtherVerdicts


def save_draft(attempt: str, request: DraftRequest, store: Store, reviewer: Reviewer, *, now: datetime) -> Saved:
    context, _ = context_and_view(attempt, store)
    packet = packet_for_reader(attempt, context, store, blind=request.blind)
    if problems := tuple(problems_of(request.draft, packet)):
        return UnfinishedDraft(problems)
    lease = lease_on(store, attempt, reviewer=word_for(reviewer), now=to_text(now))
    submission = Submission(
        which=attempt,
        lease=lease.token if lease else "",
        packet_hash=packet_hash(packet),
        answer=answer_of(_with_bucket(request.draft, context, store), packet),
        request=request.request,
        seen=request.seen,
    )
    try:
        result = submit_verdict(submission, store, reviewer, now=now)
    except ConflictError:
        return _other_verdicts(attempt, request, packet, context, store, reviewer)
    if isinstance(result, RejectedVerdict):
        return UnfinishedDraft(tuple(DraftProblem(field=_field(one), message=one) for one in result.reasons))
    return result


def _field(reason: str) -> str:
    if "quote" in reason or "evidence" in reason:
        return "evidence"
    return next((name for name in ("cause", "label", "decisive_step", "confidence") if f"`{name}`" in reason), "")


def _with_bucket(draft: VerdictDraft, context: RunContext, store: Store) -> VerdictDraft:
    """A cause in the words of a bucket names that bucket."""
    if draft.bucket:
        return draft
    named = (one for one in buckets_of(store, context.stored.run.suite) if first_cause([one.title]) == draft.cause)
    bucket = next(named, None)
    return msgspec.structs.replace(draft, bucket=bucket.slug) if bucket else draft


def _other_verdicts(
    attempt: str, request: DraftRequest, packet: Packet, context: RunContext, store: Store, reviewer: Reviewer
) -> OtherVerdicts:
    known = frozenset(request.seen or ())
    verdicts = verdicts_on(store, attempt)
    readings = readings_on(attempt, packet, context, verdicts, reviewer)
    every = verdicts_on(store, attempt, withdrawn=True)
    return OtherVerdicts(
        readings=tuple(one for one in readings if one.verdict and one.verdict not in known),
        seen=tuple(one.id for one in every if one.inherited_from is None),
    )


class AlikeFailure(Struct):
    attempt: str
    case: str
    fits: bool
    """At least one of the quotes is in it, word for word."""
    saved: bool = False
    verdict: str = ""
    """Its id, once it is saved."""
    problem: str = ""


def alike_failures(
    attempt: str, by: str, draft: VerdictDraft, store: Store, reviewer: Reviewer, *, now: datetime
) -> tuple[AlikeFailure, ...]:
    """Open failures with the same failure key or in the same bucket, and whether the draft has evidence in them."""
    context, view = context_and_view(attempt, store)
    others = alike_attempts(attempt, context, view.bucket_of(attempt), store, reviewer, now=now)
    attempts = others.same_bucket if by == "bucket" else others.same_key
    return tuple(
        AlikeFailure(
            attempt=each,
            case=case_of(context.stored, each),
            fits=transferred(draft, packet_for_reader(each, context, store, blind=False)) is not None,
        )
        for each in attempts
    )


def save_alike(
    attempts: Sequence[str], request: DraftRequest, store: Store, reviewer: Reviewer, *, now: datetime
) -> tuple[AlikeFailure, ...]:
    """A verdict on each, verified as any other; what the quotes are not in is left for a look of its own."""
    return tuple(_save_alike(each, request, store, reviewer, now=now) for each in attempts)


def _save_alike(
    attempt: str, request: DraftRequest, store: Store, reviewer: Reviewer, *, now: datetime
) -> AlikeFailure:
    context, _ = context_and_view(attempt, store)
    case = case_of(context.stored, attempt)
    draft = transferred(request.draft, packet_for_reader(attempt, context, store, blind=request.blind))
    if draft is None:
        return AlikeFailure(attempt=attempt, case=case, fits=False, problem="None of the quotes is in this one.")
    own = msgspec.structs.replace(request, draft=draft, seen=None, request=f"{request.request}/{attempt}")
    result = save_draft(attempt, own, store, reviewer, now=now)
    match result:
        case AcceptedVerdict():
            return AlikeFailure(attempt=attempt, case=case, fits=True, saved=True, verdict=result.kept.verdict.id)
        case UnfinishedDraft():
            return AlikeFailure(attempt=attempt, case=case, fits=True, problem=result.problems[0].message)
        case _:
            return AlikeFailure(attempt=attempt, case=case, fits=True, problem="Somebody else has reviewed it.")


def undo_verdict(verdict: str, attempt: str, store: Store, reviewer: Reviewer, *, now: datetime) -> Verdict:
    """The version after it: the one before again, or a withdrawal."""
    context, _ = context_and_view(attempt, store)
    return verdicts.undo_verdict(verdict, attempt, context, store, reviewer, now=now)


def claim(attempt: str, store: Store, reviewer: Reviewer, *, now: datetime) -> Claim:
    context_and_view(attempt, store)
    return claim_failure(attempt, store, reviewer, now=now)


def release_claim(attempt: str, store: Store, reviewer: Reviewer) -> None:
    end_lease(store, attempt, reviewer=word_for(reviewer))
