"""What a run has cost, and what its passes: in all, by category, and by tier and subtest where there are such."""

from collections.abc import Mapping

import msgspec

from errata.compare.costs import CostsOfPass, Spent, costs_of_pass, frontier, spent_on
from errata.compare.tiers import Tiers
from errata.compare.trials import Trials

FRONTIER = "frontier_cop"


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of a pass in one category, case, tier or subtest."""

    category: str = ""
    case: str = ""
    path: str = ""
    """`T0` for a tier of the case, `T0/00` for a subtest of it."""
    made: int
    passed: int
    cost: float | None
    cost_of_pass: float | None
    note: str | None
    """Why there is no cost of pass."""


class Frontier(msgspec.Struct, frozen=True):
    category: str
    cost_of_pass: float | None
    stated: float | None
    """What the harness says itself."""


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What was spent, as far as the log tells; absent is not zero."""

    total: float | None
    of_passes: float | None
    of_failures: float | None
    per_pass: float | None
    """Everything that was spent, over the passes it bought."""
    unknown: int
    note: str | None
    """Why there is no cost per pass."""
    cost_of_pass: CostsOfPass | None
    """Of the passing cases one by one, where they have tiers."""
    frontier: Frontier | None
    """Of the whole run, where the harness gives one."""
    prices: tuple[Price, ...]


def cost_of(trials: Trials, parts: Mapping[str, Trials], tiers: Tiers) -> Cost:
    spent = spent_on(trials.rows)
    by_category = {name: spent_on(part.rows) for name, part in parts.items()}
    return Cost(
        total=spent.total,
        of_passes=spent.of_passes if spent.priced_passes else None,
        of_failures=spent.of_failures if spent.priced > spent.priced_passes else None,
        per_pass=spent.cost_of_pass,
        unknown=spent.made - spent.priced,
        note=spent.note or None,
        cost_of_pass=costs_of_pass(trials, tiers.frontiers) if tiers.frontiers else None,
        frontier=_frontier(trials, by_category),
        prices=(
            *(_price(one, category=name) for name, one in by_category.items() if one.priced),
            *_of_cases(trials),
            *(_price(one, case=case, path=path) for case, path, one in tiers.spent),
        ),
    )


def _frontier(trials: Trials, by_category: Mapping[str, Spent]) -> Frontier | None:
    """Only where the harness gives one: there the categories are tiers, and the cheapest of them is the frontier."""
    stated = next((one for one in trials.run.reported if one.metric == FRONTIER), None)
    if stated is None:
        return None
    category, cost = frontier(by_category) or ("", None)
    return Frontier(category, cost, stated.value)


def _of_cases(trials: Trials) -> list[Price]:
    """Where a case was tried once, its price is its cost."""
    if not trials.repeated:
        return []
    spent = {case: spent_on(tries) for case, tries in trials.counted.items()}
    return [_price(one, case=case) for case, one in spent.items() if one.priced]


def _price(spent: Spent, *, category: str = "", case: str = "", path: str = "") -> Price:
    return Price(
        category=category,
        case=case,
        path=path,
        made=spent.made,
        passed=spent.passed,
        cost=spent.total,
        cost_of_pass=spent.cost_of_pass,
        note=spent.note or None,
    )
