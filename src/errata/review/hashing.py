"""Which packet a verdict was given on: a hash over the facts and texts that left the machine."""

import msgspec

from errata.model import Packet
from errata.model.identity import fingerprint
from errata.review.redaction import redacted

SIZE = 16


def packet_hash(packet: Packet) -> str:
    """The same for the same facts and texts, whatever the order in a dict, and whether it was redacted before or not.

    History and signals are left out, and so is the size, which counts them: another run in the store, or another
    version of the rules, changes them, and neither makes an answer that was paid for worthless.
    """
    facts = msgspec.structs.replace(redacted(packet), history=(), signals=(), failure_key=None, size={})
    return fingerprint(facts, size=SIZE)
