"""All that is special about PostgreSQL: connections, transactions and locks, bulk loading and error texts."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, cast

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Column, Connection, Engine, MetaData, Table, create_engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import CreateIndex, CreateTable

from errata.model.store_address import EXAMPLE, StoreAddress
from errata.store.columns import Columns
from errata.store.postgres_dialect import ADAPTERS, ErrataDialect, type_names
from errata.store.sqlite import NEVER_TWICE, fitting

BUSY_SECONDS = 60
CONNECT_SECONDS = 10
DRIVER_ERRORS = (psycopg.Error,)
MARK = "store of errata"
"""The comment on the table with the schema's number, so that no other program's database is taken for a store."""
_LOCKS = 0x65727261
"""The first half of the numbers of all advisory locks; the second is what is locked."""
_WHOLE_STORE = 0
registry.register("postgresql.errata", "errata.store.postgres_dialect", ErrataDialect.__name__)


class _Rows(psycopg.ServerCursor[Any]):
    """Rows that nobody may read to the end: the server forgets them with the transaction, without a warning here."""

    def __del__(self, *_: Any) -> None:
        pass


def engine_for(address: StoreAddress) -> Engine:
    """Connections are opened when they are needed, as for a file; what needs many keeps one open."""

    def connect() -> psycopg.Connection[Any]:
        parameters = conninfo_to_dict(address.url)
        parameters.setdefault("connect_timeout", CONNECT_SECONDS)
        parameters.setdefault("application_name", "errata")
        # a network that is gone is noticed within a minute or two, not within hours
        for name, value in (("keepalives_idle", 30), ("keepalives_interval", 10), ("tcp_user_timeout", 60_000)):
            parameters.setdefault(name, value)
        opened = psycopg.connect("", autocommit=True, context=ADAPTERS, **cast("dict[str, Any]", parameters))
        opened.server_cursor_factory = _Rows
        return opened

    engine = create_engine(
        "postgresql+errata://",
        creator=connect,
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        use_native_hstore=False,
    )
    event.listen(engine, "begin", _on_begin)
    return engine


def _on_begin(connection: Connection) -> None:
    """A reader sees one state of the store. Writers take turns, unless rows or names are all they lock."""
    options = connection.get_execution_options()
    if options.get("isolation_level"):
        return
    match options.get("errata_write"):
        case None:
            statement = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        case "rows":
            statement = f"{_BEGIN_WRITING}; SELECT pg_advisory_xact_lock_shared({_LOCKS}, {_WHOLE_STORE})"
        case _:
            statement = f"{_BEGIN_WRITING}; SELECT pg_advisory_xact_lock({_LOCKS}, {_WHOLE_STORE})"
    try:
        # without parameters, so that several statements make one round trip
        connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
    except DBAPIError:
        with suppress(DBAPIError, psycopg.Error):
            if not connection.invalidated:
                _driver_of(connection).rollback()
        raise


# each statement sees what was committed before it: after the lock is there, that is the newest state
_BEGIN_WRITING = f"BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '{BUSY_SECONDS}s'"


def lock_name(connection: Connection, name: str) -> None:
    """Until the end of the transaction, no other has the lock of this name."""
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_LOCKS, name))


def state_of(engine: Engine) -> tuple[bool, bool]:
    """Whether the database is a store or empty, and whether it can be written."""
    with engine.connect() as connection:
        encoding, in_recovery, read_only, known, mark, others, writable = connection.exec_driver_sql(_STATE).one()
    if encoding != "UTF8":
        raise WrongEncodingError(encoding)
    is_ours = mark == MARK if known else not others
    return is_ours, not in_recovery and read_only == "off" and (not known or bool(writable))


_STATE = """
SELECT current_setting('server_encoding'), pg_is_in_recovery(), current_setting('default_transaction_read_only'),
    to_regclass('alembic_version') IS NOT NULL, obj_description(to_regclass('alembic_version'), 'pg_class'),
    EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema()),
    has_table_privilege(to_regclass('runs'), 'INSERT')
