"""What all fail, who fails or passes what alone, what wavers and what changed: names of cases in lists."""

from collections.abc import Iterable, Sequence

from errata.cli.compare_names import CaseNames, shortened
from errata.cli.fitting import WIDTH, columns, padded
from errata.cli.output import put, wash
from errata.compare.comparison import Comparison
from errata.compare.matrix import Column
from errata.compare.sets import Cases

LABEL = 23
NAME = 28
COUNT = 5
FEW = 5
LINES = 24
"""So many, at most, for one kind of list."""


def put_sets(comparison: Comparison, names: CaseNames) -> None:
    sets, subjects = comparison.sets, comparison.matrix.subjects
    runs = len(comparison.matrix.columns)
    put()
    if sets.flips is not None and len(subjects) == 1:
        _put_flips(comparison, names)
        return
    _put_failed_by_all(comparison, names)
    _put_entries("only this run fails", sets.of_runs.fails.items(), names)
    if runs > 2:
        _put_entries("only this run passes", sets.of_runs.passes.items(), names)
    if 1 < len(subjects) < runs:
        _put_entries("only this model fails", sets.of_subjects.fails.items(), names)
        _put_entries("only this model passes", sets.of_subjects.passes.items(), names)
    wavering = [(f"{name} ({one.runs} runs)", one) for name, one in sets.instability.items()]
    if wavering:
        _put_entries("unstable", [(name, one.unstable) for name, one in wavering], names)
        _put_entries("failed in every run", [(name, one.failed_in_every_run) for name, one in wavering], names)


def _put_failed_by_all(comparison: Comparison, names: CaseNames) -> None:
    found, runs = comparison.sets.failed_by_all, len(comparison.matrix.columns)
    told = "both" if runs == 2 else f"all {runs}"
    _put_lines(f"failed by {told} runs", _with_texts(found.runs, comparison, names))
    if found.subjects_in_some_run != found.runs and len(comparison.matrix.subjects) > 1:
        _put_lines(
            f"by all {len(comparison.matrix.subjects)} models",
            [*names.listed(found.subjects_in_some_run, WIDTH - LABEL), "(in at least one run of each)"],
        )


def _with_texts(cases: Cases, comparison: Comparison, names: CaseNames) -> list[str]:
    """A few with what they ask, a line each; many by their names alone."""
    if 0 < len(cases) <= FEW and comparison.asks:
        width = max(columns(names.short[case]) for case in cases)
        return [f"{padded(names.short[case], width)}  {wash(comparison.asks.get(case, ''))}".rstrip() for case in cases]
    return names.listed(cases, WIDTH - LABEL)


def _put_flips(comparison: Comparison, names: CaseNames) -> None:
    flips = comparison.sets.flips
    assert flips is not None
    first, second = (_dated(column) for column in comparison.matrix.columns)
    put(f"from {first} to {second}")
    always = {"regressed": flips.regressed, "fixed": flips.fixed, "still failing": flips.still_failing}
    sometimes = {"new": flips.new, "gone": flips.gone, "no verdict in one": flips.undecided}
    for kind, cases in [*always.items(), *((kind, cases) for kind, cases in sometimes.items() if cases)]:
        head = f"{kind:<{LABEL - COUNT}}{len(cases):>{COUNT - 2},}"
        _put_lines(head, names.listed(cases, WIDTH - LABEL))
    put(f"{'still passing':<{LABEL - COUNT}}{len(flips.still_passing):>{COUNT - 2},}")


def _dated(column: Column) -> str:
    return f"{column.label} ({column.run.started_at[:10]})" if column.run.started_at else column.label


def _put_entries(label: str, entries: Iterable[tuple[str, Cases]], names: CaseNames) -> None:
    """A line for each name that has any."""
    told = [(shortened(wash(name), NAME), cases) for name, cases in entries if cases]
    width = max((columns(name) for name, _ in told), default=0)
    most = max(LINES // max(len(told), 1), 1)
    lines = []
    for name, cases in told:
        listed = names.listed(cases, WIDTH - LABEL - width - 2, lines=most)
        lines += [f"{padded(name if at == 0 else '', width)}  {line}" for at, line in enumerate(listed)]
    _put_lines(label, lines)


def _put_lines(label: str, lines: Sequence[str]) -> None:
    for at, line in enumerate(lines or ["–"]):
        put(f"{label if at == 0 else '':<{LABEL}}{line}", hang=LABEL)
