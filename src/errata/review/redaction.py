"""A packet as it may leave the machine. Evidence is looked for in this one, too: a reviewer saw no other."""

import re

import msgspec

from errata.model import FailureKey, LeftOut, Packet, Place, Signal
from errata.text.private import for_others, tree_for_others

# a secret may have been cut in two where text was left out: what is left of it has lost the shape it is known by
_GAP = r"\[… [\d,]+ characters left out …\]"
_OPAQUE = r"(?=[\w+/=.-]*\d)(?=[\w+/=.-]*[A-Za-z])[\w+/=.-]{12,}"
_KEY_LINES = r"(?:[A-Za-z0-9+/=]{40,}\s+)*+[A-Za-z0-9+/=]*+\s*-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"
_AFTER_GAP = re.compile(rf"({_GAP}\s*)(?:{_KEY_LINES}|{_OPAQUE})")
_BEFORE_GAP = re.compile(rf"(?<![\w+/=.-]){_OPAQUE}(?=\s*{_GAP})")


def redacted(packet: Packet) -> Packet:
    """Without secrets and people. Ids and the question stay: they are ours, and others refer to them."""
    if packet.redacted:
        return packet
    return msgspec.structs.replace(
        packet,
        run=tree_for_others(packet.run),
        facts=tree_for_others(packet.facts),
        failure_key=_key(packet.failure_key),
        signals=tuple(_signal(one) for one in packet.signals),
        places=tuple(_place(one) for one in packet.places),
        history=tuple(tree_for_others(one) for one in packet.history),
        left_out=tuple(LeftOut(what=for_others(one.what), why=for_others(one.why)) for one in packet.left_out),
        extra={},
        redacted=True,
    )


def _place(place: Place) -> Place:
    text = for_others(place.text)
    if "characters left out" in text:
        text = _BEFORE_GAP.sub("[redacted:cut]", _AFTER_GAP.sub(r"\1[redacted:cut]", text))
    return Place(place=for_others(place.place), source=for_others(place.source), text=text)


def _signal(signal: Signal) -> Signal:
    return msgspec.structs.replace(signal, where=for_others(signal.where), quote=for_others(signal.quote), extra={})


def _key(key: FailureKey | None) -> FailureKey | None:
    return key and FailureKey(exact=for_others(key.exact), coarse=for_others(key.coarse))
