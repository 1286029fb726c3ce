"""Reviewing by hand: the queue, one failure, quotes, verdicts and their versions, claims."""

from typing import Literal, TypeAlias

import msgspec

from errata.model import Reviewer
from errata.model.filters import Filters
from errata.model.output.review import VerdictState
from errata.model.record import Struct
from errata.model.verdict import Packet
from errata.server.exchange import Answer, Bytes, Endpoint, Exchange
from errata.text.outgoing import tree_for_user
from errata.verbs import review_drafts
from errata.verbs.review import reader_for
from errata.verbs.review_drafts import (
    AcceptedVerdict,
    AlikeFailure,
    Claim,
    DraftProblem,
    DraftQuote,
    DraftRequest,
    OtherVerdicts,
    UnfinishedDraft,
    VerdictDraft,
)
from errata.verbs.review_worklist import (
    ReviewItem,
    ReviewProgress,
    ShownReading,
    WorkGroup,
    WorkItem,
    Worklist,
    WorkRequest,
    WorkState,
    review_item,
    worklist,
)

View: TypeAlias = Literal["settle", "blind"]


class QueueQuery(Struct):
    """Which failures, and how they are shown."""

    run: str = ""
    owner: str = ""
    bucket: str = ""
    state: WorkState = "open"
    view: View = "settle"
    """`blind` hides what others and the rules found until a verdict was saved."""

    @property
    def is_blind(self) -> bool:
        return self.view == "blind"

    @property
    def chosen(self) -> dict[str, str]:
        """What differs from the default, as an address has it."""
        given = msgspec.to_builtins(self)
        usual = msgspec.to_builtins(QueueQuery())
        return {name: value for name, value in given.items() if value != usual[name]}


class QueueAnswer(ReviewProgress, frozen=True, kw_only=True):
    reviewer: str
    items: tuple[WorkItem, ...]
    more_runs: int
    waiting: int
    """Runs that are left out until their owners are worked out."""


class ItemAnswer(Struct):
    case: str
    run: str
    packet_hash: str
    view: View
    readings: tuple[ShownReading, ...]
    seen: tuple[str, ...]
    """Send it back with the verdict: the version that was read."""
    in_hand: tuple[str, ...]
    bucket: str
    cause: str
    same_key: tuple[str, ...]
    same_bucket: tuple[str, ...]
    packet: Packet


class QuoteRequest(DraftQuote, frozen=True, kw_only=True):
    view: View = "settle"


class QuoteAnswer(Struct):
    is_found: bool
    quote: str
    place: str
    lines: tuple[int, int] | None
    kind: str
    problem: str


class VerdictRequest(Struct):
    draft: VerdictDraft
    seen: tuple[str, ...] | None = None
    request: str = ""
    """An idempotency key of your own: the same request again saves nothing."""
    view: View = "settle"

    def as_draft_request(self) -> DraftRequest:
        return DraftRequest(draft=self.draft, seen=self.seen, request=self.request, blind=self.view == "blind")


class SavedVerdict(Struct):
    saved: Literal[True] = True
    id: str
    attempt: str
    case: str
    owner: str
    label: str
    state: VerdictState
    needs_second: bool
    inherited: int


class NotSavedAnswer(Struct):
    """With status 422: what to change. With 409: what somebody else saved meanwhile."""

    saved: Literal[False] = False
    problems: tuple[DraftProblem, ...] = ()
    others: tuple[ShownReading, ...] = ()
    seen: tuple[str, ...] = ()


class AlikeRequest(VerdictRequest, frozen=True, kw_only=True):
    by: Literal["key", "bucket"] = "key"
    attempts: tuple[str, ...] = ()
    """Those to save for; with none, they are only listed."""


class AlikeAnswer(Struct):
    failures: tuple[AlikeFailure, ...]
    fitting: int
    saved: int


class UndoRequest(Struct):
    verdict: str


class VersionAnswer(Struct):
    id: str
    attempt: str
    withdrawn: bool
    """No verdict of yours is left on it; else it repeats the version before."""
    owner: str
    label: str


class ReleasedAnswer(Struct):
    released: str


# --- handlers


def reviewer_of(exchange: Exchange) -> Reviewer:
    return reader_for(exchange.caller.name, exchange.settings, kind="person", caller=exchange.caller)


def queue_for(query: QueueQuery, exchange: Exchange) -> Worklist:
    filters = Filters(owner=query.owner, bucket=query.bucket)
    request = WorkRequest(reviewer=reviewer_of(exchange), run=query.run, filters=filters, state=query.state)
    return worklist(request, exchange.store, now=exchange.now)


def show_queue(exchange: Exchange) -> QueueAnswer:
    query = exchange.arguments(QueueQuery)
    queue = queue_for(query, exchange)
    return QueueAnswer(
        reviewer=reviewer_of(exchange).name,
        items=tuple(map(_blinded, queue.items)) if query.is_blind else queue.items,
        more_runs=queue.more_runs,
        waiting=queue.waiting,
        **msgspec.structs.asdict(queue.progress),
    )


def _blinded(item: WorkItem) -> WorkItem:
    group: WorkGroup = "done" if item.group == "done" else "other"
    return msgspec.structs.replace(item, owners=(), confidence="", readers=0, group=group)


def item_for(exchange: Exchange, *, blind: bool) -> ReviewItem:
    attempt = exchange.values["attempt"]
    return review_item(attempt, exchange.store, reviewer_of(exchange), blind=blind, now=exchange.now)


