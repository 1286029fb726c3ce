"""A failure as a reviewer gets it, one reviewer's reading of it, and a batch of review calls."""

from typing import Any, NamedTuple

from errata.model.attribution import FailureKey, Signal
from errata.model.record import Record, Struct
from errata.model.step import Observation
from errata.model.usage import Usage
from errata.model.words import BatchState, Confidence, Owner, RecommendationGroup, ReviewerKind


class Quote(Record):
    place: str
    quote: str
    lines: tuple[int, int] | None = None
    """First and last line in the place, 1-based."""


class Recommendation(Record):
    group: RecommendationGroup
    text: str = ""
    target_path: str = ""


class Fix(Record):
    path: str
    before: str
    after: str


class Reviewer(Record):
    kind: ReviewerKind
    name: str
    version: str = ""
    reading: str = ""
    """`2` for a second reading by the same reviewer, `adjudication` for the decision between two readings."""
    caller: str = ""
    """Who it is under whatever name: `token:…` of a server, `user:…` of the machine as a person, `model:NAME@VERSION`,
    `command:…`, or `program:…` for a user's programs that name no model. The name after `/` is the user's word.
    Verdicts of earlier versions have none: they keep their names."""


class CandidateStep(Record):
    """A false or harmful act, and the answers to the two questions about it."""

    step: int
    act: str = ""
    corrected: bool = False
    """Somebody put it right later in the transcript."""
    sufficient: bool = False
    """Without this act alone, the attempt would have reached the expected result."""


class Verdict(Record):
    id: str
    attempt: str
    taxonomy: str
    taxonomy_version: str = ""
    label: str
    owner: Owner
    also: tuple[Owner, ...] = ()
    cause: str
    bucket: str = ""
    candidates: tuple[CandidateStep, ...] = ()
    """False or harmful acts, in the order of the steps."""
    decisive_step: int | None = None
    decisive_agent: str = ""
    """Who made the decisive step: the name of an agent, else its role."""
    decisive_reason: str = ""
    """Why this step is decisive, where no quote of it is among the evidence."""
    second_candidate: int | None = None
    """The step that is decisive if `decisive_step` is not."""
    error_line: str = ""
    underlying_mistake: str = ""
    consequences: tuple[str, ...] = ()
    reasoning: str = ""
    model_snippet: str = ""
    expected_snippet: str = ""
    evidence: tuple[Quote, ...] = ()
    recommendation: Recommendation | None = None
    fix: Fix | None = None
    doubts: tuple[str, ...] = ()
    confidence: Confidence
    reviewer: Reviewer
    blind: bool = False
    prompt_hash: str = ""
    packet_hash: str = ""
    usage: Usage | None = None
    inherited_from: str | None = None
    """The verdict it was taken over from; it counts neither towards agreement nor towards a final bucket."""
    needs_second: bool = False
    """The log may have asked for it: a text talks to the reviewer, or could have been written to get this verdict.
    Another reviewer must agree before it counts as final."""
    supersedes: str | None = None
    adjudicates: tuple[str, ...] = ()
    """The verdicts between which it decides."""
    withdrawn: bool = False
    """It takes back the verdict that it supersedes, and is an opinion of nobody."""
    restores: str | None = None
    """The earlier version of the same reviewer that it repeats, after a later one was undone."""
    request: str = ""
    """The idempotency key with which it was saved; the same request again saves nothing."""
    at: str | None = None


OF_TASK = "task"
"""In `extra` of an inherited verdict: the id of the task whose verdict it is."""


DROPPED = "dropped"
"""In `extra`: what was left out of the answer, and why; `doubts` have it, too."""


def word_for(reviewer: Reviewer) -> str:
    """Kind, name, version and reading in one word, as the store and its users name a reviewer."""
    version = f"@{reviewer.version}" if reviewer.version else ""
    return f"{reviewer.kind}:{reviewer.name}{version}{_reading(reviewer)}"


def short_word_for(reviewer: Reviewer) -> str:
    """The same without the version."""
    return f"{reviewer.kind}:{reviewer.name}{_reading(reviewer)}"


def _reading(reviewer: Reviewer) -> str:
    return f"#{reviewer.reading}" if reviewer.reading else ""


class Refusal(NamedTuple):
    """An answer that was not a verdict, and why."""

    attempt: str
    reviewer: str
    packet_hash: str
    reasons: tuple[str, ...]
    answer: str
    at: str


class Lease(NamedTuple):
    """Who has a failure in hand until when; the token proves it."""

    attempt: str
    token: str
    until: str


class PacketPlace(Record):
    """A text that can be quoted, under the name by which evidence refers to it."""

    place: str
    source: str
    text: str


class LabelChoice(Record):
    label: str
    owner: Owner
    meaning: str = ""
    general: bool = True
    """Whether it fits any failure of its owner; False where it names one kind of them, such as an empty answer."""


class Question(Record):
    """What the reviewer is asked: one label of one taxonomy."""

    taxonomy: str
    version: str = ""
    labels: tuple[LabelChoice, ...]
    rule: str
    decisive: str = ""
    """What the decisive step is, and how to find it; empty where the failure has no steps."""


class LeftOut(Record):
    what: str
    why: str


class Packet(Record):
    version: int = 1
    id: str
    run: dict[str, Any]
    case_key: str
    attempt: int
    attempt_id: str
    facts: dict[str, Any]
    failure_key: FailureKey | None = None
    signals: tuple[Signal, ...] = ()
    question: Question
    observations: tuple[Observation, ...] = ()
    """The evidence log: what steps show by themselves. Hints, not to be quoted."""
    timeline: tuple[str, ...] = ()
    """A line for each step, where the packet does not hold the transcript whole. Made by errata: not to be quoted."""
    places: tuple[PacketPlace, ...] = ()
    history: tuple[dict[str, Any], ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    size: dict[str, int] = {}
    """`characters` of the places; `tokens_estimated` of the packet, and `tokens_left` of its budget."""
    redacted: bool = False
    """Secrets and people are out of every text; nothing else leaves the machine."""


class ReviewBatch(Record):
    id: str
    """errata's own; the provider keeps it in the batch's metadata, so an interrupted submission is found again."""
    run: str
    reviewer: str
    """Kind, name and version in one word."""
    taxonomy: str = ""
    blind: bool = False
    state: BatchState = "intended"
    remote: str = ""
    """The provider's id; empty until it is known."""
    status: str = ""
    """The provider's word for it, when it was last asked."""
    requests: int
    done: int = 0
    """Of these, answered or failed by the last count of the provider."""
    why: str = ""
    """Of one that was given up, or failed as a whole."""
    created_at: str
    ended_at: str | None = None

    @property
    def is_open(self) -> bool:
        return self.state in ("intended", "submitted")


class BatchNews(Struct):
    """What became of a batch since it was last looked at."""

    batch: ReviewBatch
    answered: int = 0
    failed: int = 0
    lost: int = 0
    notes: tuple[str, ...] = ()
    """Sentences for the user."""
