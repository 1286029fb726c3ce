"""Several runs together: what a comparison, a consistency study or a pooled score takes from them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from errata.compare.comparison import Comparison, ComparisonOptions, Lookups, compare_runs, refuse_incomparable
from errata.compare.consistency import Consistencies, StudyInputs, consistency_of
from errata.compare.matrix import Matrix, subject_names
from errata.compare.policies import scores_of
from errata.compare.scores import Policy, Score
from errata.compare.stored import cases_in, changed_cases, kept_run_summary, make_run_summary, what_they_ask
from errata.compare.summaries import RunNumbers, RunTrials
from errata.compare.trials import Timeouts, Trials
from errata.errors import ErrataError
from errata.model import Attempt, Case, StoredRun
from errata.model.cells import FailedCell
from errata.model.identity import split_attempt_id
from errata.model.suspects import SuspectTasks
from errata.runs.names import is_path, runs_named, short
from errata.runs.suspect_tasks import suspect_tasks
from errata.runs.triaging import refuse_to_wait
from errata.runs.view import RunView
from errata.sources.conversation_bench import RUN_RESULTS, is_comparison
from errata.store.attempts import case_of
from errata.store.case_outcomes import cases_named
from errata.store.database import Store
from errata.store.same_work import each_work_once


class RunSet:
    def __init__(self, views: Iterable[RunView], store: Store) -> None:
        self.views, self.store = tuple(views), store
        for view, stored in zip(self.views, each_work_once([view.stored for view in self.views], store), strict=True):
            view.stored = stored

    @classmethod
    def of(cls, runs: Iterable[StoredRun], store: Store) -> "RunSet":
        return cls((RunView(stored, store) for stored in runs), store)

    def __iter__(self) -> Iterator[RunView]:
        return iter(self.views)

    def __len__(self) -> int:
        return len(self.views)

    @property
    def runs(self) -> list[StoredRun]:
        return [view.stored for view in self.views]

    # compare

    def compare(self, options: ComparisonOptions, *, on_attempts: Callable[[int], None] = lambda _: None) -> Comparison:
        """`on_attempts` is called with the number of attempts of each run: a first comparison of large runs is slow."""
        names = subject_names([view.run for view in self.views])
        to_pool = options.by_model or len(set(names)) < len(names)
        lookups = self._lookups(options, to_pool=to_pool)
        if not options.common:
            cells = (cell for view in self.views for cell in view.cells)
            refuse_incomparable(self.runs, lambda: cells, options, lookups)
        facts: dict[int, RunNumbers] = {}
        with self.store.kept_open():
            for view in self.views:
                facts[view.stored.pk] = facts_of(view, timeouts=options.timeouts, to_pool=to_pool)
                on_attempts(view.stored.counts.attempts)
        comparison = compare_runs([facts[view.stored.pk] for view in self.views], options, lookups)
        return msgspec.structs.replace(comparison, suspects=self._suspects(comparison))

    def _suspects(self, comparison: Comparison) -> SuspectTasks:
        """Of the runs that are compared; of these, the tasks that are compared."""
        suspects = suspect_tasks([stored for one in comparison.runs for stored in one.runs], self.store)
        tasks = tuple(task for task in suspects.tasks if task.case_key in comparison.matrix.rows)
        if len(tasks) == len(suspects.tasks):
            return suspects
        return msgspec.structs.replace(suspects, tasks=tasks, total=len(tasks))

    # consistency

    def consistency(self) -> Consistencies:
        changed = partial(changed_cases, store=self.store)
        return consistency_of(self.runs, StudyInputs(self.counted_attempts, changed, short))

    def counted_attempts(self, stored: StoredRun, *, steps: bool = False) -> Iterator[Attempt]:
        """In the order of the conversation or suite."""
        return self._view_of(stored).attempts(counted=True, by_position=True, steps=steps)

    def cases_named(self, stored: StoredRun, keys: Collection[str]) -> Iterable[Case]:
        return cases_named(self.store, stored.pk, keys)

    def case_for(self, stored: StoredRun, attempt: Attempt) -> Case | None:
        return case_of(self.store, stored.pk, attempt.case, attempt.case_version)

    def _lookups(self, options: ComparisonOptions, *, to_pool: bool) -> Lookups:
        store = self.store

        def questions(matrix: Matrix, keys: Sequence[str]) -> dict[str, str]:
            return what_they_ask(matrix, keys, store)

        def scores(stored: StoredRun, cases: Collection[str]) -> dict[Policy, Score]:
            return scores_over(self._view_of(stored), cases, timeouts=options.timeouts, to_pool=to_pool)

        return Lookups(
            changed_cases=partial(changed_cases, store=store),
            case_facts=partial(cases_in, store=store),
            questions=questions,
            scores=scores,
        )

    def _view_of(self, stored: StoredRun) -> RunView:
        return next(view for view in self.views if view.stored.pk == stored.pk)


def facts_of(view: RunView, *, timeouts: Timeouts = "count", to_pool: bool = False) -> RunNumbers:
    """From the summary that is kept beside the run, where nothing has changed since."""
    stored, store = view.stored, view.store
    # not `view.attributions`: a kept summary needs no attribution in memory, only that they are up to date
    view.ensure_triaged()
    summary = kept_run_summary(stored, store, timeouts, to_pool=to_pool)
    if summary is None:
        refuse_to_wait(stored, store, "Scores")
        attempts, conclude = view.attempts_to_examine()
        counted = RunTrials(stored.run, attempts, view.opinions_to_count_by(), timeouts=timeouts, to_pool=to_pool)
        findings = conclude(counted.scores["as_reported"]).findings
        problems = tuple(finding.text for finding in findings if finding.breaks)
        summary = make_run_summary(stored, store, counted, problems=problems)
    return RunNumbers(stored, summary)


def scores_over(
    view: RunView, cases: Collection[str], *, timeouts: Timeouts = "count", to_pool: bool = False
) -> dict[Policy, Score]:
    """Of a run over some of its cases alone, under each policy."""
    opinions = view.opinions
    trials = Trials(view.run, view.attempts(), opinions, timeouts=timeouts, to_pool=to_pool)
    return scores_of(trials.only(cases))


def failed_cells(view: RunView) -> dict[str, FailedCell]:
    """Case → its first failure, with the owner by verdict, else by rules. No attempt is read."""
    cells: dict[str, FailedCell] = {}
    for attempt, attribution in view.attributions.items():
        review = view.standings.get(attempt)
        owner = review.standing.verdict.owner if review is not None else attribution.owner
        cells.setdefault(split_attempt_id(attempt).case, FailedCell(owner, attempt))
    return cells


# --- which runs are meant by a comparison: those that are named, else those that a comparison folder lists


class Chosen(msgspec.Struct, frozen=True):
    runs: tuple[StoredRun, ...]
    passed_over: tuple[str, ...]
    """Comparison folders that were named beside runs: these win."""


def runs_to_compare(selectors: Sequence[str], store: Store, *, least: int = 2) -> Chosen:
    folders = tuple(selector for selector in selectors if _is_comparison(selector))
    named = [selector for selector in selectors if selector not in folders]
    runs = tuple(runs_named(named or folders, store))
    if len(runs) < least:
        message = (
            f"`{selectors[0]}` holds one run only" if len(selectors) == 1 else "All of these name one and the same run"
        )
        raise ErrataError(f"A comparison needs two runs or more: {message}", hint=_HINT)
    return Chosen(runs, folders if named else ())


_HINT = "name several runs, a folder that holds them, or the folder of a comparison; `errata runs` lists what there is"


def _is_comparison(selector: str) -> bool:
    return is_path(selector) and any(is_comparison(table) for table in _tables(Path(selector)))


def _tables(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield path / RUN_RESULTS
    elif path.name == RUN_RESULTS:
        yield path
