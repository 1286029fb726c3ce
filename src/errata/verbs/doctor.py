"""`doctor`: check the store for damage; with `--deep` every record, with `--repair` rebuild what can be rebuilt."""

import platform
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import groupby
from pathlib import Path

import msgspec

from errata import __version__
from errata.errors import DamagedStoreError, ErrataError, StoreError
from errata.model.output.store import DoctorOutput, RepairOutput, StoreProblem
from errata.model.store_address import StoreLocation
from errata.runs.importing import import_paths
from errata.runs.triaging import triage_if_needed
from errata.store import engine
from errata.store.damage import problems_of, rebuilding
from errata.store.database import Store, damaged, last_opened, open_store, schema_of
from errata.store.deep_check import UNREADABLE, DigestTally, damaged_blobs, problems_of_facts, problems_of_run
from errata.store.index_file import index_path
from errata.store.opinion_check import problems_of_opinions
from errata.store.removal import collect_garbage
from errata.store.repair import (
    current_row,
    drop_derived,
    drop_lost_members,
    drop_rows_of_no_run,
    has_same_facts,
    rebuild_rows,
    replace_facts,
    run_row,
)
from errata.store.runs import all_runs, stored_run
from errata.store.transfer import remove_store_file

OnProgress = Callable[[str], None]
__all__ = [
    "check_deeply",
    "damage_of_store_in_use",
    "examine_deeply",
    "examine_store",
    "read_run_again",
    "rebuilding",
    "repair_store",
]

OF_FACTS = ("facts_damaged", "counts_differ", "digest_differs", "run_damaged", "runs_not_readable")


class DeepCheck(msgspec.Struct, frozen=True):
    problems: tuple[StoreProblem, ...]
    confirmed: int
    """Runs whose content has the digest noted at import."""
    open: int
    """Runs whose digest only their logs can confirm."""


def check_deeply(store: Store, on_progress: OnProgress = lambda _: None) -> DeepCheck:
    tally = DigestTally()
    problems = [
        *problems_of(store),
        *problems_of_facts(store, tally, on_progress),
        *problems_of_opinions(store),
        *_index_problems(store),
    ]
    return DeepCheck(tuple(_each_once(problems)), tally.confirmed, tally.open)


def _each_once(problems: Iterable[StoreProblem]) -> Iterator[StoreProblem]:
    """What the deep check describes exactly is not repeated in the words of the plain one."""
    listed = list(problems)
    described = {problem.run for problem in listed if problem.kind == "facts_damaged"}
    texts = any("the text of a file" in problem.message for problem in listed)
    for problem in listed:
        plain = problem.kind == "run_damaged" and problem.run in described
        if not plain and not (problem.kind == "not_unpackable" and texts):
            yield problem


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


def repair_store(
    store: Store, problems: Sequence[StoreProblem], on_progress: OnProgress = lambda _: None
) -> list[RepairOutput]:
    """Rebuild what can be rebuilt. Verdicts and other opinions stay as they are."""
    store.refuse_read_only()
    of_runs = sorted((one for one in problems if one.kind in OF_FACTS and one.number), key=lambda one: one.number)
    repairs = []
    for number, listed in groupby(of_runs, key=lambda one: one.number):
        group = list(listed)
        on_progress(f"repairing {group[0].run}")
        repairs.append(_repair_run(store, number, group))
    repairs += _repair_derived(store, problems)
    repairs += _repair_references(store, problems, all_sound=all(repair.repaired for repair in repairs))
    repairs += [_not_possible("", one.table, _FROM_BACKUP) for one in problems if one.kind == "opinions_damaged"]
    repairs += [_not_possible("", one.table, _FROM_BACKUP) for one in problems if one.kind == "integrity"]
    return repairs


_FROM_BACKUP = "only a backup brings it back: `errata store restore FROM --force`"


def _repair_run(store: Store, number: int, problems: Sequence[StoreProblem]) -> RepairOutput:
    run, origin = problems[0].run, problems[0].origin
    damaged = damaged_blobs(store)
    if all(problem.kind == "facts_damaged" for problem in problems):
        with suppress(ErrataError, *UNREADABLE):  # where the run's own record is lost, only its logs have it
            rebuild_rows(store, number)
        if not [one for one in problems_of_run(store, number, damaged) if one.kind in OF_FACTS]:
            drop_derived(store, number)
            how = "columns and lists were rebuilt from the attempts' records, which are intact"
            return RepairOutput(run=run, table="", repaired=True, how="rebuilt_from_records", message=how)
    obstacle = read_run_again(store, number)
    if obstacle:
        return _not_possible(run, "", obstacle)
    message = f"read again from {origin}: the logs have the content that was imported"
    return RepairOutput(run=run, table="", repaired=True, how="read_again", message=message)


