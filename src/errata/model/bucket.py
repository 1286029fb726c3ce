"""Buckets: named root causes, where each failure lies, and how many failures they hold."""

from typing import NamedTuple

import msgspec

from errata.model.record import Record, Struct
from errata.model.words import BucketStatus, MemberRole, NamedBy


class Bucket(Record):
    id: str
    """Stable across runs."""
    suite: str = ""
    slug: str
    title: str
    description: str = ""
    status: BucketStatus = "provisional"
    parameters: dict[str, str] = {}
    """What its members share besides the symptom: provider, tool, category, step, slice."""
    keys: tuple[str, ...] = ()
    """Exact failure keys by which later failures are recognised as the same thing."""
    words: tuple[str, ...] = ()
    """Masked texts by which failures of no known key are recognised."""
    supported_by: tuple[str, ...] = ()
    """The members whose own verdicts carry its status."""
    named_by: NamedBy = "rule"
    """Whose words title and description are."""
    rule_title: str = ""
    """What rules call a bucket that reviewers have named; empty where a verdict formed it."""

    @property
    def is_of_reviewers(self) -> bool:
        """A verdict formed it, and no rule."""
        return self.named_by == "reviewer" and not self.rule_title


class BucketPlace(Struct):
    """What is shown of a bucket beside a failure."""

    id: str
    slug: str
    title: str
    """Where rules put the failure into a bucket that they formed, and reviewers named since, the words of rules."""
    status: BucketStatus
    role: MemberRole = "assigned"
    """Whether this failure was reviewed itself; `assigned`: rules put it there."""

    @property
    def is_apart(self) -> bool:
        """Rules put it into a bucket that others were reviewed for: what is known of them is not known of it."""
        return self.role == "assigned" and self.status != "provisional"


class Placement(Struct):
    """The bucket of one failure, who put it there, and what the table of buckets counts of it."""

    run: str
    attempt: str
    bucket: str
    role: MemberRole = "assigned"
    owner: str = "unknown"
    case: str = ""
    follows: bool = False
    author: str = ""
    """The person who put it there; empty where a rule did."""
    at: str = ""


class BucketMark(Struct):
    """The state of a run that its buckets were suggested from, and the state that it has."""

    run: str
    triaged: str | None
    bucketed: str | None
    verdicts: int = 0
    newest: str = ""


class BucketCounts(Struct):
    """One bucket over some runs."""

    bucket: Bucket
    rows: int
    followers: int
    """Rows that only follow from another one."""
    cases: int
    read: int
    """Rows that a reviewer has read themselves."""
    inherited: int
    """Rows that are the same crash as a reviewed one, and inherit its verdict."""
    assigned: int
    """Rows that rules put here and nobody has reviewed, without those that only follow."""
    elsewhere: int
    """Rows in other runs."""
    runs: tuple[str, ...]
    models: tuple[str, ...]
    owners: dict[str, int]
    """The most frequent first; those of followers only where nothing else is there."""
    first_seen: str | None = None
    """When the earliest of its runs began; none where no run has a date."""
    last_seen: str | None = None

    @property
    def mistakes(self) -> int:
        """Distinct ones: a row that follows from another is not counted."""
        return self.rows - self.followers

    @property
    def owner(self) -> str:
        return next(iter(self.owners), "unknown")


class BucketTable(Struct):
    listed: tuple[BucketCounts, ...]
    """The largest first."""
    buckets: int
    """Listed or not, without buckets of one unreviewed failure."""
    statuses: dict[str, int]
    """Of these."""
    failures: int
    alone: int
    """Unreviewed failures alone in their bucket; listed only on request."""
    waiting: tuple[str, ...] = ()
    """Runs that a server still groups: their failures are missing here, or grouped as before."""


class BucketSum(Struct):
    """The buckets of one status in one run."""

    buckets: int
    failures: tuple[int, ...]
    """Of this run, in each; the largest first."""
    read: int
    """How many of these failures somebody has read for themselves."""


class RunBuckets(Struct):
    """How far the buckets of one run are."""

    final: BucketSum
    reviewed: BucketSum
    provisional: BucketSum
    assigned: int
    """Failures that rules put into final buckets; not among those of `final`."""
    alone: int
    """Failures that share their bucket with no other, of this run or of another."""


class CauseSummary(Struct):
    """One bucket in the summary of one run."""

    bucket: str
    """Its id."""
    title: str
    owner: str
    """Of most of its failures, without knock-on failures; by the standing verdict, else by rules."""
    count: int
    """Failed attempts of this run."""
    knock_on: int = 0
    """Of these, the ones that only follow from another failure (owner `collateral`)."""
    cases: tuple[str, ...]
    """Their cases in the order of the log, each once."""


class Location(NamedTuple):
    """The bucket that a failure lies in, who put it there (nobody: a rule) and when."""

    bucket: str
    author: str = ""
    at: str = ""


class MemberMove(NamedTuple):
    attempt: str
    before: Location | None
    after: Location | None


class BucketVersion(msgspec.Struct, frozen=True):
    """A bucket as it is at some time, and whether it is retired: merged into another, undone or empty."""

    bucket: Bucket
    gone: bool = False


class BucketChange(Struct):
    """Everything that one change made different."""

    versions: tuple[tuple[BucketVersion | None, BucketVersion], ...] = msgspec.field(name="filed", default=())
    """Buckets, before and after."""
    moves: tuple[MemberMove, ...] = ()
    undoes: tuple[int, ...] = ()
    """The events that it takes back."""

    def __bool__(self) -> bool:
        return bool(self.versions or self.moves)

    def touches(self, bucket: str) -> bool:
        ends = (place.bucket for move in self.moves for place in (move.before, move.after) if place)
        return any(after.bucket.id == bucket for _, after in self.versions) or bucket in ends


class BucketEvent(Struct):
    """One change in the history: who did what, and when."""

    number: int
    suite: str
    bucket: str
    what: str
    by: str
    """Empty where a rule did it."""
    at: str
    undone: bool
    change: BucketChange

    def touches(self, bucket: str) -> bool:
        return self.bucket == bucket or self.change.touches(bucket)
