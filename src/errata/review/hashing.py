"""Which packet a verdict was given on: a hash over all that left the machine."""

from errata.model import Packet
from errata.model.identity import fingerprint
from errata.review.redaction import redacted

SIZE = 16


def packet_hash(packet: Packet) -> str:
    """The same for the same content, whatever the order in its dicts, and whether it was redacted before or not."""
    return fingerprint(redacted(packet), size=SIZE)
