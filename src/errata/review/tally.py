"""How far a review is, and at the end what became of it; true at any moment, also when it is broken off."""

from collections import Counter

from errata.model import Call
from errata.review.fan_out import Ended
from errata.review.limits import Purse


class Tally:
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
        self.lost: list[Call] = []

    @property
    def done(self) -> int:
        return self.reviewed + self.refused + self.failed + self.spared

    @property
    def left(self) -> int:
        """Planned, and not come to."""
        return max(self.planned - self.done, 0)

    def add(self, ended: Ended, purse: Purse) -> None:
        self.cost, self.tokens, self.calls, self.unpriced = purse.cost, purse.tokens, purse.calls, purse.unpriced
        self.cached += ended.cached
        match ended.end:
            case "reviewed":
                assert ended.verdict is not None
                self.reviewed += 1
                self.labels[ended.verdict.label] += 1
                self.need_second += ended.verdict.needs_second
            case "refused":
                self.refused += 1
                self.reasons.update(ended.reasons)
            case "failed":
                self.failed += 1
                self.reasons.update(ended.reasons)
            case "stopped":
                self.stopped = self.stopped or ended.reasons[0]
            case "capped":
                self.capped = self.capped or ended.reasons[0]
