"""Whether what verdicts quote still stands where they say, in the failures as they are stored now."""

from collections.abc import Sequence

import msgspec

from errata.model import Packet, StoredRun, Verdict
from errata.pipeline.packeting import Packing, packets_of, question_for
from errata.review.budget import UNLIMITED
from errata.review.evidence import verbatim
from errata.review.hashing import packet_hash
from errata.review.redaction import redacted
from errata.store.database import Store


class Found(msgspec.Struct, frozen=True, kw_only=True):
    quotes: int
    found: int
    stale: tuple[str, ...] = ()
    """Attempts whose verdict quotes what is there no more: it has to be read again."""
    changed: int = 0
    """Verdicts on a packet that says more or less by now, with all they quote still in it."""
    without: int = 0
    """Verdicts that quote nothing; only people may."""
