"""Rows copied from one store into another: a backup, a copy, a private copy, or one run that was read again.

A file is written under another name, in the same folder, and gets its own name in one step at the end. An interrupted
copy is therefore not taken for a store, and the next one starts again.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from glob import escape
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import (
    JSON,
    Boolean,
    ColumnElement,
    Connection,
    Float,
    Integer,
    LargeBinary,
    Table,
    delete,
    func,
    insert,
    select,
    true,
    update,
)

from errata.errors import StoreError
from errata.model.output.store import TableProof
from errata.store import engine
from errata.store.database import Store, open_store
from errata.store.removal import collect_garbage
from errata.store.schema import (
    attempts,
    blob_uses,
    blobs,
    blocks,
    case_versions,
    cases,
    checks,
    metadata,
    runs,
    unreadables,
    version_starts,
)

OnRows = Callable[[str, int], None]
_SIZE = 16
_MODULUS = 1 << (8 * _SIZE)
_LARGE = frozenset((blobs.name, blocks.name, cases.name))
_encode = msgspec.msgpack.Encoder().encode


class RowDigest:
    """The sum of a hash of each row: it depends neither on their order nor on the engine that holds them.

    Every row has a weight, so a row that is missing or double changes it.
    """

    def __init__(self, table: Table) -> None:
        self.rows = 0
        self._sum = 0
        self._forms = [_form_of(column.type) for column in table.columns]

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        forms = self._forms
        for row in rows:
            values = [None if value is None else form(value) for form, value in zip(forms, row, strict=True)]
            self._sum += int.from_bytes(blake2b(_encode(values), digest_size=_SIZE).digest(), "big")
            self.rows += 1

    @property
    def text(self) -> str:
        return f"{self._sum % _MODULUS:0{2 * _SIZE}x}"


def _form_of(kind: object) -> Callable[[Any], Any]:
    if isinstance(kind, JSON):
        return lambda value: json.dumps(value, sort_keys=True, ensure_ascii=False)
    forms = ((Boolean, bool), (Integer, int), (Float, float), (LargeBinary, bytes))
    return next((form for known, form in forms if isinstance(kind, known)), str)


def copy_rows(
    reader: Connection,
    writer: Connection | None,
    table: Table,
    on_rows: OnRows = lambda *_: None,
    *,
    where: ColumnElement[bool] | None = None,
    **changes: Any,
) -> RowDigest:
    """What was read; without a writer, that is all. A block or a file may have a megabyte, so few are in memory."""
    digest, names = RowDigest(table), [column.name for column in table.columns]
    query = select(table).where(true() if where is None else where)
    if table.name in engine.WITH_ROW_NUMBERS:  # the copy numbers them in the order of writing, too
        query = query.order_by(engine.ROW)
    most = 16 if table.name in _LARGE else 1_000
    for part in reader.execute(query.execution_options(yield_per=most)).partitions():
        digest.add(part)
        if writer is not None:
            writer.execute(insert(table), [dict(zip(names, row, strict=True)) | changes for row in part])
        on_rows(table.name, len(part))
    return digest


def copy_tables(reader: Connection, writer: Connection, on_rows: OnRows = lambda *_: None) -> dict[str, RowDigest]:
    copied = {table.name: copy_rows(reader, writer, table, on_rows) for table in metadata.sorted_tables}
    for table in metadata.sorted_tables:
        if table.autoincrement_column is not None:
            engine.catch_up_numbers(writer, table)
    return copied


def copy_into_store(source: Store, target: Store, on_rows: OnRows = lambda *_: None) -> tuple[TableProof, ...]:
    """Into an empty store: all of it, or nothing where the copy breaks off or differs."""
    try:
        with source.reading() as reader, target.writing() as writer:
            given = copy_tables(reader, writer, on_rows)
            arrived = {table.name: copy_rows(writer, None, table, on_rows) for table in metadata.sorted_tables}
            proof = tuple(
                TableProof(
                    table=name,
                    rows=digest.rows,
                    digest=digest.text,
                    rows_copied=arrived[name].rows,
                    digest_copied=arrived[name].text,
                )
                for name, digest in given.items()
            )
            if differing(proof):
                raise _DiffersError(proof)
    except _DiffersError as error:
        return error.proof
    return proof


def differing(proof: tuple[TableProof, ...]) -> tuple[TableProof, ...]:
    return tuple(table for table in proof if not table.is_equal)


class _DiffersError(Exception):
    def __init__(self, proof: tuple[TableProof, ...]) -> None:
        super().__init__()
        self.proof = proof


FROM_LOGS = (cases, case_versions, version_starts, attempts, checks, blocks, blob_uses, unreadables)
"""What an import writes, apart from the run itself and the texts of files."""
_NOT_FROM_LOGS = ("pk", "revision", "imported_at", "importer", "origin", "triaged", "bucketed")


def replace_run(store: Store, pk: int, other: Store, other_pk: int) -> None:
    """Put the facts that were read again in the place of the damaged ones, in one transaction."""
    with other.reading() as reader, store.writing() as writer:
        old = writer.execute(select(runs).where(runs.c.pk == pk)).one()._mapping
        new = reader.execute(select(runs).where(runs.c.pk == other_pk)).one()._mapping
        values = {name: (old if name in _NOT_FROM_LOGS else new)[name] for name in old if name != "pk"}
        values |= {"triaged": None, "bucketed": None}
        made = writer.execute(insert(runs).values(**values)).inserted_primary_key
        assert made is not None
        for table in FROM_LOGS:
            copy_rows(reader, writer, table, where=table.c.run_pk == other_pk, run_pk=made[0])
        digests = reader.scalars(select(blob_uses.c.digest).where(blob_uses.c.run_pk == other_pk)).all()
        for digest in digests:  # what was there may be damaged
            writer.execute(delete(blobs).where(blobs.c.digest == digest))
            copy_rows(reader, writer, blobs, where=blobs.c.digest == digest)
        writer.execute(update(runs).where(runs.c.pk == pk).values(state="stale"))
    collect_garbage(store)


# --- files


IN_WORK = ".part"
PUT_ASIDE = ".before-restore-"


def part_of(path: Path) -> Path:
    return path.with_name(f".{path.name}{IN_WORK}")


def remove_store_file(path: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def copy_into_file(source: Store, path: Path, on_rows: OnRows = lambda *_: None) -> tuple[TableProof, ...]:
    """Where the proof fails, there is no file."""
    try:
        with _new_store_file(path) as part:
            target = open_store(part)
            proof = copy_into_store(source, target, on_rows)
            close_file(target)
            if differing(proof):
                raise _DiffersError(proof)
    except _DiffersError as error:
        return error.proof
    return proof


@contextmanager
def _new_store_file(path: Path) -> Iterator[Path]:
    """The name under which to write it; it gets its own name in one step, and nothing is left where that fails."""
    part = part_of(path)
    part.parent.mkdir(parents=True, exist_ok=True)
    remove_store_file(part)
    try:
        yield part
        part.chmod(0o600)  # it may hold secrets of the logs, and its folder may be open to others
        _sync(part)
        part.replace(path)
        _sync(path.parent)
    finally:
        remove_store_file(part)


def _sync(path: Path) -> None:
    """A crash of the machine must not leave a name without its content."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems can't sync a folder
            os.fsync(handle)
    finally:
        os.close(handle)


