"""The list of failures as people page through it: filters, rows, groups, facets, and the digest above the list."""

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from errata.model.output.score import SpreadOutput
from errata.model.record import Struct

ReviewState: TypeAlias = Literal["open", "inherited", "reviewed", "final", "disputed"]
REVIEW_STATES: tuple[ReviewState, ...] = ("disputed", "open", "inherited", "reviewed", "final")
Grouping: TypeAlias = Literal["bucket", "owner", "check", "category", "none"]
Order: TypeAlias = Literal["log", "case", "-tokens", "-duration"]
Past: TypeAlias = Literal["new", "repeated", "flaky"]
NOT_GIVEN = "-"
"""In a filter: failures without a check, category or bucket."""


class FailureRow(NamedTuple):
    """One failure as the index has it; columns in this order."""

    seq: int
    attempt: str
    case_key: str
    owner: str
    confidence: str
    check_name: str
    category: str
    key: str
    review: str
    bucket: str
    past: str
    tokens: int | None
    duration: float | None
    signals: str = ""
    """Names of signals, each between spaces."""


class EvidenceLine(NamedTuple):
    """The line of the log that explains a failure best, and where it is."""

    quote: str
    place: str
    """As triage names it."""
    anchor: str
    """On the page of the attempt."""
    checks: str = ""
    """`4/7` passed; empty where there is at most one."""


class RowGroup(NamedTuple):
    """Failures with the same bucket, owner, check or category."""

    name: str
    size: int
    reviewed: int
    owner: str
    """That of most of them."""


class Facets(Struct):
    """Value → number of failures, the most frequent first. Each facet ignores its own filter."""

    total: int = 0
    """Failures that fit every filter."""
    owner: dict[str, int] = {}
    check: dict[str, int] = {}
    signal: dict[str, int] = {}
    review: dict[str, int] = {}
    category: dict[str, int] = {}
    past: dict[str, int] = {}


class FindingLine(Struct):
    """A finding of the checkup with the line that proves it."""

    name: str
    text: str
    severity: str
    breaks: bool = False
    count: int | None = None
    signal: str = ""
    """The signal that the same failures have, where there is one."""
    quote: str = ""
    attempt: str = ""
    """Where the quote can be seen; empty where no attempt has it."""
    step: int | None = None


class PolicyScore(Struct):
    policy: str
    """Of a part of the run: the name of the category."""
    passed: int
    total: int
    rate: float | None
    low: float | None = None
    high: float | None = None
    left_out: dict[str, int] = {}
    note: str = ""
    is_mean: bool = False
    """The rate is a mean of numbers."""
    spread: SpreadOutput | None = None
    """Of results that are numbers: then the rate is their mean, and nothing passed."""


class Dot(msgspec.Struct, frozen=True, array_like=True):
    """A failure in time."""

    owner: str
    at: float
    """Seconds since 1970."""


class PastCounts(Struct):
    """Cases compared with earlier runs of the same model."""

    runs: int = 0
    """Earlier runs that were looked at."""
    previous: str = ""
    """The id of the newest of them."""
    new: int = 0
    repeated: int = 0
    fixed: int = 0
    flaky: int = 0


class RunDigest(Struct):
    """The summary above the failures of a run and in the list of runs. Computed once for each state of the run."""

    fit: bool
    health: str
    """fit, with care, not fit, unavailable, not judged, running or stuck."""
    findings: tuple[FindingLine, ...] = ()
    no_estimate: str = ""
    """Why no figure is the best estimate of the score, in words."""
    scores: tuple[PolicyScore, ...] = ()
    by_category: tuple[PolicyScore, ...] = ()
    """Clean scores, where results are numbers."""
    lower_is_better: bool = False
    unit: str = "cases"
    owners: dict[str, int] = {}
    notes: dict[str, str] = {}
    """Owner → how its failures are proven, or why they are its own."""
    reviewed: int = 0
    inherited: int = 0
    open_reviews: int = 0
    suspicious: int = 0
    to_repeat: int = 0
    without_failures: str = ""
    unavailable: str = ""
    """The text that all attempts of an unavailable run share."""
    pending: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    dots: tuple[Dot, ...] = ()
    sessions: int = 0
    past: PastCounts = PastCounts()
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: str = ""
    """In words, with whose it is; empty where nothing is known."""

    @property
    def of_numbers(self) -> PolicyScore | None:
        """The clean score, else the strict one, where results are numbers."""
        known = [score for score in self.scores if score.spread is not None]
        return next((score for score in known if score.policy == "clean"), known[0] if known else None)


class SearchHit(Struct):
    kind: Literal["run", "case", "quote", "verdict", "bucket"]
    title: str
    before: str = ""
    """The text around the hit, in three parts."""
    hit: str = ""
    after: str = ""
    run: str = ""
    case_key: str = ""
    attempt: str = ""
    where: str = ""
    """The place of a quote in the attempt, as signals name it."""
    anchor: str = ""
    """The same on the page of the attempt."""
    bucket: str = ""
    owner: str = ""
    model: str = ""