def read_run_again(store: Store, number: int) -> str:
    """Replace the facts of a run by those of its logs, if these have the same digest. Else: why not, and what helps."""
    head = run_row(store, number)
    if head is None:
        return "its row is lost; import its logs again"
    if not Path(head.origin).exists():
        return f"its logs are not at {head.origin} any more; put them back there, or restore a backup"
    with tempfile.TemporaryDirectory(prefix="errata-") as folder:
        other = open_store(Path(folder) / "errata.db")
        try:
            import_paths([Path(head.origin)], other)
        except ErrataError as error:
            return f"its logs can't be read: {error.message}; put them back there, or restore a backup"
        again = current_row(other, head.run_id)
        if again is None:
            return f"the logs at {head.origin} do not have this run any more; put the original ones back"
        if again.digest != head.digest and not has_same_facts(store, number, other, again.pk):
            return (
                f"the logs at {head.origin} have changed since the import; put the original ones back, restore a "
                "backup, or replace the run by what the logs have now with `errata import`"
            )
        replace_facts(store, number, other, again.pk, damaged_blobs(store))
        other.engine.dispose()
    return ""


def _repair_derived(store: Store, problems: Sequence[StoreProblem]) -> Iterator[RepairOutput]:
    for number in sorted({problem.number for problem in problems if problem.kind == "derived_damaged"}):
        if (head := run_row(store, number)) is None:  # it was read again
            continue
        drop_derived(store, number)
        triage_if_needed(stored_run(store, number), store)
        message = "owners, findings and summaries were dropped; the rules derive them again"
        yield RepairOutput(run=head.native_id, table="", repaired=True, how="derived_again", message=message)
    if any(problem.kind == "index_damaged" for problem in problems):
        remove_store_file(index_path(store))
        message = "the search index was removed; `errata serve` builds it again"
        yield RepairOutput(run="", table="", repaired=True, how="derived_again", message=message)


def _repair_references(store: Store, problems: Sequence[StoreProblem], *, all_sound: bool) -> Iterator[RepairOutput]:
    tables = [problem.table for problem in problems if problem.kind == "reference_lost"]
    if "bucket_members" in tables:
        count = drop_lost_members(store)
        message = f"{count:,} failures that rules had put into a missing group are grouped again"
        yield RepairOutput(run="", table="bucket_members", repaired=count > 0, how="derived_again", message=message)
    if "verdicts" in tables:
        yield _not_possible("", "verdicts", "import the runs that they are about, or restore a backup")
    if any(problem.kind == "rows_of_no_run" for problem in problems):
        if all_sound:
            count = drop_rows_of_no_run(store)
            message = f"{count:,} rows without a run were removed"
            yield RepairOutput(run="", table="", repaired=True, how="removed", message=message)
        else:
            yield _not_possible("", "", "rows without a run stay until every run is repaired: they may belong to one")


def _not_possible(run: str, table: str, message: str) -> RepairOutput:
    return RepairOutput(run=run, table=table, repaired=False, how="not_possible", message=message)


def examine_store(location: StoreLocation) -> DoctorOutput:
    store = open_store(location)
    with store.kept_open():
        return _health(store, problems_of(store))


def examine_deeply(location: StoreLocation, *, repair: bool, on_progress: OnProgress = lambda _: None) -> DoctorOutput:
    """Every record decoded and compared; with `repair`, what can be rebuilt is rebuilt, and the store checked again."""
    store = open_store(location)
    with store.kept_open():
        checked = check_deeply(store, on_progress)
        repairs = repair_store(store, checked.problems, on_progress) if repair and checked.problems else []
        if repairs:
            checked = check_deeply(store, on_progress)
        return msgspec.structs.replace(
            _health(store, checked.problems),
            deep=True,
            digests_confirmed=checked.confirmed,
            digests_open=checked.open,
            repairs=tuple(repairs),
        )


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
