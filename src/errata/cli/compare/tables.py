"""Which pairs differ significantly, and failed checks, patterns and categories by run."""

from collections import Counter
from collections.abc import Sequence
from math import floor
from typing import NamedTuple

from errata.cli.compare.matrix import COLUMNS, GAP, CaseLabels, Heads, heads_of, put_side_by_side
from errata.cli.compare.page import left_out_in_words
from errata.cli.fitting import WIDTH, columns
from errata.cli.output import plural, put, wash
from errata.cli.table import put_table
from errata.compare.categories import CategoryCount
from errata.compare.checks import CountByRun
from errata.compare.comparison import Comparison
from errata.compare.pairs import ALPHA, Pairing

SMALLEST_P = 0.001
SHOWN = 10
NAMED = 50
"""Columns for the names of cases within a sentence."""
LITTLE = 0.1
"""A smaller share of the failed rows is not worth a line."""


def put_pairs(comparison: Comparison, names: CaseLabels) -> None:
    pairs = [one for one in comparison.pairings if one.all.shared]
    put()
    if not pairs:
        put(f"No two runs share a measured {names.word}")
        return
    differing = sorted((one for one in pairs if one.all.differs), key=lambda one: one.all.p)
    if differing:
        _put_differing(differing, len(pairs), comparison, names)
    else:
        put(_no_difference(pairs, comparison, names), hang=0)
    _put_shares(pairs, names)
    _put_shared_part(comparison, names)


def _put_shares(pairs: Sequence[Pairing], names: CaseLabels) -> None:
    """Covers what McNemar's test can't: cases that a run passes in some attempts only."""
    with_shares = [(one, one.shares, one.shares.interval) for one in pairs if one.shares is not None]
    apart = [
        f"{pair.first} vs {pair.second} {100 * shares.mean:+.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        for pair, shares, (low, high) in (
            (pair, shares, between or (0.0, 0.0)) for pair, shares, between in with_shares
        )
        if low > 0 or high < 0
    ]
    if with_shares:
        result = f": {'; '.join(apart[:SHOWN])}" if apart else ": no pair differs"
        put(f"All attempts (paired bootstrap over {names.word}s){result}.", hang=0)


def _put_shared_part(comparison: Comparison, names: CaseLabels) -> None:
    """The share of failed rows that every run fails."""
    runs, shared = len(comparison.matrix.columns), comparison.sets.failed_by_all.runs
    failed = comparison.failed_rows
    part = len(shared) * runs
    if not LITTLE * failed < part < failed:
        return
    if columns(names.joined(shared)) <= NAMED:
        verb = "accounts for" if len(shared) == 1 else "account for"
        put(f"{names.joined(shared)} alone {verb} {part:,} of the {failed:,} failed rows.", hang=0)
    else:
        count = plural(len(shared), f"{names.word} fails", f"{names.word}s fail")
        put(f"{count} in every run: {part:,} of the {failed:,} failed rows.")


def _no_difference(pairs: Sequence[Pairing], comparison: Comparison, names: CaseLabels) -> str:
    smallest = min(pairs, key=lambda one: one.all.p)
    least, adjusted = smallest.all.p, smallest.all.adjusted
    if not any(one.all.only_first_fails or one.all.only_second_fails for one in pairs):
        return _agreement(pairs, comparison, names)
    test = f"exact McNemar on shared {names.word}s"
    if len(pairs) == 1:
        test = f"exact McNemar on {smallest.all.shared:,} shared {names.word}s"
        return f"No significant difference ({test}): {_pair_in_words(smallest, comparison)}."
    gives = (
        f"p {'≥' if least < 1 else '='} {floor(100 * least) / 100:.2f} for all {len(pairs)} pairs"
        if least >= ALPHA
        else f"smallest {p_in_words(least)}, {p_in_words(adjusted)} after Holm correction for {len(pairs)} pairs"
    )
    return f"No pair differs significantly ({test}): {gives}. Smallest: {_pair_in_words(smallest, comparison)}."


def _agreement(pairs: Sequence[Pairing], comparison: Comparison, names: CaseLabels) -> str:
    """How many cases the runs agree on, and how many took no part; nothing is concluded about those."""
    least, most = min(one.all.shared for one in pairs), max(one.all.shared for one in pairs)
    compared = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    every = f"the {names.word}" if most == 1 else f"all {compared} {names.word}s"
    which = f"{every} compared" if len(pairs) == 1 else f"{every} compared in each pair"
    both = "the runs agree" if len(pairs) == 1 else "every two runs agree"
    out = len(comparison.matrix.rows) - least
    if not out:
        return f"No difference: {both} on {which}."
    edited = len(comparison.edited)
    reasons = [f"{edited:,} edited"] if edited else []
    reasons += [f"{out - edited:,} mixed or without a verdict"] if out > edited else []
    left_out = f"{'up to ' if least != most else ''}{plural(out, names.word)} left out ({', '.join(reasons)})"
    return f"No difference found: {both} on {which}; {left_out}."


def _put_differing(differing: Sequence[Pairing], pairs: int, comparison: Comparison, names: CaseLabels) -> None:
    many = f"{len(differing)} of {pairs} pairs differ" if pairs > 1 else "The runs differ"
    put(f"{many} significantly (exact McNemar on shared {names.word}s{', Holm' if pairs > 1 else ''}):")
    for pair in differing[:SHOWN]:
        put(f"  {_pair_in_words(pair, comparison)}", hang=4)
    if len(differing) > SHOWN:
        put(f"  and {len(differing) - SHOWN} more with --json")