def is_empty(store: Store) -> bool:
    with store.reading() as connection:
        return not any(connection.execute(select(table).limit(1)).first() for table in metadata.sorted_tables)


def count_runs(store: Store) -> int:
    with store.reading() as connection:
        return int(connection.execute(select(func.count()).where(runs.c.state == "current")).scalar_one())


def close_file(store: Store) -> None:
    with store.translated(), store.engine.connect() as connection:
        own = connection.execution_options(isolation_level="AUTOCOMMIT")
        own.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    store.engine.dispose()


def refuse_if_in_use(path: Path) -> None:
    """Leaving the write-ahead log needs a store that no other process has open. Afterwards the file is complete."""
    try:
        with closing(sqlite3.connect(path, timeout=1, isolation_level=None)) as driver:
            driver.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        raise StoreError(
            f"Another process has the store open: `{path}`", hint="stop it (`errata serve`, an import), then try again"
        ) from None
    except sqlite3.DatabaseError:
        pass  # too damaged to be opened by anybody; the swap keeps the file as it is


def swap(new: Path, path: Path, aside: Path | None) -> None:
    """Put `new` in the place of the store, which goes `aside`. There is a store at the path at every moment."""
    log = path.with_name(f"{path.name}-wal")
    if aside is not None:
        _forget_unfinished_swaps(path)
        try:
            os.link(path, aside)
        except FileExistsError:  # never replace a store that was put aside
            raise StoreError(f"`{aside}` exists already", hint="try again in a second") from None
        except OSError:  # a file system without links
            path.rename(aside)
        if log.exists():  # only of a store that is too damaged to be opened
            log.rename(aside.with_name(f"{aside.name}-wal"))
    for end in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    new.replace(path)


def _forget_unfinished_swaps(path: Path) -> None:
    """One that was killed leaves a second name of the store: what is put aside must not change with it."""
    for other in path.parent.glob(f"{escape(path.name)}{PUT_ASIDE}*"):
        if other.samefile(path):
            other.unlink()
