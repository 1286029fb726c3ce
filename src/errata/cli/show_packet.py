"""A packet as a reviewer gets it."""

from typing import Any

import msgspec

from errata import pipeline
from errata.cli.output import put_json
from errata.errors import NotFoundError
from errata.model import Packet
from errata.pipeline.packeting import Packing
from errata.pipeline.showing import ShownAttempt, ShownRun
from errata.store.database import Store


def show_packet(shown: ShownRun | ShownAttempt, store: Store, *, raw: bool) -> None:
    """One JSON object; redacted the way it would leave the machine."""
    if not isinstance(shown, ShownAttempt):
        hint = "name a case: `errata show RUN/CASE --packet`; `errata review export RUN` writes all"
        raise NotFoundError("A packet is about one failure, not about a run", hint=hint)
    packet = pipeline.packet_of(shown.attempt.id, store, packing=Packing(raw=raw))
    put_json(plain_packet(packet), raw=True)


def plain_packet(packet: Packet) -> dict[str, Any]:
    """Without the many fields that say nothing, but always with its version."""
    return {"version": packet.version, **msgspec.to_builtins(packet)}
