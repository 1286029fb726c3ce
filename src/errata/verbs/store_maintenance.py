"""A store as a whole: copied, backed up while others write, restored, measured, and its transcripts thinned."""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Literal

import msgspec

from errata.errors import DamagedStoreError, StoreError
from errata.model import StoredRun
from errata.model.output.store import (
    StoreBackupOutput,
    StoreCopyOutput,
    StoreRestoreOutput,
    StoreSizeOutput,
    StoreThinOutput,
)
from errata.model.store_address import StoreAddress, StoreLocation
from errata.store import sqlite
from errata.store.copying import (
    PUT_ASIDE,
    close_file,
    copy_into_file,
    copy_into_store,
    count_runs,
    differing,
    is_empty,
    part_of,
    refuse_if_in_use,
    remove_store_file,
    swap,
)
from errata.store.database import Store, open_store, schema_of
from errata.store.doctor import problems_of
from errata.store.removal import collect_garbage, free_space, size_of_texts, sizes_of
from errata.store.runs import all_runs
from errata.store.schema import SCHEMA
from errata.store.thinning import ThinningResult, thin_run, thinned_runs
from errata.verbs.doctor import read_run_again
from errata.verbs.store import store_size

OnProgress = Callable[[str], None]
"""Called with how far it is, in words."""


def copy_store(
    source: StoreLocation, target: StoreLocation, on_progress: OnProgress = lambda _: None
) -> StoreCopyOutput:
    if isinstance(source, Path):
        _require_file(source)
    if _is_same(source, target):
        raise StoreError(f"`{target}` is the store itself", hint="name another file or database")
    _require_empty(target)
    given, on_rows = open_store(source), _counting(on_progress)
    if isinstance(target, Path):
        proof = copy_into_file(given, target, on_rows)
    else:
        proof = copy_into_store(given, open_store(target), on_rows)
    return StoreCopyOutput(
        source=str(source),
        target=str(target),
        equal=not differing(proof),
        rows=sum(table.rows for table in proof),
        differing=tuple(table.table for table in differing(proof)),
        tables=proof,
    )


def _is_same(source: StoreLocation, target: StoreLocation) -> bool:
    if isinstance(source, Path):
        return isinstance(target, Path) and target.exists() and source.samefile(target)
    return isinstance(target, StoreAddress) and source.without_password == target.without_password


def _require_file(path: Path) -> None:
    if not path.is_file():
        raise StoreError(f"There is no store at `{path}`", hint="name the file of a store, such as `.errata/errata.db`")
    if path.stat().st_size and not sqlite.has_mark(path):
        raise StoreError(f"`{path}` is not a store of errata", hint="name the file of a store or of a backup")


def _require_empty(place: StoreLocation) -> None:
    if isinstance(place, Path):
        if not place.exists():
            return
        if place.is_dir():
            raise StoreError(f"`{place}` is a folder", hint="name a file in it")
    store = open_store(place)
    if not is_empty(store):
        runs = count_runs(store)
        what = f"`{place}` already holds {runs:,} run{'' if runs == 1 else 's'}" if runs else f"`{place}` is not empty"
        kind = "a file that does not exist yet" if isinstance(place, Path) else "an empty database"
        raise StoreError(f"{what}; a copy needs an empty place", hint=f"name {kind}")
    if isinstance(place, Path):
        close_file(store)
    store.engine.dispose()


def _counting(on_progress: OnProgress) -> Callable[[str, int], None]:
    rows: dict[str, int] = {}

    def on_rows(table: str, more: int) -> None:
        rows[table] = rows.get(table, 0) + more
        on_progress(f"{table}: {rows[table]:,} rows")

    return on_rows


def backup_store(
    store: Store, to: Path, *, now: datetime, on_progress: OnProgress = lambda _: None
) -> StoreBackupOutput:
    """A file with the state of the store at one moment, compared row by row. Others may go on writing."""
    path = to / f"errata-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}.db" if to.is_dir() else to
    if path.exists():
        raise StoreError(f"`{path}` already exists", hint="name a file that does not exist yet, or a folder")
    proof = copy_into_file(store, path, _counting(on_progress))
    if lost := differing(proof):
        raise StoreError(
            f"The backup is not sound: `{lost[0].table}` differs from the store",
            hint="it was discarded; `errata doctor` checks the store",
        )
    return StoreBackupOutput(
        store=str(store.path),
        file=str(path),
        size=path.stat().st_size,
        runs=count_runs(open_store(path)),
        verified=True,
        tables=proof,
    )


