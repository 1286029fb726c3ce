"""The packets of a plan as they are read: what may take a verdict over waits for it, all else goes on meanwhile."""

from collections.abc import Iterator

from errata.model import Packet, Verdict
from errata.model.identity import split_attempt_id
from errata.review.fan_out import Ended
from errata.review.inherit import Heirs
from errata.review.plan import Part, Plan, packets_for
from errata.review.turns import Turns
from errata.store.database import Store


class InTurn:
    def __init__(self, plan: Plan, store: Store) -> None:
        # a second opinion that nobody has is none: then nothing is taken over
        self._shared = plan.request.wanted != "second"
        self._lines = {part.stored.run.id: _Line(plan, part, store, shared=self._shared) for part in plan.parts}

    def packets(self) -> Iterator[Packet | None]:
        """None where all that is left waits for what is being read. No run waits for another."""
        coming = [line.packets() for line in self._lines.values()]
        while coming:
            packet = None
            for packets in tuple(coming):
                try:
                    packet = next(packets)
                except StopIteration:
                    coming.remove(packets)
                if packet is not None:
                    break
            if packet is not None or coming:
                yield packet

    def heirs_of(self, verdict: Verdict, at: str) -> list[Verdict]:
        return self._lines[_run_of(verdict.attempt)].heirs_of(verdict, at) if self._shared else []

    def ended(self, ended: Ended) -> None:
        """After its heirs have what they get: those who waited are let go."""
        attempt = ended.packet.attempt_id
        self._lines[_run_of(attempt)].turns.ended(attempt, with_verdict=ended.verdict is not None)


class _Line:
    """Of one run."""

    def __init__(self, plan: Plan, part: Part, store: Store, *, shared: bool) -> None:
        self._plan, self._part, self._store = plan, part, store
        self._heirs = Heirs(part.stored, store)
        self._inherited: set[str] = set()
        self.turns = Turns(part.attempts, self._heirs.key_of if shared else lambda _attempt: None)

    def packets(self) -> Iterator[Packet | None]:
        """What inherited a verdict meanwhile is not read."""
        for packet in packets_for(self._part, self._store, self._plan.request, self._attempts()):
            if packet is None:
                yield None
            elif packet.attempt_id in self._inherited:
                self.turns.ended(packet.attempt_id, with_verdict=True)
            else:
                self._heirs.is_read(packet.attempt_id)
                yield packet

    def _attempts(self) -> Iterator[str | None]:
        while (attempt := self.turns.take()) is not None or self.turns.is_waiting:
            if attempt not in self._inherited:
                yield attempt

    def heirs_of(self, verdict: Verdict, at: str) -> list[Verdict]:
        found = self._heirs.of(verdict, at)
        self._inherited |= {one.attempt for one in found}
        return found


def _run_of(attempt: str) -> str:
    return split_attempt_id(attempt).run
