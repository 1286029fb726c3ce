"""Which packet a verdict was given on: a hash over all that it says."""

from errata.model import Packet
from errata.model.identity import fingerprint

SIZE = 16


def packet_hash(packet: Packet) -> str:
    """The same for the same content, whatever the order in its dicts."""
    return fingerprint(packet, size=SIZE)