def show_item(exchange: Exchange) -> ItemAnswer:
    query = exchange.arguments(QueueQuery)
    item = item_for(exchange, blind=query.is_blind)
    return ItemAnswer(
        case=item.case,
        run=item.stored.run.id,
        packet_hash=item.packet_hash,
        view=query.view,
        readings=item.readings,
        seen=item.seen,
        in_hand=item.in_hand,
        bucket=item.bucket.slug if item.bucket else "",
        cause=item.cause,
        same_key=item.same_key,
        same_bucket=item.same_bucket,
        packet=item.packet,
    )


def check_quote(exchange: Exchange) -> QuoteAnswer:
    given = exchange.record(QuoteRequest)
    wanted = DraftQuote(quote=given.quote, place=given.place, lines=given.lines)
    blind = given.view == "blind"
    result = review_drafts.check_quote(exchange.values["attempt"], wanted, exchange.store, blind=blind)
    return QuoteAnswer(is_found=result.is_found, **msgspec.structs.asdict(result))


def save(exchange: Exchange, request: DraftRequest) -> AcceptedVerdict | UnfinishedDraft | OtherVerdicts:
    attempt = exchange.values["attempt"]
    return review_drafts.save_draft(attempt, request, exchange.store, reviewer_of(exchange), now=exchange.now)


def save_verdict(exchange: Exchange) -> Answer:
    result = save(exchange, exchange.record(VerdictRequest).as_draft_request())
    match result:
        case UnfinishedDraft():
            return _answered(NotSavedAnswer(problems=result.problems), status=422)
        case OtherVerdicts():
            return _answered(NotSavedAnswer(others=result.readings, seen=result.seen), status=409)
    verdict = result.kept.verdict
    return SavedVerdict(
        id=verdict.id,
        attempt=verdict.attempt,
        case=result.case,
        owner=verdict.owner,
        label=verdict.label,
        state=result.kept.state,
        needs_second=verdict.needs_second,
        inherited=result.inherited,
    )


def _answered(record: msgspec.Struct, *, status: int) -> Bytes:
    content = msgspec.json.encode(tree_for_user(msgspec.to_builtins(record)))
    return Bytes(content=content, media_type="application/json", status=status)


def save_alike(exchange: Exchange) -> AlikeAnswer:
    given = exchange.record(AlikeRequest)
    store, reviewer, attempt = exchange.store, reviewer_of(exchange), exchange.values["attempt"]
    listed = review_drafts.alike_failures(attempt, given.by, given.draft, store, reviewer, now=exchange.now)
    if given.attempts:
        wanted = [one.attempt for one in listed if one.attempt in given.attempts]
        listed = review_drafts.save_alike(wanted, given.as_draft_request(), store, reviewer, now=exchange.now)
    saved = sum(one.saved for one in listed)
    return AlikeAnswer(failures=listed, fitting=sum(one.fits for one in listed), saved=saved)


def undo(exchange: Exchange) -> VersionAnswer:
    verdict, attempt = exchange.record(UndoRequest).verdict, exchange.values["attempt"]
    made = review_drafts.undo_verdict(verdict, attempt, exchange.store, reviewer_of(exchange), now=exchange.now)
    return VersionAnswer(id=made.id, attempt=made.attempt, withdrawn=made.withdrawn, owner=made.owner, label=made.label)


def claim(exchange: Exchange) -> Claim:
    return review_drafts.claim(exchange.values["attempt"], exchange.store, reviewer_of(exchange), now=exchange.now)


def release(exchange: Exchange) -> ReleasedAnswer:
    attempt = exchange.values["attempt"]
    review_drafts.release_claim(attempt, exchange.store, reviewer_of(exchange))
    return ReleasedAnswer(released=attempt)


ITEM = "/api/review/{attempt:name}"
ENDPOINTS = (
    Endpoint(
        path="/api/review",
        handler=show_queue,
        query=QueueQuery,
        gives=QueueAnswer,
        summary="List what is to be reviewed, in the order of the review page.",
    ),
    Endpoint(
        path=f"{ITEM}/quote",
        handler=check_quote,
        method="POST",
        takes=QuoteRequest,
        gives=QuoteAnswer,
        summary="Check whether a quote is in the failure word for word.",
    ),
    Endpoint(
        path=f"{ITEM}/verdict",
        handler=save_verdict,
        method="POST",
        scope="review",
        takes=VerdictRequest,
        gives=SavedVerdict,
        summary="Save a verdict; 409 where somebody else saved one that you had not seen.",
    ),
    Endpoint(
        path=f"{ITEM}/alike",
        handler=save_alike,
        method="POST",
        scope="review",
        takes=AlikeRequest,
        gives=AlikeAnswer,
        summary="List failures that are alike, or save the same verdict for those that are named.",
    ),
    Endpoint(
        path=f"{ITEM}/undo",
        handler=undo,
        method="POST",
        scope="review",
        takes=UndoRequest,
        gives=VersionAnswer,
        summary="Undo your newest verdict: a new version repeats the one before, or withdraws it.",
    ),
    Endpoint(
        path=f"{ITEM}/claim",
        handler=claim,
        method="POST",
        scope="review",
        gives=Claim,
        summary="Tell others for two minutes that you are reading a failure.",
    ),
    Endpoint(
        path=f"{ITEM}/release",
        handler=release,
        method="POST",
        scope="review",
        gives=ReleasedAnswer,
        summary="Give a failure back.",
    ),
    Endpoint(
        path=ITEM,
        handler=show_item,
        query=QueueQuery,
        gives=ItemAnswer,
        summary="Show one failure with its packet, the readings of others and the version to send back.",
    ),
)
