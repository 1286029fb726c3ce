"""The commands `score`, `compare`, `consistency` and `sessions`: one function for each result they print."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from errata.compare.comparison import Comparison, ComparisonOptions
from errata.compare.consistency import Consistencies, Consistency
from errata.compare.pooling import Pool, pool_runs
from errata.compare.scores import SuiteBoard
from errata.compare.sessions import Timeline
from errata.compare.trials import Timeouts
from errata.errors import NotComparableError
from errata.model import Run, StoredRun
from errata.model.cells import FailedCell
from errata.runs.leaderboard import leaderboards
from errata.runs.names import run_named, runs_named
from errata.runs.runset import RunSet, failed_cells, runs_to_compare
from errata.runs.scores import Scores
from errata.runs.view import RunView
from errata.store.database import Store
from errata.store.runs import all_runs

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
