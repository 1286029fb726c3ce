"""Opening a store: where it lies, whether it is ours, and which schema it has."""

import os
import shutil
import socket
import tempfile
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from sqlalchemy import Connection, Engine, event, insert, inspect, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateColumn

from errata.errors import DamagedStoreError, ReadOnlyStoreError, StoreError
from errata.model.store_address import PRODUCTION, StoreAddress, StoreLocation, location_of
from errata.store import engine as engines
from errata.store import sqlite
from errata.store.blocks import ZstdError
from errata.store.schema import SCHEMA, deployments, metadata

_WITH_DEPLOYMENTS = 8
_VERSION_TABLE = "alembic_version"
_Content = TypeVar("_Content")


class Store:
    """An open store. Reading and writing are transactions; every database error is explained in words."""

    def __init__(
        self, path: StoreLocation, engine: Engine, *, private_copy: Path | None = None, disk_is_full: bool = False
    ) -> None:
        """`private_copy` is the folder of what is read in the place of a read-only store; it is removed in the end."""
        self.path = path
        self.engine = engine
        self.is_read_only = private_copy is not None
        self.disk_is_full = disk_is_full
        self.deployment = ""
        if private_copy is not None:
            weakref.finalize(self, shutil.rmtree, private_copy, ignore_errors=True)
        self._kept: list[Connection] | None = None

    @property
    def place(self) -> str:
        """In full, for pages; without a password."""
        return str(self.path.absolute() if isinstance(self.path, Path) else self.path)

    @property
    def own_file(self) -> Path | None:
        return Path(str(self.engine.url.database)) if self.engine.dialect.name == "sqlite" else None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One unchanging view of the store, whatever other processes write meanwhile."""
        with (
            self.translated(),
            _damage_explained(self.path),
            self._free() or self.engine.connect() as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def writing(self, *, derived: bool = False, rows: bool = False) -> Iterator[Connection]:
        """Writers take turns. With `rows` they need not: what the transaction writes first locks what it reads.

        `derived`: it can be computed again. Commands that only read need it, also from a read-only store.
        """
        if not derived:
            self.refuse_read_only()
        purpose: _Purpose = "rows" if rows else "writing"
        with self.translated(), self._free(purpose) or self.connected(purpose) as connection, connection.begin():
            yield connection

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """For very many small transactions of one thread: opening a connection takes ten times as long as they do.

        Transactions inside of others get connections of their own, which are kept, too.
        """
        if self._kept is not None:
            yield
            return
        self._kept = []
        try:
            yield
        finally:
            kept, self._kept = self._kept, None
            for connection in kept:
                with suppress(StoreError), self.translated():  # one that was cut is closed, too
                    connection.close()

    def read_once(self, key: Hashable, read: Callable[[Connection], _Content]) -> _Content:
        """What `read` gives, not read again before something is written: one command asks for the same many times.

        Callers get the same object, so it must not be changed.
        """
        kept = self._free()
        if kept is None:
            with self.reading() as connection:
                return read(connection)
        with self.translated(), kept as connection:
            known = engines.read_since_last_change(connection)
        if key not in known:
            with self.reading() as connection:
                known[key] = read(connection)
        content: _Content = known[key]
        return content

    def _free(self, purpose: "_Purpose | None" = None) -> AbstractContextManager[Connection] | None:
        """A connection that is kept open and is not in the middle of something; for reading without a purpose."""
        if self._kept is None:
            return None
        free = next((one for one in self._kept if not one.in_transaction()), None)
        if free is None:
            free = self.engine.connect()
            self._kept.append(free)
        if free.get_execution_options().get("errata_write") != purpose:
            free.execution_options(errata_write=purpose)
        return nullcontext(free)

    @contextmanager
    def connected(self, purpose: "_Purpose") -> Iterator[Connection]:
        """A connection for many transactions that write, each begun with `begin`."""
        with self.translated(), self.engine.connect() as connection:
            yield connection.execution_options(errata_write=purpose)

    def refuse_read_only(self) -> None:
        if self.is_read_only and self.deployment in PRODUCTION:
            what = f"The store belongs to the deployment `{self.deployment}`, which local work does not write"
            raise ReadOnlyStoreError(f"{what}: `{self.path}`", hint=_ON_PURPOSE)
        if self.is_read_only:
            what, hint = sqlite.FULL if self.disk_is_full else engines.of_location(self.path).READ_ONLY
            raise ReadOnlyStoreError(f"{what}: `{self.path}`", hint=hint)

    def translated(self) -> AbstractContextManager[None]:
        return translated(self.path)


_Purpose = Literal["writing", "rows"]


@contextmanager
def translated(path: StoreLocation) -> Iterator[None]:
    database = sqlite if isinstance(path, Path) else engines.postgres()
    try:
        yield
    except (DBAPIError, *sqlite.DRIVER_ERRORS, *database.DRIVER_ERRORS) as error:
        if database.is_damage(error):
            raise damaged(path) from error
        explained = database.explain(error, path)
        if explained is None:
            raise
        kind = ReadOnlyStoreError if explained == database.READ_ONLY else StoreError
        raise kind(f"{explained[0]}: `{path}`", hint=explained[1]) from error


@contextmanager
def _damage_explained(path: StoreLocation) -> Iterator[None]:
    """Rows that can't be unpacked: the file is sound for SQLite, but its content is not."""
    try:
        yield
    except (ZstdError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise damaged(path) from error


def damaged(path: StoreLocation) -> DamagedStoreError:
    return DamagedStoreError(
        f"The store is damaged: `{path}`",
        hint="`errata doctor` lists what is lost and how to rebuild it from the logs; nothing was changed",
    )


def open_store(
    location: StoreLocation | str,
    *,
    deployment: str = "",
    release: bool = False,
    keep_open: Callable[[AbstractContextManager[object]], object] | None = None,
) -> Store:
    """Open or create the store in a file, or in the database at an address; bring an older one up to date.

    `keep_open` enters the block that keeps its connections open: the first one serves everything that follows.

    The store of a production deployment is written only by its own server, which names the deployment, or after
    `write_to_production`. Everybody else reads a copy of it. Only a `release` changes its schema.
    """
    path = location_of(location) if isinstance(location, str) else location
    store = _open_file(path) if isinstance(path, Path) else _open_database(path)
    with ExitStack() as kept:
        kept.enter_context(store.kept_open())
        version, owner = _version_and_deployment(store)
        if owner in PRODUCTION and owner != deployment and not _on_purpose and not store.is_read_only:
            kept.close()
            store.engine.dispose()
            store = _private_copy(store.path)
            kept.enter_context(store.kept_open())
        store.deployment = owner
        _opened[:] = [weakref.ref(store)]
        if version != SCHEMA:
            is_production = owner in PRODUCTION or deployment in PRODUCTION
            if is_production and not store.is_read_only and not release and 0 < version < SCHEMA:
                message = f"The store of the deployment `{owner or deployment}` has schema {version}; "
                message += f"this errata needs {SCHEMA}"
                raise StoreError(message, hint=_BY_RELEASE)
            _bring_up_to_date(store, version)
        refuse_newer_schema(store.engine, store.path)
        if keep_open is not None:
            keep_open(kept.pop_all())
    return store


def _open_file(path: Path) -> Store:
    try:
        _refuse_links(path)
        _make_folder(path.parent)
        with translated(path):
            ours = sqlite.prepare(path)
            is_full = ours and sqlite.is_disk_full(path)
            is_copied = is_full or (ours and not sqlite.is_writable(path))
            store = _private_copy(path, disk_is_full=is_full) if is_copied else None
    except OSError as error:
        raise StoreError(f"The store `{path}` can't be opened: {error.strerror}", hint=_ELSEWHERE) from error
    if not ours:
        raise StoreError(f"`{path}` is not a store of errata", hint=_ELSEWHERE)
    return store or Store(path, sqlite.engine_for(path))


def _open_database(address: StoreAddress) -> Store:
    postgres = engines.postgres()
    with translated(address):
        engine = postgres.engine_for(address)
        try:
            is_ours, is_writable = postgres.state_of(engine)
        except postgres.WrongEncodingError as error:
            hint = "create another: `createdb --encoding UTF8 --template template0 NAME`"
            raise StoreError(f"The database of the store has the encoding {error}, not UTF8", hint=hint) from error
    if not is_ours:
        hint = "give errata a database of its own, or an empty schema with `?options=-csearch_path%3DNAME`"
        raise StoreError(f"The database has tables of another program: `{address}`", hint=hint)
    return Store(address, engine) if is_writable else _private_copy(address)


_on_purpose: list[bool] = []
_ON_PURPOSE = "report runs to its server; to write the store itself, put `--prod` first: `errata --prod COMMAND`"
_BY_RELEASE = "the release path migrates it: `errata serve --deployment NAME --release`"


def write_to_production() -> None:
    _on_purpose[:] = [True]


def _version_and_deployment(store: Store) -> tuple[int, str]:
    with store.reading() as connection:
        version = schema_of(connection)
        if version < _WITH_DEPLOYMENTS:
            return version, ""
        return version, str(connection.execute(select(deployments.c.name)).scalar() or "")


def mark_deployment(store: Store, name: str, *, at: str) -> None:
    with store.writing() as connection:
        connection.execute(insert(deployments).values(name=name, at=at))
    store.deployment = name


def _private_copy(path: StoreLocation, *, disk_is_full: bool = False) -> Store:
    """Commands that only read keep what they compute. For a read-only store they do so in a copy that nobody sees."""
    folder = Path(tempfile.mkdtemp(prefix="errata-"))
    if isinstance(path, Path):
        store = Store(path, sqlite.engine_for(folder / path.name), private_copy=folder, disk_is_full=disk_is_full)
        sqlite.copy(path, folder / path.name)
        return store
    from errata.store.copying import copy_tables  # noqa: PLC0415 only for a database that can't be written

    copied = open_store(folder / "errata.db")
    with Store(path, engines.postgres().engine_for(path)).reading() as reader, copied.writing() as writer:
        version = schema_of(reader)
        if version not in (0, SCHEMA):
            hint = f"use an errata of that schema, or let a user who may write bring it to schema {SCHEMA}"
            raise StoreError(f"The store has schema {version}, and this user may only read it: `{path}`", hint=hint)
        if version:
            copy_tables(reader, writer)
    return Store(path, copied.engine, private_copy=folder)


def schema_of(connection: Connection) -> int:
    if not engines.has_table(connection, _VERSION_TABLE):
        return 0
    version = str(connection.exec_driver_sql(f"SELECT version_num FROM {_VERSION_TABLE}").scalar())  # noqa: S608
    return int(version) if version.isdecimal() else 0


_opened: list[weakref.ref[Store]] = []


def last_opened() -> Store | None:
    """For the search for the cause of a failure: it may be damage of the store."""
    return _opened[0]() if _opened else None


def _refuse_links(path: Path) -> None:
    """A folder that comes from somewhere else could lead what is written to any place."""
    beside = [path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal")]
    if link := next((place for place in beside if _is_link(place)), None):
        raise StoreError(f"`{link}` is a link; the files of a store are not", hint="remove the link")
    for place in (path.parent, path) if path.parent.name == FOLDER else ():
        if _is_link(place):
            raise StoreError(
                f"`{place}` is a link; a store in `{FOLDER}` is not followed to another place",
                hint=f"name the target itself with `--store FILE`: `{place.readlink()}`",
            )


def _is_link(place: Path) -> bool:
    try:
        return place.is_symlink()
    except OSError:  # a name that no file can have
        return False


FOLDER = ".errata"
_ELSEWHERE = "name another file with `--store FILE`"
_GITIGNORE = "# the store of errata; it can be rebuilt from the logs\n*\n"


def _make_folder(folder: Path) -> None:
    if not folder.exists():
        folder.mkdir(parents=True, mode=0o700)
        if folder.name == FOLDER:
            (folder / ".gitignore").write_text(_GITIGNORE, encoding="utf-8")


def _bring_up_to_date(store: Store, version: int) -> None:
    if version > SCHEMA:
        raise newer_schema(store.path, version)
    with store.writing(derived=version > 0) as connection:
        upgrade(connection)


def upgrade(connection: Connection) -> None:
    """Create what the newest schema has and the store lacks: each schema added tables, or columns that may be empty."""
    version = schema_of(connection)
    if version >= SCHEMA:  # another process was faster
        return
    metadata.create_all(connection, checkfirst=version > 0)
    if version == 0:
        connection.exec_driver_sql(
            f"CREATE TABLE {_VERSION_TABLE} (version_num VARCHAR(32) NOT NULL,"
            f" CONSTRAINT {_VERSION_TABLE}_pkc PRIMARY KEY (version_num))"
        )
        connection.exec_driver_sql(f"INSERT INTO {_VERSION_TABLE} VALUES ('{SCHEMA:04d}')")  # noqa: S608
        engines.mark_as_ours(connection)
        return
    seen = inspect(connection)
    for table in metadata.sorted_tables:
        known = {column["name"] for column in seen.get_columns(table.name)}
        for column in [column for column in table.columns if column.name not in known]:
            made = CreateColumn(column).compile(dialect=connection.dialect)
            connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {made}")
    connection.exec_driver_sql(f"UPDATE {_VERSION_TABLE} SET version_num = '{SCHEMA:04d}'")  # noqa: S608


GIVEN_UP_AFTER = timedelta(days=2)
"""A process of another machine or container can't be asked whether it lives; after this long it does not."""


def this_process() -> str:
    """Host, process namespace and process id, so that another process can check whether this one is alive."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}/{namespace}:{os.getpid()}"


def is_dead(process: str, since: str) -> bool:
    if datetime.now(UTC) - datetime.fromisoformat(since) > GIVEN_UP_AFTER:
        return True
    place, _, pid = process.rpartition(":")
    if place != this_process().rpartition(":")[0]:
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, ValueError):
        pass
    return False


# --- a newer errata may migrate a store that this process has open: from then on, this process does not write to it


def newer_schema(place: StoreLocation | str, version: int) -> StoreError:
    return StoreError(
        f"The store `{place}` was written by a newer errata: schema {version}, this one knows {SCHEMA}",
        hint="upgrade errata in its clone, or work in another store with `--store FILE`;\nnothing was read or changed",
    )


def refuse_newer_schema(engine: Engine, place: StoreLocation | str) -> None:
    """From now on every transaction that writes looks at the schema first; it holds the lock of a migration."""

    def check(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get("isolation_level") or not options.get("errata_write"):
            return
        cursor = connection.connection.cursor()  # a third of the time that a statement of SQLAlchemy takes
        cursor.execute(f"SELECT version_num FROM {_VERSION_TABLE}")  # noqa: S608
        row = cursor.fetchone()
        version = str(row[0]) if row else ""
        if version.isdecimal() and int(version) > SCHEMA:
            cursor.execute("ROLLBACK")
            raise newer_schema(place, int(version))

    event.listen(engine, "begin", check)