def _pair_in_words(pair: Pairing, comparison: Comparison) -> str:
    """`only A fails: 44, only B fails: 216 (p < 0.001)`, and the same for clean if that differs."""
    every, clean = pair.all, pair.clean
    first, second = every.only_first_fails, every.only_second_fails
    counts = f"only {pair.first} fails: {first:,}, only {pair.second} fails: {second:,}"
    if (clean.only_first_fails, clean.only_second_fails) == (first, second):
        return f"{counts} ({p_in_words(every.p)})"
    without = f"{clean.only_first_fails:,} and {clean.only_second_fails:,}, {p_in_words(clean.p)}"
    return f"{counts} ({p_in_words(every.p)}; clean, without {_what_is_out(pair, comparison)}: {without})"


def _what_is_out(pair: Pairing, comparison: Comparison) -> str:
    """`1 empty and 5 collateral`: attempts that clean leaves out in either run."""
    words: Counter[str] = Counter()
    for at, compared in enumerate(comparison.columns):
        if compared.label in (pair.first, pair.second):
            rows = comparison.shown.rows.items()
            failed = {case for case, row in rows if (cell := row[at]) is not None and cell.failed}
            words.update(left_out_in_words(compared.scores["clean"], failed))
    parts = [f"{count} {word}" for word, count in words.items()]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts) or "earlier sessions' results"


def p_in_words(value: float) -> str:
    if value < SMALLEST_P:
        return f"p < {SMALLEST_P}"
    # 0.625 is 0.63 to people
    return f"p = {floor(100 * value + 0.5) / 100:.2f}" if value >= 0.01 else f"p = {value:.3f}"


MOST = 15
FIRST = 34
MANY = 200
"""With this many cases, sample size is not the reason that no category is harder."""

Rows = list[tuple[str, ...]]


class _CountTable(NamedTuple):
    header: tuple[str, ...]
    """Of the columns before those of the runs."""
    rows: Rows
    more: int
    """Rows that are not shown."""


def put_tables(comparison: Comparison, names: CaseLabels) -> None:
    tables = [
        _failed(comparison, names),
        *([_counts("instead of an answer", comparison.patterns)] if comparison.patterns else []),
        *([_categories(comparison.categories, names)] if len(comparison.categories) > 1 else []),
    ]
    labels = [wash(column.label) for column in comparison.matrix.columns]
    heads = heads_of(labels, WIDTH - max(map(_fixed_width, tables)))
    if max(_fixed_width(table) + len(labels) * (_widest(table) + GAP) for table in tables) > WIDTH:
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


def _failed(comparison: Comparison, names: CaseLabels) -> _CountTable:
    """The number of failed cases, then of failures of each check."""
    made = _counts("failed", comparison.checks)
    by_run = [str(one.failed) for one in comparison.cells]
    return made._replace(rows=[(f"{names.word}s", *by_run, str(comparison.failed_rows)), *made.rows])


def _counts(title: str, counts: Sequence[CountByRun]) -> _CountTable:
    """In the harness's order; of very many, only the most frequent that several cases share."""
    shared = [one for one in counts if one.cases > 1] if len(counts) > MOST else counts
    most = sorted(shared, key=lambda one: (-one.cases, -one.total))[:MOST]
    rows: Rows = [(one.name, *map(str, one.by_run), str(one.total)) for one in counts if one in most]
    return _CountTable((title,), rows, len(counts) - len(rows))


def _categories(counts: Sequence[CategoryCount], names: CaseLabels) -> _CountTable:
    shown = sorted(counts, key=lambda one: (-one.failed_rows, one.name))[:MOST]
    rows: Rows = [(one.name, str(one.cases), *map(str, one.by_run), str(one.failed_rows)) for one in shown]
    return _CountTable(("failed, by category", f"{names.word}s"), rows, len(counts) - len(shown))


def _fixed_width(table: _CountTable) -> int:
    """The width of the columns that belong to no run."""
    first = max(columns(name) for name in (table.header[0], *(wash(row[0]) for row in table.rows)))
    total = max(columns(row[-1]) for row in table.rows)
    return min(first, FIRST) + sum(columns(head) + GAP for head in table.header[1:]) + max(total, len("all")) + GAP


def _widest(table: _CountTable) -> int:
    return max(columns(cell) for row in table.rows for cell in row[len(table.header) : -1])


def _put_by_run(table: _CountTable, heads: Heads) -> None:
    """If the page has no room for all runs, only their sum."""
    header = (*table.header, *heads.texts, "all")
    rows = table.rows if heads.texts else [(*row[: len(table.header)], row[-1]) for row in table.rows]
    put()
    put_table(header, rows, right=header[1:], give_way=header[:1])
    if table.more:
        put(f"and {table.more:,} more with --json")


def _harder(counts: Sequence[CategoryCount], names: CaseLabels) -> str:
    harder = [one for one in counts if one.harder]
    test = f"(Fisher's exact test over {names.word}s, {len(counts)} categories)"
    if harder:
        parts = (f"{one.name} ({one.hard} of {one.tried} hard, {p_in_words(one.adjusted or 0.0)})" for one in harder)
        return f"Significantly harder than the rest: {', '.join(parts)}. {test}"
    tested = [one for one in counts if one.p is not None]
    if not tested:
        return "No category can be tested: each holds everything that was measured"
    least = min(tested, key=lambda one: one.p or 0.0)
    why = f" (too few {names.word}s)" if sum(one.tried for one in tested) < MANY else ""
    after = f"{p_in_words(least.p or 0.0)}, {p_in_words(least.adjusted or 1.0)} after Holm's correction"
    return f"No category is significantly harder{why}. Closest: {least.name}, {after}. {test}"