"""


class WrongEncodingError(Exception):
    """The texts of the database are not in UTF-8."""


def statements_to_create(metadata: MetaData) -> tuple[str, ...]:
    """The SQL that creates every table and index."""
    dialect = ErrataDialect()  # type: ignore[no-untyped-call]
    made: list[str] = []
    for table in metadata.sorted_tables:
        made.append(str(CreateTable(table).compile(dialect=dialect)))
        made += [
            str(CreateIndex(index).compile(dialect=dialect))
            for index in sorted(table.indexes, key=lambda one: str(one.name))
        ]
    return tuple(made)


def mark_as_ours(connection: Connection) -> None:
    connection.exec_driver_sql(f"COMMENT ON TABLE alembic_version IS '{MARK}'")


def has_table(connection: Connection, name: str) -> bool:
    return bool(connection.exec_driver_sql("SELECT to_regclass(%s) IS NOT NULL", (name,)).scalar())


def data_version(connection: Connection) -> str:
    """Another text after a commit of any other connection. Transactions of other databases may change it, too."""
    return str(connection.exec_driver_sql("SELECT pg_current_snapshot()::text").scalar_one())


def bulk_insert(
    connection: Connection, table: Table, rows: Sequence[Sequence[Any]] | Columns, *, run_pk: int | None = None
) -> int:
    """By COPY. Returns how many rows are new: those that are there already stay as they are."""
    if not rows:
        return 0
    whole = list(rows) if run_pk is None else [(run_pk, *row) for row in rows]
    driver = _driver_of(connection)
    with _translated_by_sqlalchemy(connection):
        driver.execute("SAVEPOINT bulk")
        try:
            _copy(driver, table, whole)
            added = len(whole)
        except (errors.DataError, OverflowError):  # a number that no column can hold
            driver.execute("ROLLBACK TO SAVEPOINT bulk")
            added = _insert_new(driver, table, [tuple(map(fitting, row)) for row in whole])
        except errors.UniqueViolation:
            if table.name in NEVER_TWICE:
                raise
            driver.execute("ROLLBACK TO SAVEPOINT bulk")
            added = _insert_new(driver, table, whole)
        driver.execute("RELEASE SAVEPOINT bulk")
    return added


def _copy(driver: psycopg.Connection[Any], table: Table, rows: Iterable[Sequence[Any]]) -> None:
    columns = sql.SQL(", ").join(sql.Identifier(column.name) for column in table.columns)
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(sql.Identifier(table.name), columns)
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(type_names(table))
        for row in rows:
            copy.write_row(row)


def _insert_new(driver: psycopg.Connection[Any], table: Table, rows: Sequence[Sequence[Any]]) -> int:
    """One by one: the first row of a key is kept."""
    columns = sql.SQL(", ").join(sql.Identifier(column.name) for column in table.columns)
    marks = sql.SQL(", ").join(sql.Placeholder() * len(table.columns))
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(sql.Identifier(table.name), columns, marks)
    if table.name not in NEVER_TWICE:
        statement += sql.SQL(" ON CONFLICT DO NOTHING")
    with driver.cursor() as cursor:
        cursor.executemany(statement, rows)
        return int(cursor.rowcount)


def insert_unless_there(connection: Connection, table: Table, values: dict[str, Any]) -> bool:
    """False where a row with this key is there, or is being written by a transaction that then commits."""
    from sqlalchemy.dialects.postgresql import insert  # noqa: PLC0415 the name is that of the generic one

    statement = insert(table).values(values).on_conflict_do_nothing().returning(*table.primary_key)
    return connection.execute(statement).first() is not None


def set_many(connection: Connection, column: Column[Any], pairs: Sequence[tuple[Any, int]]) -> None:
    """One column of many rows: the new value, and the row's own number."""
    if not pairs:
        return
    statement = sql.SQL("UPDATE {} SET {} = %s WHERE pk = %s")
    named = statement.format(sql.Identifier(column.table.name), sql.Identifier(column.name))
    with _translated_by_sqlalchemy(connection), _driver_of(connection).cursor() as cursor:
        cursor.executemany(named, pairs)


def new_numbers(connection: Connection, table: Table, count: int) -> Iterator[int]:
    """Numbers for new rows, each given once, even if the transaction is rolled back."""
    query = "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)"
    key = next(iter(table.primary_key)).name
    return iter(connection.exec_driver_sql(query, (table.name, key, count)).scalars().all())


def catch_up_numbers(connection: Connection, table: Table) -> None:
    """After rows with numbers of their own were written: the next number is behind the highest."""
    key = next(iter(table.primary_key)).name
    query = sql.SQL("SELECT setval(pg_get_serial_sequence(%s, %s), GREATEST(max({}), 1), max({}) IS NOT NULL) FROM {}")
    named = query.format(sql.Identifier(key), sql.Identifier(key), sql.Identifier(table.name))
    with _translated_by_sqlalchemy(connection):
        _driver_of(connection).execute(named, (table.name, key))


def free_space(connection: Connection) -> None:
    """Let the space of deleted rows be used again; counts for the planner are made on the way."""
    connection.exec_driver_sql("VACUUM (ANALYZE)")


def integrity(connection: Connection) -> list[str]:
    """Indexes that PostgreSQL itself does not use any more; it checks its pages when it reads them."""
    query = "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"
    return [f"index {name} is not valid" for name in connection.exec_driver_sql(query).scalars()]


def size_of(connection: Connection) -> int:
    """In bytes: all tables and indexes of the database."""
    return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())


def version_of(connection: Connection) -> str:
    return str(connection.exec_driver_sql("SELECT current_setting('server_version')").scalar_one()).split()[0]


