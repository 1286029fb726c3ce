"""A named root cause and its members."""

from errata.model.record import Record
from errata.model.words import BucketStatus, MemberRole


class Member(Record):
    attempt: str
    role: MemberRole


class BucketEvent(Record):
    what: str
    by: str = ""
    at: str | None = None
    before: str = ""
    after: str = ""


class Bucket(Record):
    id: str
    """Stable across runs."""
    slug: str
    title: str
    description: str = ""
    status: BucketStatus = "provisional"
    members: tuple[Member, ...] = ()
    parameters: dict[str, str] = {}
    first_seen: str | None = None
    last_seen: str | None = None
    history: tuple[BucketEvent, ...] = ()
