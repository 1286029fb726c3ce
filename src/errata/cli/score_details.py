"""What a score leaves out, with evidence, and scores and costs by category and tier."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from errata.cli.fitting import WIDTH, columns, cut, fold, padded
from errata.cli.output import money, put, wash
from errata.cli.render.scores import figures
from errata.cli.table import some_of
from errata.compare.costs import Cost, Price
from errata.compare.scores import LeftOutGroup, Policy, Score
from errata.compare.trials import Trial
from errata.runs.scores import Proof, Scores
from errata.text.clean import one_line

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


QUOTE = 150
FEW = 3
LEAST = 18

_ENDED = {
    "completed": "completed",
    "limit": "reached a limit",
    "error": "ended in an error",
    "cancelled": "cancelled",
}

Name = Callable[[Trial], str]


def put_left_out(scores: Scores, score: Score, name: Name) -> None:
    groups = (*score.groups, *score.beside)
    width = max([LEAST, *(columns(_label(group)) for group in groups)])
    if score.groups:
        put(f"\nLeft out of {score.policy} ({sum(score.left_out.values()):,})")
        _put_groups(score.groups, width, scores, name)
    if score.beside:
        put(f"\nCounted in {score.policy}, not the model alone ({sum(group.count for group in score.beside):,})")
        _put_groups(score.beside, width, scores, name)
        passed, total = score.without_beside
        put(f"  Without them: {f'{passed:,}/{total:,}   {100 * passed / total:.1f} %' if total else 'nothing is left'}")


def _put_groups(groups: Sequence[LeftOutGroup], width: int, scores: Scores, name: Name) -> None:
    for group in groups:
        head = f"  {_label(group):<{width}} {group.count:>4,}   "
        room = WIDTH - columns(head)
        lines = [line for part in _parts(group, scores.proof_of(group), name) for line in fold(wash(part), room)]
        if len(group.members) > 1 or not lines:
            lines.append(_names(group, name, room))
        for at, line in enumerate(lines):
            put((head if at == 0 else " " * columns(head)) + line)


def _label(group: LeftOutGroup) -> str:
    return one_line(group.signal or group.why)


def _parts(group: LeftOutGroup, proof: Proof | None, name: Name) -> list[str]:
    """The evidence, and how the attempts ended where they did not all end alike."""
    parts = []
    if proof is not None:
        quote = f'"{one_line(proof.quote, QUOTE)}"'
        only = f" ({name(group.members[0])})" if len(group.members) == 1 else ""
        parts.append((f"{proof.where} {quote}" if _is_file(proof.where) else quote) + only)
    kinds: dict[str, list[Trial]] = {}
    for one in group.members:
        kinds.setdefault("timed out" if one.timed_out else _ENDED.get(one.execution, one.execution), []).append(one)
    if len(kinds) > 1:
        first, *others = sorted(kinds.items(), key=lambda pair: -len(pair[1]))
        told = [f"{len(first[1])} {first[0]}", *(_kind(word, those, name) for word, those in others)]
        parts.append(", ".join(told))
    return parts


def _kind(word: str, those: Sequence[Trial], name: Name) -> str:
    named = f" ({', '.join(map(name, those))})" if len(those) <= FEW else ""
    return f"{len(those)} {'also ' if those[0].execution == 'limit' else ''}{word}{named}"


def _is_file(where: str) -> bool:
    """A file of the log, not a field of the record that errata made of it."""
    return "[" not in where and ("/" in where or "." in where)


def _names(group: LeftOutGroup, name: Name, room: int) -> str:
    if not group.members:
        return "the log does not name them"
    unnamed = f" and {group.unnamed:,} without a name" if group.unnamed else ""
    return some_of([name(one) for one in group.members], room - len(unnamed)) + unnamed