def _driver_of(connection: Connection) -> psycopg.Connection[Any]:
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver


@contextmanager
def _translated_by_sqlalchemy(connection: Connection) -> Iterator[None]:
    """A connection that was lost while the driver itself was used is not used again."""
    try:
        yield
    except psycopg.OperationalError:
        if _driver_of(connection).closed:
            connection.invalidate()
        raise


def _state(error: BaseException) -> str:
    """The five letters by which PostgreSQL names an error, whatever language it speaks."""
    driver = getattr(error, "orig", None) or error
    return str(getattr(driver, "sqlstate", "") or "")


def is_damage(error: BaseException) -> bool:
    """Whether a part of the database is lost."""
    return _state(error) in ("XX001", "XX002")


def explain(error: BaseException, address: StoreAddress) -> tuple[str, str] | None:
    """A driver's error in words: what is wrong, and what would be right."""
    state, text = _state(error), str(getattr(error, "orig", None) or error)
    for states, explanation in _BY_STATE:
        if state.startswith(states):
            return explanation
    for sign, (what, hint) in _BY_TEXT:
        if sign in text:
            return what, hint.format(database=address.name or "DATABASE")
    if not isinstance(getattr(error, "orig", None) or error, psycopg.OperationalError):
        return None
    # only the server's own words: libpq's message about an address may repeat a part of the password
    _, fatal, reason = text.partition("FATAL:")
    return f"The connection to the store failed{f' ({reason.strip()})' if fatal else ''}", _ADDRESS


_ADDRESS = f"check the address: `--store {EXAMPLE}`"
READ_ONLY = (
    "The store can't be written: this user may only read it",
    "ask its owner for the right to write; commands that only read work as they are",
)
_LOST = (
    "The connection to the store was lost",
    "run the command again once the server answers; nothing is half-written",
)
_REFUSED = (
    "The PostgreSQL server refuses this user or password",
    f"check the user in `--store {EXAMPLE}` and the password in `PGPASSWORD` or `~/.pgpass`",
)
_NO_DATABASE = ("The database does not exist on this server", "create it: `createdb {database}`")
_BY_STATE: tuple[tuple[str | tuple[str, ...], tuple[str, str]], ...] = (
    (("28",), _REFUSED),
    (("3D000",), ("The database does not exist on this server", "create it first, with `createdb`")),
    (
        ("55P03",),
        (
            f"The store has been locked by another process for {BUSY_SECONDS} s",
            "wait for it to end; `SELECT * FROM pg_stat_activity` lists the processes",
        ),
    ),
    (("40",), ("Another process changed the same rows at the same time", "run the command again; nothing was lost")),
    (("25006", "42501"), READ_ONLY),
    (("53100",), ("No space is left on the disk of the PostgreSQL server", "free some space there; nothing was lost")),
    (("53300",), ("The PostgreSQL server takes no more connections", "wait, or raise its `max_connections`")),
    (("57P03",), ("The PostgreSQL server is starting or stopping", "run the command again in a moment")),
    (("08", "57P01", "57P02", "57P05", "25P03"), _LOST),
    (("57014",), ("The PostgreSQL server cancelled a statement", "raise its `statement_timeout`, then run again")),
)
_UNREADABLE = (
    "The address of the store can't be read",
    f"give `{EXAMPLE}`; special characters of a password are written as `%` and two digits, such as `%40` for `@`",
)
_BY_TEXT: tuple[tuple[str, tuple[str, str]], ...] = (
    ("invalid URI", _UNREADABLE),
    ("invalid integer value", _UNREADABLE),
    ("invalid port", _UNREADABLE),
    ("invalid connection option", _UNREADABLE),
    ("invalid percent-encoded", _UNREADABLE),
    ("unexpected character", _UNREADABLE),
    ("password authentication failed", _REFUSED),
    ("no password supplied", _REFUSED),
    ("role ", _REFUSED),
    ("pg_hba.conf", _REFUSED),
    ("database ", _NO_DATABASE),
    ("translate host name", ("The host of the store is not known", _ADDRESS)),
    ("resolve host", ("The host of the store is not known", _ADDRESS)),
    ("Name or service not known", ("The host of the store is not known", _ADDRESS)),
    ("Connection refused", ("No PostgreSQL server answers at this address", f"start it, or {_ADDRESS}")),
    ("No such file or directory", ("No PostgreSQL server answers at this address", f"start it, or {_ADDRESS}")),
    ("timeout expired", (f"The PostgreSQL server has not answered for {CONNECT_SECONDS} s", _ADDRESS)),
    ("the connection is closed", _LOST),
    ("the connection is lost", _LOST),
    ("closed the connection", _LOST),
    ("consuming input failed", _LOST),
    ("sending query failed", _LOST),
    ("SSL", ("The connection to the store can't be encrypted as asked", "check `sslmode` in the address")),
)
