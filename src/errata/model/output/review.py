"""What `errata review … --json` prints."""

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from errata.model.bucket import RunBuckets
from errata.model.output.agreement import AgreementOutput, CalibrateOutput
from errata.model.record import Struct
from errata.model.suspects import SuspectTasks
from errata.model.usage import Usage
from errata.model.verdict import Packet
from errata.model.words import BatchState, Owner

NothingReason = Literal["no_failures", "no_match", "in_hand", "no_second", "no_dispute", "all_reviewed"]
VerdictState = Literal["new", "changed", "unchanged"]


class QuoteForm(Struct):
    place: str = ""
    quote: str = ""


class RecommendationForm(Struct):
    group: str = "none"
    text: str = ""
    target_path: str | None = None


class AnswerForm(Struct):
    """An answer to fill in: what is needed comes first, the rest may stay as it is."""

    attempt_id: str
    lease: str
    packet_hash: str
    taxonomy: str
    label: str = ""
    owner: str | UnsetType | None = UNSET
    """Only where a label may leave the owner open."""
    cause: str = ""
    reasoning: str = ""
    evidence: tuple[QuoteForm, ...] = (QuoteForm(),)
    confidence: str = ""
    error_line: str | None = None
    candidates: tuple[Any, ...] = ()
    """Objects with `step`, `act`, `corrected` and `sufficient`."""
    decisive_step: int | None = None
    decisive_agent: str | None = None
    decisive_reason: str | None = None
    second_candidate: int | None = None
    underlying_mistake: str | None = None
    consequences: tuple[str, ...] = ()
    model_snippet: str | None = None
    expected_snippet: str | None = None
    also: tuple[str, ...] = ()
    bucket: str | None = None
    recommendation: RecommendationForm = RecommendationForm()
    fix: Any = None
    doubts: tuple[str, ...] = ()
    adjudicates: tuple[str, ...] | UnsetType = UNSET
    """Only with `--adjudicate`: leave it as it is."""


class ReadingOutput(Struct):
    """A verdict without the name of its reviewer."""

    label: str
    owner: Owner
    cause: str
    decisive_step: int | None
    decisive_agent: str | None
    evidence: tuple[QuoteForm, ...]


class NextOutput(Struct):
    note: str
    """A reminder for whoever reads the packet: nothing in it is an instruction."""
    reviewer: str
    until: str
    again: bool
    """It was in this reviewer's hands already."""
    returned: bool
    """Reviewed before, and its evidence has changed since."""
    besides: tuple[str, ...]
    """Other cases that this reviewer has in hand."""
    waiting: int
    labels: tuple[str, ...]
    owners: tuple[str, ...]
    allowed: dict[str, tuple[str, ...]]
    """Field → every word that it takes."""
    readings: tuple[ReadingOutput, ...] | UnsetType = UNSET
    """Only with `--adjudicate`: the verdicts to decide between."""
    answer: AnswerForm
    packet: Packet


class NothingOutput(Struct):
    packet: None = None
    why: NothingReason
    failures: int
    read: int
    in_hand: int


class ReleaseOutput(Struct):
    reviewer: str
    released: tuple[str, ...]
    """Attempts."""


class AcceptedOutput(Struct):
    accepted: Literal[True] = True
    id: str
    attempt_id: str
    label: str
    owner: Owner
    old_label: str | None
    state: VerdictState
    needs_second: bool
    inherited: int
    """Identical failures that inherited the verdict."""
    ignored: tuple[str, ...]
    """Fields that nobody asked for."""
    doubts: tuple[str, ...]


class RejectedOutput(Struct):
    accepted: Literal[False] = False
    attempt_id: str
    reasons: tuple[str, ...]
    labels: tuple[str, ...] | UnsetType = UNSET
    """Those that can be given, where the label is wrong."""
    places: tuple[str, ...] | UnsetType = UNSET
    """Those that can be quoted, where a quote names none of them."""


class PacketExportOutput(Struct):
    file: str
    rows: int


class ImportedRowOutput(Struct):
    line: int
    case: str
    state: VerdictState
    id: str
    attempt_id: str
    label: str
    old_label: str | None


class RefusedRowOutput(Struct):
    line: int
    case: str | None
    state: Literal["refused"] = "refused"
    reasons: tuple[str, ...]


class OwnerRowOutput(Struct):
    owner: Owner
    triage: int
    verdict: int
    changed: int


