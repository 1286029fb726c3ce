"""Leaderboards: for each suite and version the newest fit run of each subject, with the ranks that the data allow."""

from collections.abc import Iterable, Sequence

import msgspec

from errata.compare.comparability import EXPERIMENT
from errata.compare.comparison import ComparisonOptions
from errata.compare.matrix import subject_names
from errata.compare.scores import BoardRow, BoardRun, SuiteBoard
from errata.compare.trials import Timeouts
from errata.errors import NotComparableError, NotReadyError
from errata.model import StoredRun
from errata.runs.runset import RunSet, facts_of
from errata.runs.view import RunView
from errata.store.database import Store
from errata.store.same_work import each_work_once


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
