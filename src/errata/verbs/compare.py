"""The commands `score`, `compare`, `consistency` and `sessions`: one function for each result they print."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from errata.compare.comparability import EXPERIMENT
from errata.compare.comparison import Comparison, ComparisonOptions
from errata.compare.consistency import Consistencies, Consistency
from errata.compare.matrix import subject_names
from errata.compare.pooling import Pool, pool_runs
from errata.compare.scores import BoardRow, BoardRun, SuiteBoard
from errata.compare.sessions import Timeline
from errata.compare.trials import Timeouts
from errata.errors import NotComparableError, NotReadyError
from errata.model import Run, StoredRun
from errata.model.cells import FailedCell
from errata.runs.names import run_named, runs_named
from errata.runs.runset import RunSet, facts_of, failed_cells, runs_to_compare
from errata.runs.scores import Scores
from errata.runs.view import RunView
from errata.store.database import Store
from errata.store.runs import all_runs
from errata.store.same_work import each_work_once

if TYPE_CHECKING:
    from errata.export.comparison_folder import ComparisonFolder
    from errata.export.consistency import WrittenTable
    from errata.render.document import Section


def score(stored: StoredRun, store: Store, *, timeouts: Timeouts = "count") -> Scores:
    return RunView(stored, store).scores(timeouts=timeouts)


def score_pooled(runs: Sequence[StoredRun], store: Store, *, timeouts: Timeouts = "count") -> list[Pool]:
    return pool_runs([view.scores(timeouts=timeouts, to_pool=True) for view in RunSet.of(runs, store)])


def compare(
    runs: Sequence[StoredRun],
    store: Store,
    options: ComparisonOptions,
    *,
    on_attempts: Callable[[int], None] = lambda _: None,
) -> Comparison:
    return RunSet.of(runs, store).compare(options, on_attempts=on_attempts)


def compare_named(selectors: Sequence[str], store: Store, options: ComparisonOptions) -> Comparison:
    return compare(runs_to_compare(selectors, store).runs, store, options)


def cells_of_comparison(comparison: Comparison, store: Store) -> list[dict[str, FailedCell]]:
    """For each run that is compared: case → who has to act, where it failed."""
    return [failed_cells(RunView(one.runs[0], store)) for one in comparison.runs]


def list_leaderboards(store: Store, *, timeouts: Timeouts = "count") -> list[SuiteBoard]:
    return leaderboards(all_runs(store), store, timeouts=timeouts)


def score_named(selector: str, store: Store, *, timeouts: Timeouts = "count") -> Scores:
    return score(run_named(selector, store), store, timeouts=timeouts)


def consistency(runs: Sequence[StoredRun], store: Store) -> Consistencies:
    return RunSet.of(runs, store).consistency()


def sessions(stored: StoredRun, store: Store) -> Timeline:
    return RunView(stored, store).timeline


def sessions_named(selectors: Sequence[str], store: Store) -> list[tuple[Run, Timeline]]:
    return [(stored.run, sessions(stored, store)) for stored in runs_named(selectors, store)]


def write_comparison_folder(
    runs: Sequence[StoredRun], store: Store, folder: Path, *, force: bool = False
) -> "ComparisonFolder":
    from errata.export import comparison_folder  # noqa: PLC0415 only `--write` needs it

    chosen = RunSet.of(runs, store)
    return comparison_folder.write_comparison_folder(chosen, folder, sections=_differences(chosen), force=force)


def _differences(runs: RunSet) -> "tuple[Section, ...]":
    """Nothing where the runs can't be compared: their tables are written all the same."""
    from errata.report.comparison_differences import differences_section, model_comparison, run_changes  # noqa: PLC0415
    from errata.report.comparison_rows import ReportedCaseNames  # noqa: PLC0415

    try:
        comparison = runs.compare(ComparisonOptions())
    except NotComparableError:
        return ()
    names = ReportedCaseNames(comparison)
    word = "turn" if names.are_turns else "case"
    section = differences_section(model_comparison(comparison), run_changes(comparison, names), word)
    return () if section is None else (section,)


