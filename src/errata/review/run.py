"""A review in progress: the order of the packets, inherited verdicts, and the progress so far."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from errata.model import Packet, ReviewCall, Verdict
from errata.model.identity import split_attempt_id
from errata.review.fan_out import PacketResult
from errata.review.inherit import IdenticalFailures, Schedule
from errata.review.plan import PlannedRun, ReviewPlan
from errata.review.spending import Purse

Clock = Callable[[], str]


class ReviewTally:
    """How far a review is, and at the end its result; true at any moment, even if it is interrupted."""

    def __init__(self, planned: int) -> None:
        self.planned = planned
        self.reviewed = self.refused = self.failed = 0
        self.cached = 0
        """Of these, those whose answers were in the ledger already."""
        self.inherited = 0
        """Verdicts that identical failures took over; some of these failures were planned, some were not."""
        self.spared = 0
        """Planned, and then not read, because they had inherited a verdict."""
        self.need_second = 0
        self.adjudicated = 0
        """Reviewed in two passes that differed."""
        self.labels: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        """Why answers were refused, or packets could not be reviewed."""
        self.stopped = ""
        """Why the reviewer can't be asked any more."""
        self.capped = ""
        self.cost = 0.0
        self.tokens = 0
        self.calls = 0
        self.unpriced = 0
        """Calls whose price nobody knows."""
        self.lost: list[ReviewCall] = []
        self.waiting = 0
        """Planned, and part of a batch, or not sent."""

    @property
    def finished(self) -> int:
        return self.reviewed + self.refused + self.failed + self.spared

    @property
    def remaining(self) -> int:
        """Planned, and not come to."""
        return max(self.planned - self.finished, 0)

    def add(self, ended: PacketResult, purse: Purse) -> None:
        self.cost, self.tokens, self.calls, self.unpriced = purse.cost, purse.tokens, purse.calls, purse.unpriced
        self.cached += ended.cached
        match ended.end:
            case "reviewed":
                assert ended.verdict is not None
                self.reviewed += 1
                self.labels[ended.verdict.label] += 1
                self.need_second += ended.verdict.needs_second
                self.adjudicated += bool(ended.verdict.adjudicates)
            case "refused":
                self.refused += 1
                self.reasons.update(ended.reasons)
            case "failed":
                self.failed += 1
                self.reasons.update(ended.reasons)
            case "waiting":
                self.waiting += 1
            case "stopped":
                self.stopped = self.stopped or ended.reasons[0]
            case "capped":
                self.capped = self.capped or ended.reasons[0]


PacketsInOrder = Callable[[PlannedRun, Iterable[str | None]], Iterator[Packet | None]]
"""The packets of these attempts, one after the other; none for none."""


class PacketStream:
    """The packets of a plan: what may inherit a verdict waits for it, everything else goes on meanwhile."""

    def __init__(
        self, plan: ReviewPlan, packets: PacketsInOrder, identical: Callable[[PlannedRun], IdenticalFailures]
    ) -> None:
        # a second opinion that nobody has is none: then nothing is inherited
        self._shared = plan.request.wanted != "second"
        self._runs = {
            part.stored.run.id: _RunPackets(part, packets, identical(part), shared=self._shared) for part in plan.parts
        }

    def packets(self) -> Iterator[Packet | None]:
        """None where all that is left waits for what is being read. No run waits for another."""
        coming = [run.packets() for run in self._runs.values()]
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

    def inherit(self, verdict: Verdict, at: str) -> list[Verdict]:
        """The verdicts of identical failures."""
        return self._runs[_run_of(verdict.attempt)].inherit(verdict, at) if self._shared else []

    def end(self, result: PacketResult) -> None:
        """After identical failures have inherited: those that waited for this packet go on."""
        attempt = result.packet.attempt_id
        self._runs[_run_of(attempt)].schedule.ended(attempt, with_verdict=result.verdict is not None)


class _RunPackets:
    """Of one run."""

    def __init__(
        self, part: PlannedRun, packets: PacketsInOrder, identical: IdenticalFailures, *, shared: bool
    ) -> None:
        self._part, self._packets, self._identical = part, packets, identical
        self._inherited: set[str] = set()
        self.schedule = Schedule(part.attempts, identical.key_of if shared else lambda _attempt: None)

    def packets(self) -> Iterator[Packet | None]:
        """What inherited a verdict meanwhile is not read."""
        for packet in self._packets(self._part, self._attempts()):
            if packet is None:
                yield None
            elif packet.attempt_id in self._inherited:
                self.schedule.ended(packet.attempt_id, with_verdict=True)
            else:
                self._identical.mark_reviewed(packet.attempt_id)
                yield packet

    def _attempts(self) -> Iterator[str | None]:
        while (attempt := self.schedule.take()) is not None or self.schedule.is_waiting:
            if attempt not in self._inherited:
                yield attempt

    def inherit(self, verdict: Verdict, at: str) -> list[Verdict]:
        verdicts = self._identical.inherit(verdict, at)
        self._inherited |= {one.attempt for one in verdicts}
        return verdicts


def _run_of(attempt: str) -> str:
    return split_attempt_id(attempt).run
