"""The verbs `review next` and `review release`: one packet, handed to one reader for a while, and given back."""

import msgspec

from errata.model import Packet, Reviewer
from errata.model.attempt import Filters
from errata.review.adjudicate import Reading


class LeaseRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Who wants to read, and how."""

    reviewer: Reviewer
    filters: Filters = Filters()
    second: bool = False
    """What others have read, instead of what nobody has."""
    adjudicate: bool = False
    """What reviewers disagree on, with their verdicts but without their names."""
    another: bool = False
    """One more, beside what is in hand."""
    taxonomy: str = ""
    blind: bool = False
    tasks: bool = False
    """Suspect tasks instead of failures."""


class LeasedPacket(msgspec.Struct, frozen=True, kw_only=True):
    packet: Packet
    """Redacted: what is quoted from it is looked up in it."""
    case: str
    token: str
    until: str
    again: bool
    """It was in this reader's hands already."""
    returned: bool
    """Somebody has read it, and its evidence has changed since."""
    also: tuple[str, ...]
    """Cases that this reader has in hand besides."""
    waiting: int
    """What this reader could be given after this one."""
    readings: tuple[Reading, ...] = ()
    """The verdicts to decide between."""
    adjudicates: tuple[str, ...] = ()
    """Their ids."""


class NothingWaiting(msgspec.Struct, frozen=True, kw_only=True):
    failures: int
    read: int
    others: int
    """Read by others, not by this reader."""
    in_hand: int
    """Waiting, but given to a reader of the same name."""
