"""How often each check failed, what stood in the place of answers, and how categories did: a column for each run."""

from collections.abc import Sequence
from typing import NamedTuple

from errata.cli.compare_names import COLUMNS, GAP, CaseNames, Heads, heads_of, put_side_by_side
from errata.cli.fitting import WIDTH, columns
from errata.cli.output import put, wash
from errata.cli.table import put_table
from errata.compare.categories import CategoryCount
from errata.compare.checks import CountByRun
from errata.compare.comparison import Comparison

MOST = 15
FIRST = 34
MANY = 200
"""With so many cases it is no want of numbers that keeps a category from being called harder."""

Rows = list[tuple[str, ...]]


class _Table(NamedTuple):
    header: tuple[str, ...]
    """Of the columns before those of the runs."""
    rows: Rows
    more: int
    """Rows that are left out."""


def put_tables(comparison: Comparison, names: CaseNames) -> None:
    tables = [
        _failed(comparison, names),
        *([_counts("in place of an answer", comparison.patterns)] if comparison.patterns else []),
        *([_categories(comparison.categories, names)] if len(comparison.categories) > 1 else []),
    ]
    labels = [wash(column.label) for column in comparison.matrix.columns]
    heads = heads_of(labels, WIDTH - max(map(_taken, tables)))
    if max(_taken(table) + len(labels) * (_widest(table) + GAP) for table in tables) > WIDTH:
        heads = Heads(())
    for table in tables:
        _put_by_run(table, heads)
    if len(comparison.categories) > 1:
        put(_harder(comparison.categories, names), hang=0)
    if not heads.texts:
        put("\nBy run: --json")
    elif heads.legend:
        put()
        put_side_by_side(heads.legend, COLUMNS)


def _failed(comparison: Comparison, names: CaseNames) -> _Table:
    """How many cases failed, and below that how often each check did."""
    matrix, made = comparison.matrix, _counts("failed", comparison.checks)
    rows = matrix.rows.values()
    by_run = tuple(
        sum((cell := row[at]) is not None and cell.failed for row in rows) for at in range(len(matrix.columns))
    )
    return made._replace(rows=[(f"{names.word}s", *map(str, by_run), str(sum(by_run))), *made.rows])


def _counts(title: str, counts: Sequence[CountByRun]) -> _Table:
    """In the order of the harness; of very many only what more than one case shares, the commonest."""
    shared = [one for one in counts if one.cases > 1] if len(counts) > MOST else counts
    most = sorted(shared, key=lambda one: (-one.cases, -one.total))[:MOST]
    rows: Rows = [(one.name, *map(str, one.by_run), str(one.total)) for one in counts if one in most]
    return _Table((title,), rows, len(counts) - len(rows))


def _categories(counts: Sequence[CategoryCount], names: CaseNames) -> _Table:
    shown = sorted(counts, key=lambda one: (-one.failed_rows, one.name))[:MOST]
    rows: Rows = [(one.name, str(one.cases), *map(str, one.by_run), str(one.failed_rows)) for one in shown]
    return _Table(("failed, by category", f"{names.word}s"), rows, len(counts) - len(shown))


def _taken(table: _Table) -> int:
    """The columns of the page that belong to no run."""
    first = max(columns(name) for name in (table.header[0], *(wash(row[0]) for row in table.rows)))
    total = max(columns(row[-1]) for row in table.rows)
    return min(first, FIRST) + sum(columns(head) + GAP for head in table.header[1:]) + max(total, len("all")) + GAP


def _widest(table: _Table) -> int:
    return max(columns(cell) for row in table.rows for cell in row[len(table.header) : -1])


def _put_by_run(table: _Table, heads: Heads) -> None:
    """Where the page has no room for so many runs, of all of them together."""
    header = (*table.header, *heads.texts, "all")
    rows = table.rows if heads.texts else [(*row[: len(table.header)], row[-1]) for row in table.rows]
    put()
    put_table(header, rows, right=header[1:], give_way=header[:1])
    if table.more:
        put(f"and {table.more:,} more with --json")


def _harder(counts: Sequence[CategoryCount], names: CaseNames) -> str:
    harder = [one for one in counts if one.harder]
    test = f"Fisher's exact test over {names.word}s, Holm over {len(counts)} categories"
    if harder:
        told = ", ".join(f"{one.name} ({one.hard} of {one.tried} hard, p = {one.adjusted:.2g})" for one in harder)
        return f"Harder than the rest beyond chance: {told}. {test}"
    tested = [one for one in counts if one.p is not None]
    if not tested:
        return "No category can be called harder: each holds everything that was measured"
    least = min(tested, key=lambda one: one.p or 0.0)
    why = "n is too small" if sum(one.tried for one in tested) < MANY else "no difference is beyond chance"
    return f"No category can be called harder: {why} ({test}; smallest p = {least.p:.2f}, {least.name})"
