"""What a run cost and what a pass cost: in all, by category, and by tier and subtest. Unknown is not zero."""

from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean, median

import msgspec

from errata.compare.trials import Trial, Trials
from errata.model import Attempt
from errata.model.output.score import CostOfPassOutput, CostOutput, FrontierOutput, PriceOutput
from errata.model.usage import total_of
from errata.model.words import CostNote


class Spending(msgspec.Struct):
    """Adds up the cost of attempts, as far as the log states it."""

    made: int = 0
    passed: int = 0
    priced: int = 0
    """Of how many the cost is known."""
    priced_passes: int = 0
    of_passes: float = 0.0
    of_failures: float = 0.0
    of_unscored: float = 0.0
    priced_unscored: int = 0
    """Attempts that nobody scored: neither a pass nor a failure."""

    def add(self, cost: float | None, *, passed: bool, scored: bool = True) -> None:
        self.made += 1
        self.passed += passed
        if cost is None:
            return
        self.priced += 1
        self.priced_passes += passed
        self.priced_unscored += not scored
        if not scored:
            self.of_unscored += cost
        elif passed:
            self.of_passes += cost
        else:
            self.of_failures += cost

    @property
    def total(self) -> float | None:
        return self.of_passes + self.of_failures + self.of_unscored if self.priced else None

    @property
    def cost_of_pass(self) -> float | None:
        """Mean cost over pass rate, of the attempts whose cost is known; none where not one of them passed."""
        return (self.total or 0.0) / self.priced_passes if self.priced_passes else None

    @property
    def note(self) -> CostNote | None:
        """Why there is no cost of pass."""
        if self.cost_of_pass is not None:
            return None
        return CostNote.NOTHING_PASSED if self.priced and not self.passed else CostNote.NO_COST


def spending_on(tries: Iterable[Trial]) -> Spending:
    """Attempts that were never made cost nothing and are left out."""
    spent = Spending()
    for attempt in tries:
        if attempt.execution != "missing":
            scored = attempt.passed or attempt.is_failure or attempt.measurement == "scored"
            spent.add(attempt.cost, passed=attempt.passed, scored=scored)
    return spent


def frontier(tiers: Mapping[str, Spending]) -> tuple[str, float] | None:
    """The cheapest tier and its cost of pass; none where no tier has one."""
    priced = [(cost, name) for name, one in tiers.items() if (cost := one.cost_of_pass) is not None]
    cost, name = min(priced, default=(0.0, ""))
    return (name, cost) if priced else None


def costs_of_pass(trials: Trials, frontiers: Mapping[str, float]) -> CostOfPassOutput:
    passing = [case for case, tries in trials.counted.items() if all(one.passed for one in tries)]
    known = [frontiers[case] for case in passing if case in frontiers]
    if not known:
        note = CostNote.NO_FRONTIER if passing else CostNote.NOTHING_PASSED
        return CostOfPassOutput(mean=None, median=None, priced=0, passed=len(passing), note=note)
    return CostOfPassOutput(mean=fmean(known), median=median(known), priced=len(known), passed=len(passing), note=None)