class QuoteCheckOutput(Struct, rename={"verified": "found"}):
    quotes: int
    verified: int
    stale: tuple[str, ...] = ()
    """Attempts that were imported again with another error, or without what their verdict quotes."""
    changed: int = 0
    """Verdicts on a packet that has changed since; what they quote is still there."""
    without: int = 0
    """Verdicts that quote nothing; only people may."""


class DoubtOutput(Struct):
    case: str
    attempt: str
    doubt: str


class SpentOutput(Struct):
    reviewer: str
    calls: int
    answered: int
    failed: int
    lost: int
    cost: float | None
    unpriced: int
    lost_cost: float | None
    tokens: int | None


class ReviewBatchOutput(Struct):
    """Requests that a provider answers together within hours."""

    id: str
    run_id: str
    reviewer: str
    state: BatchState
    """`intended`: not known to the provider yet; `downloaded`: answers are stored, and not all of them are judged."""
    remote: str | None
    """The provider's id."""
    status: str | None
    """The provider's own word, when it was last asked."""
    requests: int
    done: int
    """Answered or failed by the provider's last count."""
    answered: int
    """Collected by this command; so are `failed` and `lost`."""
    failed: int
    lost: int
    created_at: str
    ended_at: str | None
    why: str | None
    notes: tuple[str, ...]


class CancelledBatchesOutput(Struct):
    batches: tuple[ReviewBatchOutput, ...]


class StatusOutput(Struct):
    run: str
    run_id: str
    model: str
    failures: int
    reviewed: int
    inherited: int
    final: int
    waiting: int
    stale: tuple[str, ...]
    in_hand: int
    refused: int
    unmended: int
    refusals: dict[str, int]
    owners: tuple[OwnerRowOutput, ...]
    labels: dict[str, int]
    reviewers: dict[str, int]
    quotes: QuoteCheckOutput
    seconded: int
    need_second: tuple[str, ...]
    disputed: tuple[str, ...]
    doubts: tuple[DoubtOutput, ...]
    spent: tuple[SpentOutput, ...]
    batches: tuple[ReviewBatchOutput, ...]
    """Submitted and not collected."""
    buckets: RunBuckets
    cost: float | None
    calls: int


class PlannedRunOutput(Struct):
    run: str
    run_id: str
    failures: int
    read_before: int
    planned: int


class EstimateOutput(Struct):
    packets: int
    calls: int
    """Without those whose answer is stored already."""
    cached: int
    tokens_in: int
    tokens_out: int
    cost: float | None


class LostCallOutput(Struct):
    attempt_id: str
    reviewer: str
    estimate: Usage
    why: str


class PlanOutput(Struct):
    runs: tuple[PlannedRunOutput, ...]
    reviewer: str
    passes: Literal[1, 2]
    """Two: two readings of each failure, and an adjudication where they differ."""
    goes_to: str
    """Host and model, or the program."""
    estimate: EstimateOutput
    left_out: dict[str, int]
    """Group of failures → how many of it `--limit` leaves out."""
    lost_before: tuple[LostCallOutput, ...]


class DryRunOutput(PlanOutput):
    prompt: str | None
    """The first that would be sent."""


class ReviewRunOutput(PlanOutput):
    planned: int
    reviewed: int
    refused: int
    failed: int
    inherited: int
    not_read: int
    need_second: int
    adjudicated: int
    """Reviewed in two passes that differed."""
    labels: dict[str, int]
    reasons: dict[str, int]
    """Why answers were refused, or packets could not be reviewed."""
    calls: int
    cached: int
    tokens: int
    cost: float | None
    unpriced: int
    lost: tuple[LostCallOutput, ...]
    capped: str | None
    stopped: str | None
    batches: tuple[ReviewBatchOutput, ...]
    """With `--batch`: those that are open, and those that were collected now."""


SHAPES: dict[str, type] = {
    "review run": ReviewRunOutput,
    "review run --dry-run": DryRunOutput,
    "review run --cancel": CancelledBatchesOutput,
    "review next": NextOutput,
    "review next (nothing waiting)": NothingOutput,
    "review release": ReleaseOutput,
    "review submit": AcceptedOutput,
    "review submit (rejected)": RejectedOutput,
    "review tasks": SuspectTasks,
    "review export": PacketExportOutput,
    "review import": ImportedRowOutput,
    "review import (refused row)": RefusedRowOutput,
    "review status": StatusOutput,
    "review agreement": AgreementOutput,
    "review calibrate": CalibrateOutput,
}
