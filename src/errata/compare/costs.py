"""What a pass costs: all that was spent, over the passes it bought. Unknown is not zero."""

from collections.abc import Iterable, Mapping
from statistics import fmean, median

import msgspec

from errata.compare.trials import Trials, Tried

NOTHING_PASSED = "nothing passed"


class Spent(msgspec.Struct):
    """Adds up what attempts cost, as far as the log tells."""

    made: int = 0
    passed: int = 0
    priced: int = 0
    """Of how many the cost is known."""
    priced_passes: int = 0
    of_passes: float = 0.0
    of_failures: float = 0.0

    def add(self, cost: float | None, *, passed: bool) -> None:
        self.made += 1
        self.passed += passed
        if cost is not None:
            self.priced += 1
            self.priced_passes += passed
            self.of_passes += cost if passed else 0.0
            self.of_failures += 0.0 if passed else cost

    @property
    def total(self) -> float | None:
        return self.of_passes + self.of_failures if self.priced else None

    @property
    def cost_of_pass(self) -> float | None:
        """Mean cost over pass rate, of the attempts whose cost is known; none where not one of them passed."""
        return (self.of_passes + self.of_failures) / self.priced_passes if self.priced_passes else None

    @property
    def note(self) -> str:
        """Why there is no cost of pass."""
        if self.cost_of_pass is not None:
            return ""
        return NOTHING_PASSED if self.priced and not self.passed else "no cost is known"


def spent_on(tries: Iterable[Tried]) -> Spent:
    """What was never made cost nothing, and says nothing."""
    spent = Spent()
    for one in tries:
        if one.execution != "missing":
            spent.add(one.cost, passed=one.passed)
    return spent


def frontier(tiers: Mapping[str, Spent]) -> tuple[str, float] | None:
    """The cheapest tier and its cost of pass; none where no tier has one."""
    priced = [(cost, name) for name, one in tiers.items() if (cost := one.cost_of_pass) is not None]
    cost, name = min(priced, default=(0.0, ""))
    return (name, cost) if priced else None


class CostsOfPass(msgspec.Struct, frozen=True, kw_only=True):
    """Of the passing cases one by one, as ProjectScylla counts: each at its own frontier."""

    mean: float | None = None
    median: float | None = None
    priced: int = 0
    passed: int = 0
    note: str = ""
    """Why there is none."""


def costs_of_pass(trials: Trials, frontiers: Mapping[str, float]) -> CostsOfPass:
    """`frontiers`: case → its frontier cost of pass."""
    passing = [case for case, tries in trials.counted.items() if all(one.passed for one in tries)]
    known = [frontiers[case] for case in passing if case in frontiers]
    if not known:
        return CostsOfPass(passed=len(passing), note="no frontier is known" if passing else NOTHING_PASSED)
    return CostsOfPass(mean=fmean(known), median=median(known), priced=len(known), passed=len(passing))