class Tiers:
    """The runs below the attempts of a case; of several sessions the latest that has any."""

    def __init__(self) -> None:
        self._stated: dict[str, float] = {}
        self._found: dict[str, tuple[int, dict[str, Spending]]] = {}
        """Case → session, and what was spent by tier and by subtest."""

    def add(self, attempt: Attempt) -> None:
        if attempt.parent is not None:
            self._add_run(attempt)
        elif attempt.counted and attempt.cost_of_pass is not None:
            self._stated[attempt.case] = attempt.cost_of_pass

    @property
    def frontiers(self) -> dict[str, float]:
        """Case → the cost of a pass at its cheapest tier: as the harness states it, else as its runs show it."""
        frontiers = {}
        for case, (_, spent) in self._found.items():
            cheapest = frontier({path: one for path, one in spent.items() if "/" not in path})
            if cheapest is not None:
                frontiers[case] = cheapest[1]
        return frontiers | self._stated

    @property
    def spent(self) -> Iterator[tuple[str, str, Spending]]:
        """Case, `T0` for a tier or `T0/00` for a subtest, and what was spent there."""
        for case, (_, spent) in self._found.items():
            for path in sorted(spent):
                yield case, path, spent[path]

    def _add_run(self, attempt: Attempt) -> None:
        """Only measured attempts: one that was cut off gives no price of a pass."""
        tier, slash, below = attempt.path.partition("/")
        if not slash or attempt.superseded_by or attempt.measurement != "scored":
            return
        session = attempt.session or 0
        latest = self._found.get(attempt.case)
        if latest is None or session > latest[0]:
            latest = self._found[attempt.case] = (session, {})
        if session == latest[0]:
            for path in (tier, f"{tier}/{below.partition('/')[0]}"):
                latest[1].setdefault(path, Spending()).add(attempt.usage.cost, passed=attempt.outcome == "pass")


FRONTIER = "frontier_cop"


def cost_of(trials: Trials, parts: Mapping[str, Trials], tiers: Tiers) -> CostOutput:
    spent = spending_on(trials.rows)
    by_category = {name: spending_on(part.rows) for name, part in parts.items()}
    is_simulator_only = {_is_of_simulator(one) for one in trials.rows if one.cost} == {True}
    note = CostNote.PASSES_WITHOUT_ROWS if trials.passes_without_rows and spent.note else spent.note
    return CostOutput(
        total=spent.total,
        of_passes=spent.of_passes if spent.priced_passes else None,
        of_failures=spent.of_failures if spent.priced > spent.priced_passes + spent.priced_unscored else None,
        of_unscored=spent.of_unscored if spent.priced_unscored else None,
        of_subject=total_of(one.subject_cost for one in trials.rows),
        of_judge=total_of(one.judge_cost for one in trials.rows),
        of_simulator=total_of(one.simulator_cost for one in trials.rows),
        is_simulator_only=is_simulator_only,
        per_pass=None if is_simulator_only else spent.cost_of_pass,
        unknown=spent.made - spent.priced,
        note=CostNote.SIMULATOR_ONLY if is_simulator_only else note,
        cost_of_pass=costs_of_pass(trials, tiers.frontiers) if tiers.frontiers else None,
        frontier=_frontier(trials, by_category),
        prices=(
            *(_price(one, category=name) for name, one in by_category.items() if one.priced),
            *_of_cases(trials),
            *(_price(one, case=case, path=path) for case, path, one in tiers.spent),
        ),
    )


def _is_of_simulator(trial: Trial) -> bool:
    return trial.subject_cost is None and trial.simulator_cost is not None


def _frontier(trials: Trials, by_category: Mapping[str, Spending]) -> FrontierOutput | None:
    """Only where the harness gives one: there the categories are tiers, and the cheapest of them is the frontier."""
    stated = next((one for one in trials.run.reported if one.metric == FRONTIER), None)
    if stated is None:
        return None
    category, cost = frontier(by_category) or ("", None)
    return FrontierOutput(category=category, cost_of_pass=cost, stated=stated.value)


def _of_cases(trials: Trials) -> list[PriceOutput]:
    """Where a case was tried once, its price is its cost."""
    if not trials.repeated:
        return []
    spent = {case: spending_on(tries) for case, tries in trials.counted.items()}
    return [_price(one, case=case) for case, one in spent.items() if one.priced]


def _price(spent: Spending, *, category: str = "", case: str = "", path: str = "") -> PriceOutput:
    return PriceOutput(
        category=category,
        case=case,
        path=path,
        made=spent.made,
        passed=spent.passed,
        cost=spent.total,
        cost_of_pass=spent.cost_of_pass,
        note=spent.note,
    )
