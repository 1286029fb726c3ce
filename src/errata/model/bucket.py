"""A named root cause and its members."""

import msgspec

from errata.model.record import Record
from errata.model.words import BucketStatus, MemberRole


class Member(Record):
    attempt: str
    role: MemberRole


class BucketEvent(Record):
    """One thing that was done to a bucket; `before` and `after` are what an undo needs."""

    what: str
    by: str = ""
    at: str | None = None
    before: str = ""
    after: str = ""


class Bucket(Record):
    id: str
    """Stable across runs."""
    suite: str = ""
    slug: str
    title: str
    description: str = ""
    status: BucketStatus = "provisional"
    members: tuple[Member, ...] = ()
    parameters: dict[str, str] = {}
    """What its members share besides the symptom: provider, tool, category, step, slice."""
    keys: tuple[str, ...] = ()
    """Exact failure keys by which later failures are recognised as the same thing."""
    words: tuple[str, ...] = ()
    """Masked texts by which failures of no known key are recognised."""
    supported_by: tuple[str, ...] = ()
    """The members whose own verdicts carry its status."""
    first_seen: str | None = None
    last_seen: str | None = None
    history: tuple[BucketEvent, ...] = ()


class BucketSum(msgspec.Struct, frozen=True, kw_only=True):
    """Of one status."""

    buckets: int
    failures: tuple[int, ...]
    """Of this run, in each; the largest first."""
    read: int
    """Of these failures, by somebody, for itself."""


class RunBuckets(msgspec.Struct, frozen=True, kw_only=True):
    final: BucketSum
    reviewed: BucketSum
    provisional: BucketSum
    alone: int
    """Failures that share their bucket with no other, of this run or of another."""
