"""The scores of each category, and what a pass costs in each tier; policies that agree share a line."""

from collections.abc import Callable, Iterator, Mapping

from errata.cli.fitting import columns, cut, padded
from errata.cli.output import money, put, wash
from errata.cli.score_lines import figures
from errata.compare.costs import Cost, Price
from errata.compare.scores import Policy, Score

WIDEST = 30

Row = tuple[str, str, str, str, str, str]
"""Category, policies, counts, rate, interval, cost of a pass."""


def put_categories(categories: Mapping[str, Mapping[Policy, Score]], prices: Mapping[str, Price]) -> None:
    if not categories:
        put("\nBy category: the log names none")
        return
    rows = [row for name, scores in categories.items() for row in _rows(name, scores, prices.get(name))]
    widths = [max(columns(row[at]) for row in rows) for at in range(6)]
    put("\nBy category")
    for row in rows:
        cells = [padded(cell, widths[at], right=at == 3) for at, cell in enumerate(row)]
        put(f"  {'  '.join(cells)}".rstrip())


def _rows(name: str, scores: Mapping[Policy, Score], price: Price | None) -> Iterator[Row]:
    alike: dict[tuple[str, str, str], list[str]] = {}
    for policy, score in scores.items():
        if score.total:
            alike.setdefault(figures(score), []).append(policy)
    first = cut(wash(name), WIDEST)
    if not alike:
        yield first, "–", "", "", "", ""
    for at, (cells, policies) in enumerate(alike.items()):
        yield "" if at else first, ", ".join(policies), *cells, "" if at or price is None else _per_pass(price)


def _per_pass(price: Price) -> str:
    return f"{money(price.cost_of_pass)}/pass" if price.cost_of_pass is not None else f"–: {price.note}"


def put_tiers(cost: Cost, name: Callable[[str], str]) -> None:
    """Of each case that was tried in tiers."""
    tiers: dict[str, list[Price]] = {}
    for price in cost.prices:
        if price.path and "/" not in price.path:
            tiers.setdefault(price.case, []).append(price)
    if not tiers:
        return
    put("\nCost of a pass by tier (runs passed)")
    for case, prices in tiers.items():
        told = [f"{one.path} {money(one.cost_of_pass)} ({one.passed}/{one.made})" for one in prices]
        put(f"  {name(case)}  {' · '.join(told)}", hang=4)
