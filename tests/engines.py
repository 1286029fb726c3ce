"""The suites on PostgreSQL: with `ERRATA_TEST_ENGINE=postgres`, every store that a test opens is a database.

A test names a file, as ever. The file then holds the name of a database and the file's own path, so that a copy of
the file becomes a copy of the database when it is opened.
"""

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
from soak.postgres_server import PostgresServer, running_server

from errata.model.store_address import StoreAddress, StoreLocation
from errata.store import database
from errata.store.copying import IN_WORK

ENGINE = os.environ.get("ERRATA_TEST_ENGINE", "sqlite")
ON_POSTGRES = ENGINE == "postgres"
_MARK = "errata-test-database"
_running = ExitStack()
_servers: list[PostgresServer] = []
_made: dict[Path, str] = {}
_files: set[Path] = set()
_one_at_a_time = threading.Lock()


def the_server() -> PostgresServer:
    """One for each process of the test runner."""
    if not _servers:
        _servers.append(_running.enter_context(running_server()))
        atexit.register(_running.close)
        _servers[0].execute("CREATE DATABASE empty_store")
        database._open_database(StoreAddress(_servers[0].address("empty_store")))
        database.open_store(_servers[0].address("empty_store")).engine.dispose()
    return _servers[0]


def use_postgres() -> None:
    """From now on, files name databases."""
    open_file = database._open_file

    def open_database(path: Path) -> database.Store:
        if path.exists() and path.stat().st_size and not path.read_bytes().startswith(_MARK.encode()):
            return open_file(path)  # a private copy, an old store, or something that is no store
        is_copy = path.parent.name.startswith("errata-") or path.name.endswith(IN_WORK)
        if is_copy or path.absolute() in _files:
            return open_file(path)
        database._refuse_links(path)
        database._make_folder(path.parent)
        with _one_at_a_time:  # the threads of a server open the same file at once
            name = _database_of(path)
        return database._open_database(StoreAddress(the_server().address(name)))

    database._open_file = open_database


def _database_of(path: Path) -> str:
    own = str(path.absolute())
    words = path.read_text().split("\n") if path.exists() and path.stat().st_size else []
    if words and words[2] == own:
        return words[1]
    template = words[1] if words else "empty_store"
    name = _copy_of(template)
    path.write_text(f"{_MARK}\n{name}\n{own}")
    _made[path.absolute()] = name
    return name


def _copy_of(template: str) -> str:
    try:
        return the_server().new_database(template)
    except psycopg.errors.ObjectInUse:  # connections that nobody has closed yet
        the_server().cut_connections(template)
        return the_server().new_database(template)


def in_a_file(path: Path) -> Path:
    """The same path: its store is a file on either engine."""
    _files.add(path.absolute())
    return path


def new_place(store: database.Store) -> StoreLocation:
    """For a second store beside another."""
    if isinstance(store.path, Path):
        return store.path.with_name("another.db")
    return StoreAddress(the_server().address(the_server().new_database("empty_store")))


def drop_databases(below: Path) -> None:
    """Those of a test that is over."""
    for path in [path for path in _made if path.is_relative_to(below) or not path.exists()]:
        the_server().drop(_made.pop(path))


def fresh_database() -> Iterator[str]:
    """The address of an empty store."""
    name = the_server().new_database("empty_store")
    yield the_server().address(name)
    the_server().drop(name)
