"""The facts of a report about several runs: failed rows by cause, what is shared, what sets each apart."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import floor

from errata.buckets.suggest import bucket_if_needed
from errata.compare.categories import CategoryCount
from errata.compare.common_cases import told_of
from errata.compare.compare_runs import Comparison, Wish, compare_runs
from errata.compare.pairings import Pairing
from errata.compare.sets import Uniques
from errata.model import StoredRun
from errata.model.cell import Cell
from errata.model.output.report.comparison import ComparisonReport, Dimension, Model, ModelMode, Run, Unique
from errata.model.output.report.shared import ReviewCoverage
from errata.report.comparison_modes import Found, mistake_of, modes_of
from errata.report.comparison_rows import Compared, Names, called, compared
from errata.report.parts import plural
from errata.report.shared import review_coverage, score_lines
from errata.runs.names import handle_of
from errata.runs.summary import check_run
from errata.runs.suspicions import suspicious_passes
from errata.store.database import Store

LETTERS = {"failed": "F", "partial": "F", "passed": ".", "error": "e", "limit": "l", "cancelled": "x", "follows": "c",
           "unscored": "?", "missing": "-", "contradictory": "!", "mixed": "~"}  # fmt: skip
LEGEND = {"F": "fail", ".": "pass", "e": "no answer", "l": "ran into a limit", "x": "cancelled", "c": "only follows",
          "?": "no verdict", "-": "missing", "!": "contradictory rows", "~": "mixed attempts"}  # fmt: skip
GRID = 60
"""Cases that fit into a grid."""


def comparison_report(
    chosen: Sequence[StoredRun], store: Store, *, made: str, common: bool = False
) -> ComparisonReport:
    comparison = compare_runs(chosen, store, Wish(common=common, least=1))
    bucket_if_needed([one.runs[0] for one in comparison.runs], store)
    names = Names(comparison)
    runs = [compared(one.label, one.runs[0], store, names) for one in comparison.runs]
    found = modes_of(runs, store)
    sets = comparison.sets
    return ComparisonReport(
        suite=runs[0].stored.run.suite or runs[0].stored.run.source.name,
        cases=len(comparison.matrix.rows),
        case_word="turn" if names.are_turns else "case",
        made=made,
        reading=_reading(runs),
        runs=tuple(_run(one, at, comparison, store) for at, one in enumerate(runs)),
        models=tuple(_models(runs, comparison, found, names)),
        dimensions=tuple(_dimensions(runs)),
        modes=tuple(one.mode for one in found),
        failed_by_all_runs=names.of(sets.failed_by_all.runs),
        failed_by_all_models=names.of(sets.failed_by_all.subjects_in_some_run),
        uniques=tuple(uniques_of(comparison, names)),
        asks={names.one(case): asked for case, asked in comparison.asks.items()},
        chance=chance_of(comparison.pairings),
        categories=tuple((one.name, one.cases, one.failed_rows, _harder(one)) for one in comparison.categories),
        grid=_grid(comparison, names),
        legend=_legend(comparison),
        doubts=tuple(_doubts(runs)),
        suspicious=tuple(_suspicious(runs, store)),
        findings=tuple(_findings(runs, store)),
        not_included=tuple(f"{one.run.native_id}: {why}" for one, why in comparison.left_out),
        differences=tuple(told_of(one) for one in comparison.differences),
    )


def _run(one: Compared, at: int, comparison: Comparison, store: Store) -> Run:
    patterns = {each.name: each.by_run[at] for each in comparison.patterns}
    return Run(
        label=one.label,
        handle=handle_of(one.stored, store),
        native_id=one.stored.run.native_id,
        model=one.stored.run.subject.model,
        rows=one.made,
        judged=one.judged,
        passed=one.passed,
        failed=len(one.rows),
        no_verdict=tuple(one.no_verdict),
        missing=tuple(one.missing),
        patterns=patterns,
        dimensions=_tally(name for row in one.rows for name in row.failed),
        scores=score_lines(comparison.runs[at].scores),
    )


def _tally(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items(), key=lambda pair: (-pair[1], pair[0])))


def _dimensions(runs: Sequence[Compared]) -> Iterator[Dimension]:
    order: dict[str, int] = {}
    for one in runs:
        for name, place in one.order.items():
            order[name] = min(order.get(name, place), place)
    for name in sorted(order, key=lambda each: (order[each], each)):
        failed = tuple(sum(name in row.failed for row in one.rows) for one in runs)
        yield Dimension(name=name, failed=failed, applicable=tuple(one.applicable[name] for one in runs))


def _reading(runs: Sequence[Compared]) -> ReviewCoverage:
    said = {attempt: found for one in runs for attempt, found in one.said.items()}
    return review_coverage((row.attempt.id for one in runs for row in one.rows), said)


def _models(runs: Sequence[Compared], comparison: Comparison, modes: Sequence[Found], names: Names) -> Iterator[Model]:
    for subject, places in comparison.matrix.subjects.items():
        mine = [runs[at] for at in places]
        steady = comparison.sets.instability.get(subject)
        rows = [row for one in mine for row in one.rows]
        shown = [_of_model(one, places, runs) for one in modes]
        patterns = {one.name: sum(one.by_run[at] for at in places) for one in comparison.patterns}
        yield Model(
            name=subject,
            runs=tuple(one.label for one in mine),
            failed=len(rows),
            followers=sum(row.follows for row in rows),
            modes=tuple(
                sorted((one for one in shown if one is not None), key=lambda one: -len(one.cases + one.following))
            ),
            dimensions=_tally(name for row in rows for name in row.failed),
            patterns={name: often for name, often in patterns.items() if often},
            unstable=names.of(steady.unstable) if steady else (),
            failed_in_every_run=names.of(steady.failed_in_every_run) if steady else (),
        )


def _of_model(found: Found, places: Sequence[int], runs: Sequence[Compared]) -> ModelMode | None:
    members = [(at, row) for at, row in found.members if at in places]
    if not members:
        return None
    return ModelMode(
        title=found.mode.title,
        label=found.mode.label,
        mistake=mistake_of(members, runs),
        cases=tuple(row.name for _, row in members if not row.follows),
        following=tuple(row.name for _, row in members if row.follows),
        dimensions=_tally(name for _, row in members for name in row.failed),
    )


def _harder(one: CategoryCount) -> str:
    if one.adjusted is None:
        return "can't be told"
    return f"yes (p = {one.adjusted:.3f})" if one.harder else f"no (p = {one.adjusted:.2f})"


def _grid(comparison: Comparison, names: Names) -> tuple[tuple[str, ...], ...]:
    matrix = comparison.matrix
    passed = frozenset(matrix.passed_everywhere)
    shown = [case for case in matrix.rows if case not in passed]
    if not shown or len(shown) > GRID:
        return ()
    rows = [tuple(_letter(matrix.rows[case][at], comparison) for case in shown) for at in range(len(matrix.columns))]
    return (names.of(shown), *rows)


def _letter(cell: Cell | None, comparison: Comparison) -> str:
    if cell is None:
        return " "
    if (cell.run, cell.case) in comparison.root_of:
        return "c"
    return LETTERS[cell.state]


def _legend(comparison: Comparison) -> dict[str, str]:
    used = {_letter(cell, comparison) for row in comparison.matrix.rows.values() for cell in row}
    return {letter: meaning for letter, meaning in LEGEND.items() if letter in used}


def _doubts(runs: Sequence[Compared]) -> Iterator[str]:
    for one in runs:
        for row in one.rows:
            found = one.said.get(row.attempt.id)
            for doubt in found.standing.verdict.doubts if found is not None else ():
                yield f"{one.label}, {row.name}: {doubt}"


def _suspicious(runs: Sequence[Compared], store: Store) -> Iterator[str]:
    found: dict[str, Counter[str]] = {}
    for one in runs:
        for seen in suspicious_passes(one.stored, store):
            found.setdefault(seen.means, Counter())[one.label] += 1
    for means, often in found.items():
        told = ", ".join(f"{count} of {label}" for label, count in often.items())
        yield f"Suspicious passes: {means} ({plural(often.total(), 'row')}: {told})."


def _findings(runs: Sequence[Compared], store: Store) -> Iterator[str]:
    for one in runs:
        for finding in check_run(one.stored, store).findings:
            if finding.severity in ("error", "warning"):
                yield f"{one.label}: {finding.text}"


def uniques_of(comparison: Comparison, names: Names) -> Iterator[Unique]:
    """Of every run; and of every model, where one of them has several."""
    matrix = comparison.matrix
    if len(matrix.columns) < 2:
        return
    runs = {column.label: [column.pk] for column in matrix.columns}
    yield from _uniques(comparison.sets.of_runs, runs, comparison, names, whole_model=False)
    if len(matrix.subjects) < len(matrix.columns):
        models = {name: [matrix.columns[at].pk for at in places] for name, places in matrix.subjects.items()}
        yield from _uniques(comparison.sets.of_subjects, models, comparison, names, whole_model=True)


def _uniques(
    found: Uniques, members: dict[str, list[int]], comparison: Comparison, names: Names, *, whole_model: bool
) -> Iterator[Unique]:
    for name, pks in members.items():
        fails = found.fails.get(name, ())
        yield Unique(
            name=called(name),
            whole_model=whole_model,
            fails=names.of(fails),
            following=names.of(_following(fails, pks, comparison)),
            passes=names.of(found.passes.get(name, ())),
        )


def _following(cases: Iterable[str], pks: Iterable[int], comparison: Comparison) -> list[str]:
    return [case for case in cases if any((pk, case) in comparison.root_of for pk in pks)]


def chance_of(pairs: Sequence[Pairing]) -> str:
    if not pairs:
        return "One run alone: there is nothing to compare it with."
    known = [one for one in pairs if one.all.shared]
    if not known:
        return "No two runs were measured on the same cases."
    differing = [one for one in known if one.all.differs]
    if differing:
        told = "; ".join(f"{_pair(one)} (p = {one.all.p:.2g})" for one in differing[:5])
        differ = "differs" if len(differing) == 1 else "differ"
        return f"{len(differing)} of {plural(len(known), 'pair')} {differ} beyond chance (exact McNemar, Holm): {told}."
    least = min(known, key=lambda one: one.all.p)
    return (
        f"The runs do not differ beyond chance: of {plural(len(known), 'pair')} the smallest p is {_p(least.all.p)} "
        f"({_pair(least)}), {_p(least.clean.p)} without what says nothing about the model (exact McNemar; cases of one "
        "conversation are not independent, so take it as a guide)."
    )


def _pair(one: Pairing) -> str:
    return f"{called(one.first)} against {called(one.second)}"


def _p(value: float) -> str:
    """0.625 is 0.63 to people."""
    return f"{floor(100 * value + 0.5) / 100:.2f}"