def restore_store(
    backup: Path, path: Path, *, force: bool, now: datetime, on_progress: OnProgress = lambda _: None
) -> StoreRestoreOutput:
    """Put a backup in the place of the store. The store that was there is put aside, never deleted."""
    _require_file(backup)
    if path.exists() and backup.samefile(path):
        raise StoreError(f"`{backup}` is the store itself", hint="name the file of a backup")
    aside = _place_for_old_store(path, force=force, now=now)
    part = part_of(path)
    part.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    remove_store_file(part)
    try:
        on_progress("reading the backup")
        sqlite.copy(backup, part)
        runs = _verified(part, backup)
        if path.exists():
            refuse_if_in_use(path)
        swap(part, path, aside)
    finally:
        remove_store_file(part)
    remove_store_file(path.with_name(f"{path.stem}.index{path.suffix}"))  # it is built again from the store
    return StoreRestoreOutput(
        store=str(path), backup=str(backup), runs=runs, put_aside=str(aside) if aside is not None else None
    )


def _place_for_old_store(path: Path, *, force: bool, now: datetime) -> Path | None:
    """Where the store goes that is replaced; none where there is nothing in it."""
    if not path.exists() or not path.stat().st_size:
        return None
    try:
        store = open_store(path)
        store.refuse_read_only()
        runs, empty = count_runs(store), is_empty(store)
    except DamagedStoreError:
        runs, empty = None, False
    if empty:
        return None
    if runs != 0 and not force:
        held = "is damaged" if runs is None else f"holds {runs:,} run{'' if runs == 1 else 's'}"
        raise StoreError(
            f"The store {held}: `{path}`", hint="add `--force` to replace it; it is then put aside, not deleted"
        )
    named = path.with_name(f"{path.name}{PUT_ASIDE}{now.astimezone(UTC):%Y%m%dT%H%M%SZ}")
    numbered = (named.with_name(f"{named.name}-{number}") for number in count(2))
    return next(place for place in chain([named], numbered) if not place.exists())


def _verified(part: Path, backup: Path) -> int:
    """How many runs it holds; an error where it can't take the place of a store."""
    probe = Store(backup, sqlite.engine_for(part))
    with probe.reading() as connection:
        schema = schema_of(connection)
    if schema > SCHEMA:
        raise StoreError(
            f"The backup `{backup}` was written by a newer errata: schema {schema}, this one knows {SCHEMA}",
            hint="upgrade errata; nothing was changed",
        )
    store = open_store(part, release=True)
    if problems := problems_of(store):
        raise StoreError(
            f"The backup is damaged: `{backup}`: {problems[0]}", hint="restore an older backup; nothing was changed"
        )
    runs = count_runs(store)
    close_file(store)
    return runs


# --- space


def measure_store(store: Store) -> StoreSizeOutput:
    return StoreSizeOutput(
        path=str(store.path),
        size=store_size(store),
        files=size_of_texts(store),
        runs=tuple(sizes_of(store, all_runs(store))),
    )


def release_space(store: Store) -> bool:
    """Give freed space back to the disk; false where another process uses the store."""
    return free_space(store)


def thin_transcripts(store: Store, stored: StoredRun, *, now: str, dry_run: bool) -> StoreThinOutput:
    store.refuse_read_only()
    result = thin_run(store, stored.pk, stored.run.id, at=now, dry_run=dry_run)
    change: Literal["thinned", "would_thin", "nothing_to_thin"] = "would_thin" if dry_run else "thinned"
    return _thin_output(stored, result, change if result.thinned else "nothing_to_thin")


def restore_transcripts(store: Store, stored: StoredRun) -> StoreThinOutput:
    """Read the run again from its logs, if these have the content that was imported."""
    if stored.pk not in thinned_runs(store, [stored.pk]):
        if not store.is_read_only:
            collect_garbage(store)  # an earlier one may have been killed after it had replaced the run
        return _thin_output(stored, ThinningResult(), "nothing_to_thin")
    if obstacle := read_run_again(store, stored.pk):
        message = f"The transcripts of `{stored.run.native_id}` can't be restored"
        raise StoreError(message, hint=obstacle)
    return _thin_output(stored, ThinningResult(), "restored")


def _thin_output(
    stored: StoredRun,
    result: ThinningResult,
    change: Literal["thinned", "would_thin", "nothing_to_thin", "restored"],
) -> StoreThinOutput:
    return StoreThinOutput(
        run=stored.run.native_id, run_id=stored.run.id, change=change, **msgspec.structs.asdict(result)
    )
