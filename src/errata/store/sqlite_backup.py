"""Online backup of a SQLite store, and swapping one file for another."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from glob import escape
from pathlib import Path

from sqlalchemy import Connection

from errata.errors import StoreError
from errata.store.sqlite import APPLICATION, PAGE_SIZE

PUT_ASIDE = ".before-restore-"
"""Between the name of a store and the time when it was put aside."""
PAGES_AT_ONCE = 64 * 1024 * 1024 // PAGE_SIZE

OnPages = Callable[[int, int], None]
"""Called with how many bytes are done, and of how many."""


def backup_into(connection: Connection, path: Path, on_bytes: OnPages = lambda *_: None) -> None:
    """What the transaction of this connection sees, while others write.

    The transaction must have begun to read. Its snapshot does not change, so a backup in several parts is not begun
    again when somebody writes in between.
    """
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)

    def progress(_status: int, remaining: int, total: int) -> None:
        on_bytes((total - remaining) * PAGE_SIZE, total * PAGE_SIZE)

    with closing(sqlite3.connect(path)) as target:
        driver.backup(target, pages=PAGES_AT_ONCE, progress=progress)


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


def has_mark(path: Path) -> bool:
    """Whether the file is a store of errata. It is only read."""
    with path.open("rb") as file:
        head = file.read(100)
    return head.startswith(b"SQLite format 3\x00") and head[68:72] == APPLICATION.to_bytes(4, "big")
