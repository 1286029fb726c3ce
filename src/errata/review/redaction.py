"""A packet as it may leave the machine. Evidence is looked for in this one, too: a reviewer saw no other.

Texts are redacted before they are cut: what is left of half a secret has lost the shape it is known by. So whoever
makes a packet redacts it at once; `redacted` is for those that come from elsewhere, and does nothing twice.
"""

from functools import lru_cache

import msgspec

from errata.model import FailureKey, LeftOut, Packet, Place, Signal
from errata.text.private import for_others, tree_for_others

SHORT, LONG = 200, 50_000
"""Characters: names and words come again and again; what is longer than long is not worth remembering."""

_of_words = lru_cache(2_048)(for_others)
_of_texts = lru_cache(256)(for_others)
"""The packets of a run share what the subject was told and the turns of a conversation."""


def told(text: str) -> str:
    """As it may leave the machine."""
    if len(text) <= SHORT:
        return _of_words(text)
    return _of_texts(text) if len(text) <= LONG else for_others(text)


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
    return Place(place=for_others(place.place), source=for_others(place.source), text=for_others(place.text))


def _signal(signal: Signal) -> Signal:
    return msgspec.structs.replace(signal, where=for_others(signal.where), quote=for_others(signal.quote), extra={})


def _key(key: FailureKey | None) -> FailureKey | None:
    return key and FailureKey(exact=for_others(key.exact), coarse=for_others(key.coarse))
