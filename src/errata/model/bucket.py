"""A named root cause and its members."""

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