def write_studies(
    studies: Sequence[Consistency], store: Store, folder: Path, *, force: bool = False
) -> "list[WrittenTable]":
    from errata.export import consistency as files  # noqa: PLC0415 only `-o` needs it

    runs = RunSet.of((stored for study in studies for stored in study.runs), store)
    return files.write_studies(studies, runs, folder, force=force)


def leaderboards(runs: Iterable[StoredRun], store: Store, *, timeouts: Timeouts = "count") -> list[SuiteBoard]:
    suites: dict[tuple[str, str, str], list[StoredRun]] = {}
    for stored in each_work_once(list(runs), store):
        run = stored.run
        suites.setdefault((run.suite, run.suite_version, run.variant.get(EXPERIMENT, "")), []).append(stored)
    boards = [_board(*key, members, store, timeouts) for key, members in suites.items()]
    return sorted(boards, key=_newest_day, reverse=True)


def _newest_day(board: SuiteBoard) -> str:
    return max((row.history[-1].day for row in (*board.ranked, *board.unranked)), default="")


def _board(
    suite: str, version: str, experiment: str, members: Sequence[StoredRun], store: Store, timeouts: Timeouts
) -> SuiteBoard:
    by_label: dict[str, list[BoardRun]] = {}
    waiting = []
    names = subject_names([stored.run for stored in members])
    with store.kept_open():
        for label, stored in zip(names, members, strict=True):
            try:
                by_label.setdefault(label, []).append(_board_run(stored, store, timeouts))
            except NotReadyError:
                waiting.append(stored)
    rows = [_row(label, sorted(tries, key=lambda one: one.day)) for label, tries in by_label.items() if tries]
    fit = [row for row in rows if not row.newest.why_not]
    ranks, shared, why = _ranks(fit, store, timeouts)
    ranked = [
        msgspec.structs.replace(row, best=ranks[row.label][0], worst=ranks[row.label][1]) if row.label in ranks else row
        for row in fit
    ]
    return SuiteBoard(
        suite=suite,
        version=version,
        experiment=experiment,
        cases=max(stored.counts.cases for stored in members),
        ranked=tuple(sorted(ranked, key=lambda row: row.newest.scores["clean"].worth)),
        unranked=tuple(row for row in rows if row.newest.why_not),
        shared=shared,
        why_no_ranks=why,
        waiting=tuple(waiting),
    )


def _board_run(stored: StoredRun, store: Store, timeouts: Timeouts) -> BoardRun:
    facts = facts_of(RunView(stored, store), timeouts=timeouts)
    left_out = facts.why_left_out()
    problems = facts.summary.problems
    return BoardRun(
        stored=stored,
        scores=facts.summary.scores,
        why_not=str(left_out) if left_out is not None else problems[0] if problems else "",
    )


def _row(label: str, history: Sequence[BoardRun]) -> BoardRow:
    newest = next((run for run in reversed(history) if not run.why_not), history[-1])
    return BoardRow(label=label, newest=newest, history=tuple(history))


Ranks = dict[str, tuple[int, int]]


def _ranks(rows: Sequence[BoardRow], store: Store, timeouts: Timeouts) -> tuple[Ranks, int | None, str]:
    """Best and worst rank of each, on how many cases they rest if not on all, and why there are none."""
    if len(rows) < 2:
        return {row.label: (1, 1) for row in rows}, None, ""
    runs = RunSet.of([row.newest.stored for row in rows], store)
    labels = {row.newest.stored.run.id: row.label for row in rows}
    why = ""
    for common in (False, True):
        try:
            comparison = runs.compare(ComparisonOptions(common=common, timeouts=timeouts))
        except NotComparableError as error:
            why = error.message
            continue
        own = {column.subject: labels[column.run.id] for column in comparison.matrix.columns}
        ranks = {own[one.label]: (one.best, one.worst) for one in comparison.models.ranking if one.label in own}
        return ranks, len(comparison.matrix.rows) if common else None, ""
    return {}, None, why
