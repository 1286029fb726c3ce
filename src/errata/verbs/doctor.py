"""`doctor`: check the store for damage; with `--repair`, bring back what its logs and the rules can bring back."""

import platform
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from errata import __version__
from errata.errors import DamagedStoreError, ErrataError, NotFoundError, StoreError
from errata.model.output.store import DoctorOutput, RepairOutput, StoreProblem
from errata.runs.importing import import_paths
from errata.runs.triaging import triage_if_needed
from errata.store import engine
from errata.store.copying import remove_store_file, replace_run
from errata.store.database import Store, damaged, last_opened, open_store, schema_of
from errata.store.doctor import drop_derived, head_of, problems_of
from errata.store.index_file import index_path
from errata.store.removal import collect_garbage
from errata.store.runs import all_runs, run_by_id, stored_run

OnProgress = Callable[[str], None]


def examine_store(store: Store, *, repair: bool = False, on_progress: OnProgress = lambda _: None) -> DoctorOutput:
    """Every record decoded and compared; with `repair`, what can be rebuilt is rebuilt, and the store checked again."""
    with store.kept_open():
        problems = [*problems_of(store, on_progress), *_index_problems(store)]
        repairs = _repaired(store, problems, on_progress) if repair and problems else ()
        if repairs:
            problems = [*problems_of(store, on_progress), *_index_problems(store)]
        return msgspec.structs.replace(_health(store, problems), repairs=repairs)


def _index_problems(store: Store) -> Iterator[StoreProblem]:
    path = index_path(store)
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as index:
            lines = [str(row[0]) for row in index.execute("PRAGMA integrity_check")]
    except sqlite3.Error as error:
        lines = [str(error)]
    if lines != ["ok"]:
        yield StoreProblem(kind="index_damaged", message=f"the search index is damaged: {lines[0]}")


def _repaired(store: Store, problems: Sequence[StoreProblem], on_progress: OnProgress) -> tuple[RepairOutput, ...]:
    """Verdicts and other opinions stay as they are."""
    store.refuse_read_only()
    repairs: list[RepairOutput] = []
    renewed = set[int]()
    for problem in problems:
        if problem.number not in renewed:
            on_progress(f"repairing {problem.run or problem.table or 'the store'}")
            repairs.append(_repair(store, problem))
            renewed |= {problem.number} if problem.number and repairs[-1].repaired else set()
    return tuple(repairs)


def _repair(store: Store, problem: StoreProblem) -> RepairOutput:
    repaired = True
    match problem.kind:
        case "run_damaged":
            obstacle = read_run_again(store, problem.number)
            repaired = not obstacle
            message = obstacle or f"read again from {problem.origin}: the logs have the content that was imported"
        case "derived_damaged":
            drop_derived(store, problem.number)
            triage_if_needed(stored_run(store, problem.number), store)
            message = "owners, findings and summaries were dropped; the rules derive them again"
        case "index_damaged":
            remove_store_file(index_path(store))
            message = "the search index was removed; `errata serve` builds it again"
        case _:
            repaired, message = False, "only a backup brings it back: `errata store restore FROM --force`"
    return RepairOutput(run=problem.run, table=problem.table, repaired=repaired, message=message)


def read_run_again(store: Store, number: int) -> str:
    """Replace the facts of a run by those of its logs, if these have the same digest. Else: why not, and what helps."""
    head = head_of(store, number)
    if not Path(head.origin).exists():
        return f"its logs are not at {head.origin} any more; put them back there, or restore a backup"
    with tempfile.TemporaryDirectory(prefix="errata-") as folder:
        other = open_store(Path(folder) / "errata.db")
        try:
            import_paths([Path(head.origin)], other)
            again = run_by_id(other, head.run_id)
        except NotFoundError:
            return f"the logs at {head.origin} do not have this run any more; put the original ones back"
        except ErrataError as error:
            return f"its logs can't be read: {error.message}; put them back there, or restore a backup"
        if again.digest != head.digest:
            return (
                f"the logs at {head.origin} have changed since the import; put the original ones back, restore a "
                "backup, or replace the run by what the logs have now with `errata import`"
            )
        replace_run(store, number, other, again.pk)
        other.engine.dispose()
    return ""


def _health(store: Store, problems: Sequence[StoreProblem]) -> DoctorOutput:
    cleared, runs = None, None
    if not problems:
        cleared = None if store.is_read_only else collect_garbage(store)
        runs = all_runs(store)
    with store.reading() as connection:
        schema, version, size = schema_of(connection), engine.version_of(connection), engine.size_of(connection)
    is_file = isinstance(store.path, Path)
    return DoctorOutput(
        errata=__version__,
        python=platform.python_version(),
        sqlite=version if is_file else None,
        postgres=None if is_file else version,
        path=str(store.path),
        schema=schema,
        size=size,
        runs=len(runs) if runs is not None else None,
        attempts=sum(one.counts.attempts_made for one in runs) if runs is not None else None,
        cleared=cleared,
        problems=tuple(problems),
    )


def damage_of_store_in_use() -> DamagedStoreError | None:
    """Whether damage of the store may be the cause of an unexpected failure."""
    store = last_opened()
    try:
        return damaged(store.path) if store is not None and problems_of(store) else None
    except StoreError:
        return None
