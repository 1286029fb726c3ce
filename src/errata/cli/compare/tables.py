"""Which pairs differ significantly, and failed checks, patterns and categories by run."""

from collections.abc import Sequence
from typing import NamedTuple

from errata.cli.compare.matrix import COLUMNS, GAP, CaseLabels, Heads, heads_of, put_side_by_side
from errata.cli.fitting import WIDTH, columns
from errata.cli.output import plural, put, wash
from errata.cli.render.analysis import scorer_words
from errata.cli.table import put_table
from errata.compare.categories import CategoryCount
from errata.compare.comparison import Comparison
from errata.compare.intervals import Interval
from errata.compare.summaries import CountByRun, ScorerByRun
from errata.model.output.compare import RunPairOutput, TallyOutput
from errata.render.figures import overlap_note, p_value, points
from errata.runs.first_page import NO_DIFFERENCE

SHOWN = 10
LEFT_OUT = "infrastructure and knock-on failures"
NAMED = 50
"""Columns for the names of cases within a sentence."""
LITTLE = 0.1
"""A smaller share of the failed rows is not worth a line."""
FEW = 1 / 3
"""More of the failing cases than this do not dominate the others: there are simply many of them."""


def put_pairs(comparison: Comparison, names: CaseLabels, *, doubted: Sequence[str]) -> None:
    """`doubted`: the runs whose results the checkup doubts."""
    pairs = sorted((one for one in comparison.pairings if _share_cases(one)), key=lambda one: one.difference.p)
    put()
    if not pairs:
        put(f"No two runs share a measured {names.word}")
        return
    if not any(map(_is_apart, pairs)) and not comparison.matrix.has_only_numbers:
        put(_agreement(pairs, comparison, names, doubted), hang=0)
        if not any(one.shares for one in pairs):
            return
    differing = [one for one in pairs if one.difference.differs]
    if len(pairs) > 1:
        verb = "differs" if len(differing) == 1 else "differ"
        counted = f"{len(differing)} of {len(pairs)} pairs {verb} significantly (Holm)"
        put(f"{counted}; intervals are not corrected:" if differing else f"{counted}. The closest to it:", hang=0)
    for pair in differing[:SHOWN] or pairs[:1]:
        put(pair_words(pair, names, of_numbers=comparison.matrix.has_numbers), hang=0 if len(pairs) == 1 else 4)
    if len(differing) > SHOWN:
        put(f"and {len(differing) - SHOWN} more with --json")
    if any(one.all.differs or one.clean.differs for one in pairs) and (note := _unfit_note(comparison)):
        put(note, hang=0)


def _share_cases(pair: RunPairOutput) -> bool:
    return pair.shares is not None or pair.all.shared > 0


def _is_apart(pair: RunPairOutput) -> bool:
    return pair.difference.differs or bool(pair.all.only_first_fails or pair.all.only_second_fails)


def pair_words(pair: RunPairOutput, names: CaseLabels, *, of_numbers: bool = False) -> str:
    shares, clean, every = pair.shares, pair.clean, pair.all
    if shares is not None:
        apart = signed_numbers(shares.mean, shares.interval) if of_numbers else points(shares.mean, shares.interval)
        test, cases = "paired t-test over all attempts", shares.cases
    else:
        apart, test, cases = points(clean.difference or 0.0, fitting_interval(clean)), "exact McNemar", clean.shared
    better = pair.first if pair.better > 0 else pair.second
    result = f"{better} is better" if pair.better else "no significant difference"
    tested = f"{p_value(pair.difference.adjusted)}, {test}"
    sentences = [f"{pair.first} minus {pair.second}: {apart} over {plural(cases, names.word)} ({tested}): {result}."]
    if clean.only_first_fails or clean.only_second_fails:
        alone = f"Only {pair.first} fails: {clean.only_first_fails:,}"
        sentences.append(f"{alone}, only {pair.second}: {clean.only_second_fails:,}.")
    if (every.only_first_fails, every.only_second_fails) != (clean.only_first_fails, clean.only_second_fails):
        counts = f"{every.only_first_fails:,} and {every.only_second_fails:,} ({p_value(every.adjusted)})"
        sentences.append(f"If {LEFT_OUT} count: {counts}.")
    return " ".join(sentences)


