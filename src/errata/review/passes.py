"""Two independent readings of a packet, and an adjudication where they differ."""

from collections.abc import Callable

import msgspec

from errata.model import Packet, Verdict
from errata.review.adjudicate import differ
from errata.review.fan_out import PacketResult, RefusedAnswer, Work, read_once


class Passes(msgspec.Struct, frozen=True):
    first: Work
    second: Work
    adjudicate: Callable[[Verdict, Verdict], Work]

    async def read(self, packet: Packet, _work: Work) -> PacketResult:
        """Every answer is in the ledger when it is there: after an interruption, no reading is paid for twice."""
        first = await read_once(packet, self.first)
        second = await read_once(packet, self.second)
        cached = first.cached and second.cached
        refused = (*first.refused, *second.refused)
        if first.verdict is None or second.verdict is None:
            return _with_one_reading(first, second, refused, cached=cached)
        if not differ(first.verdict, second.verdict):
            readings = (first.verdict,)
            return msgspec.structs.replace(second, readings=readings, refused=refused, cached=cached)
        decided = await read_once(packet, self.adjudicate(first.verdict, second.verdict))
        return msgspec.structs.replace(
            decided,
            readings=(first.verdict, second.verdict),
            refused=(*refused, *decided.refused),
            cached=cached and decided.cached,
        )


def _with_one_reading(
    first: PacketResult, second: PacketResult, refused: tuple[RefusedAnswer, ...], *, cached: bool
) -> PacketResult:
    """Where one answer is refused, the other reading is the verdict; there is nothing to decide."""
    taken = second if first.verdict is None else first
    return msgspec.structs.replace(taken, refused=refused, cached=cached)
