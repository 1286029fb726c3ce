"""How often each check failed, what stood in the place of answers, and how categories did: a column for each run."""

from collections.abc import Sequence

from errata.cli.compare_names import GAP, CaseNames, heads_of
from errata.cli.fitting import WIDTH
from errata.cli.output import put, wash
from errata.cli.table import put_table
from errata.compare.categories import ALPHA, CategoryCount
from errata.compare.dimensions import CountByRun
from errata.pipeline.comparing import Comparison

MOST = 15
FIRST = 34


def put_tables(comparison: Comparison, names: CaseNames) -> None:
    _put_counts("failed checks", comparison.checks, comparison)
    _put_counts("in place of an answer", comparison.patterns, comparison)
    _put_categories(comparison, names)


def _put_counts(title: str, counts: Sequence[CountByRun], comparison: Comparison) -> None:
    if counts:
        shown = sorted(sorted(counts, key=lambda one: -one.total)[:MOST], key=counts.index)
        rows = [(one.name, *map(str, one.by_run), str(one.total)) for one in shown]
        _put_by_run((title,), rows, comparison, more=len(counts) - len(shown))


def _put_categories(comparison: Comparison, names: CaseNames) -> None:
    counts = comparison.categories
    if len(counts) < 2:
        return
    shown = sorted(counts, key=lambda one: (-one.failed_rows, one.name))[:MOST]
    rows = [(one.name, str(one.cases), *map(str, one.by_run), str(one.failed_rows)) for one in shown]
    _put_by_run(("failed rows by category", f"{names.word}s"), rows, comparison, more=len(counts) - len(shown))
    put(_harder(counts, names), hang=0)


def _put_by_run(first: tuple[str, ...], rows: Sequence[Sequence[str]], comparison: Comparison, *, more: int) -> None:
    taken = FIRST + sum(len(head) + GAP for head in first[1:]) + len("all") + GAP
    heads = heads_of([wash(column.label) for column in comparison.matrix.columns], WIDTH - taken)
    header = (*first, *heads.texts, "all")
    put()
    put_table(header, rows, right=header[1:], give_way=first[:1])
    if more:
        put(f"and {more:,} more with --json")
    if heads.legend:
        put(heads.legend, hang=2)


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
    return f"No category can be called harder: n is too small ({test}; smallest p = {least.p:.2f}, {least.name})"