def signed_numbers(mean: float, interval: Interval | None) -> str:
    return f"{mean:+.3g}" + (f" [{interval[0]:+.3g}, {interval[1]:+.3g}]" if interval is not None else "")


def _unfit_note(comparison: Comparison) -> str:
    """Empty where all runs are fit."""
    unfit = [wash(compared.label) for compared in comparison.runs if compared.problems]
    verb, it = ("is", "it") if len(unfit) == 1 else ("are", "them")
    return f"{' and '.join(unfit)} {verb} NOT FIT: a difference from {it} is not reliable." if unfit else ""


def put_numbers(comparison: Comparison, names: CaseLabels, *, every: bool) -> None:
    shown = comparison.shown
    heads = heads_of([wash(column.label) for column in shown.columns], WIDTH // 2)
    by_case = {case: [cell.result if cell is not None else None for cell in row] for case, row in shown.rows.items()}
    spread = {case: max(known) - min(known) for case, row in by_case.items() if len(known := _values_in(row)) > 1}
    spread = {case: apart for case, apart in spread.items() if apart or every}
    listed = sorted(spread, key=lambda case: -spread[case])[: None if every else MOST]
    rows = [(names.short[case], *map(_number, by_case[case]), _number(spread[case])) for case in listed]
    put()
    put_table((names.word, *heads.texts, "apart"), rows, right=(*heads.texts, "apart"), give_way=(names.word,))
    if len(spread) > len(listed):
        put(f"{len(spread) - len(listed):,} {names.word}s that differ less with --all")
    if len(comparison.categories) > 1 and not comparison.options.by_model:
        means = [(one.name, f"{one.cases:,}", *map(_number, one.means)) for one in comparison.categories]
        numbers = (f"{names.word}s", *heads.texts)
        put()
        put_table(("mean, by category", *numbers), means, right=numbers)
    if heads.legend:
        put()
        put_side_by_side(heads.legend, COLUMNS)


def _values_in(row: Sequence[float | None]) -> list[float]:
    return [value for value in row if value is not None]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def put_shared_part(comparison: Comparison, names: CaseLabels) -> None:
    """The share of failed rows in cases that every run fails, where these are a few of those that fail."""
    shared = comparison.sets.failed_by_all.runs
    failed = comparison.failed_rows
    part = sum(cell.fails for case in shared for cell in comparison.matrix.rows[case] if cell is not None)
    failing = sum(any(cell is not None and cell.fails for cell in row) for row in comparison.matrix.rows.values())
    if len(comparison.matrix.columns) < 3 or not LITTLE * failed < part < failed or len(shared) > failing * FEW:
        return
    put()
    if columns(names.joined(shared)) <= NAMED:
        verb = "accounts for" if len(shared) == 1 else "account for"
        put(f"{names.joined(shared)} alone {verb} {part:,} of the {failed:,} failed rows.", hang=0)
    else:
        count = plural(len(shared), f"{names.word} fails", f"{names.word}s fail")
        put(f"{count} in every run: {part:,} of the {failed:,} failed rows.")


def fitting_interval(tally: TallyOutput) -> Interval | None:
    """None where it excludes 0 although the exact test finds no difference: it is approximate."""
    interval = tally.interval
    excludes = interval is not None and (interval[0] > 0 or interval[1] < 0)
    return None if excludes and not tally.differs else interval


def _agreement(
    pairs: Sequence[RunPairOutput], comparison: Comparison, names: CaseLabels, doubted: Sequence[str]
) -> str:
    """How many measured cases the runs agree on, and how many took no part; nothing is concluded about those."""
    least, most = min(one.clean.shared for one in pairs), max(one.clean.shared for one in pairs)
    if not most:
        return f"No conclusion: infrastructure failures in every {names.word} that the runs share."
    compared = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    every = f"the {names.word}" if most == 1 else f"all {compared} {names.word}s"
    which = f"{every} compared" if len(pairs) == 1 else f"{every} compared in each pair"
    both = "the runs agree" if len(pairs) == 1 else "every two runs agree"
    out = len(comparison.matrix.rows) - least
    doubts = f"the checkup doubts results of {' and '.join(map(wash, doubted))}"
    if not out:
        return f"No conclusion: {both} on {which}, but {doubts}." if doubted else f"{NO_DIFFERENCE}: {both} on {which}."
    edited, broken = len(comparison.edited), max(one.all.shared - one.clean.shared for one in pairs)
    reasons = [f"{edited:,} edited"] if edited else []
    reasons += [f"{broken:,} with infrastructure failures"] if broken else []
    reasons += [f"{out - edited - broken:,} mixed or not scored"] if out > edited + broken else []
    why = ", ".join(reasons) if len(reasons) > 1 else reasons[0].partition(" ")[2].removeprefix("with ")
    left_out = f"{'up to ' if least != most else ''}{plural(out, names.word)} left out: {why}"
    if 2 * most <= len(comparison.matrix.rows):
        few = f"{compared} of {plural(len(comparison.matrix.rows), names.word)}"
        agree = f"{both} on {'it' if most == 1 else 'them'}"
        return f"No conclusion: only {few} could be compared ({agree}); {left_out}."
    if doubted:
        return f"No conclusion: {both} on {which}, but {doubts}; {left_out}."
    return f"{NO_DIFFERENCE} found: {both} on {which}; {left_out}."


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
        *([_beside(comparison.other_checks)] if comparison.other_checks else []),
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
        if note := overlap_note(comparison.overlap):
            put(f"({note})", hang=0)
        put(_harder(comparison.categories, names), hang=0)
    if not heads.texts:
        put("\nBy run: --json")
    elif heads.legend:
        put()
        put_side_by_side(heads.legend, COLUMNS)


def _failed(comparison: Comparison, names: CaseLabels) -> _CountTable:
    """The number of failed cases, then of failed rows where it differs, then of failures of each check."""
    made = _counts("failed", comparison.checks)
    cases, rows = ([getattr(one, field) for one in comparison.cells] for field in ("failed", "failed_rows"))
    first = [(f"{names.word}s", *map(str, cases), str(sum(cases)))]
    if rows != cases:
        first.append(("rows" if names.word == "turn" else "attempts", *map(str, rows), str(sum(rows))))
    return made._replace(rows=[*first, *made.rows])


def _counts(title: str, counts: Sequence[CountByRun]) -> _CountTable:
    """In the harness's order; of very many, only the most frequent that several cases share."""
    shared = [one for one in counts if one.cases > 1] if len(counts) > MOST else counts
    most = sorted(shared, key=lambda one: (-one.cases, -one.total))[:MOST]
    rows: Rows = [(one.name, *map(str, one.by_run), str(one.total)) for one in counts if one in most]
    return _CountTable((title,), rows, len(counts) - len(rows))


def _beside(counts: Sequence[ScorerByRun]) -> _CountTable:
    rows: Rows = [
        (check.name, *(scorer_words(run) if run else "–" for run in check.by_run), scorer_words(check.all))
        for check in counts[:MOST]
    ]
    return _CountTable(("other checks, passed",), rows, len(counts) - len(rows))


def _categories(counts: Sequence[CategoryCount], names: CaseLabels) -> _CountTable:
    shown = sorted(counts, key=lambda one: (-one.failed_rows, one.name))[:MOST]
    rows: Rows = [(one.name, str(one.cases), *map(str, one.by_run), str(one.failed_rows)) for one in shown]
    return _CountTable(("failed, by category", f"{names.word}s"), rows, len(counts) - len(shown))


def _fixed_width(table: _CountTable) -> int:
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
        parts = (f"{one.name} ({one.hard} of {one.tried} hard, {p_value(one.adjusted or 0.0)})" for one in harder)
        return f"Significantly harder than the rest: {', '.join(parts)}. {test}"
    tested = [one for one in counts if one.p is not None]
    if not tested:
        return "No category can be tested: each holds everything that was measured"
    least = min(tested, key=lambda one: one.p or 0.0)
    why = f" (too few {names.word}s)" if sum(one.tried for one in tested) < MANY else ""
    adjusted = p_value(least.adjusted or 1.0).removeprefix("p = ")
    smallest = f"{p_value(least.p or 0.0)} for {least.name} ({adjusted} after Holm correction)"
    return f"No category is significantly harder{why}. Smallest {smallest}. {test}"
