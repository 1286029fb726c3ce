"""What is lost in a damaged store: runs, which their logs bring back, and opinions, which nothing brings back."""

from collections.abc import Iterable, Iterator

from sqlalchemy import Table, select

from errata.errors import StoreError
from errata.model.output.store import StoreProblem
from errata.store import engine
from errata.store.blocks import ZstdError, decompress
from errata.store.database import Store
from errata.store.runs import stored_run
from errata.store.schema import FACTS, attributions, blobs, findings, metadata, runs, summaries

MOST_MESSAGES = 10
"""SQLite lists up to a hundred lines about one page."""
DERIVED = (attributions, findings, summaries)
"""Computed again when they are needed."""
OPINIONS = tuple(table for table in metadata.sorted_tables if table not in (*FACTS, *DERIVED, runs, blobs))


def problems_of(store: Store) -> list[StoreProblem]:
    """What SQLite finds, then every part that can't be read; empty where the store is sound."""
    return [*_integrity(store), *_shared_texts(store), *_runs(store), *_opinions(store)]


def _integrity(store: Store) -> Iterator[StoreProblem]:
    try:
        with store.reading() as connection:
            messages = engine.integrity(connection)
    except StoreError as error:
        messages = [error.message]
    for message in messages[:MOST_MESSAGES]:
        yield StoreProblem(kind="integrity", message=message)
    if len(messages) > MOST_MESSAGES:
        yield StoreProblem(kind="integrity", message=f"and {len(messages) - MOST_MESSAGES} more messages of SQLite")


def _shared_texts(store: Store) -> Iterator[StoreProblem]:
    damaged = 0
    try:
        with store.reading() as connection:
            for row in connection.execute(select(blobs.c.data).execution_options(yield_per=200)):
                damaged += not _can_be_unpacked(row.data)
    except StoreError as error:
        yield StoreProblem(kind="integrity", table=blobs.name, message=f"{blobs.name}: {error.message}")
    if damaged:
        yield StoreProblem(kind="not_unpackable", table=blobs.name, count=damaged)


def _runs(store: Store) -> Iterator[StoreProblem]:
    try:
        with store.reading() as connection:
            numbers = connection.scalars(select(runs.c.pk).where(runs.c.state == "current")).all()
    except StoreError as error:
        yield StoreProblem(kind="runs_not_readable", message=error.message)
        return
    for pk in numbers:
        try:
            with store.reading() as connection:
                row = connection.execute(select(runs.c.native_id, runs.c.origin).where(runs.c.pk == pk)).one()
            stored_run(store, pk)
            lost = [name for table in (*FACTS, *DERIVED) if (name := _table_with_losses(store, table, pk))]
        except (StoreError, ValueError, TypeError) as error:
            yield StoreProblem(kind="runs_not_readable", message=str(error))
            continue
        if lost:
            yield StoreProblem(kind="run_damaged", run=row.native_id, origin=row.origin, message=", ".join(lost))


def _table_with_losses(store: Store, table: Table, pk: int) -> str:
    """The name of the table, if a row of this run in it can't be read."""
    query = select(table).where(table.c.run_pk == pk).execution_options(yield_per=200)
    try:
        with store.reading() as connection:
            sound = all(_can_be_unpacked(row.data) if "data" in table.c else True for row in connection.execute(query))
    except (StoreError, ValueError, TypeError):
        return table.name
    return "" if sound else table.name


def _opinions(store: Store) -> Iterator[StoreProblem]:
    for table in OPINIONS:
        count = 0
        try:
            with store.reading() as connection:
                for _ in connection.execute(select(table).execution_options(yield_per=200)):
                    count += 1
        except (StoreError, ValueError, TypeError):
            yield StoreProblem(kind="opinions_damaged", table=table.name, count=count)


def _can_be_unpacked(data: bytes) -> bool:
    try:
        decompress(data)
    except ZstdError:
        return False
    return True


def rebuilding(problems: Iterable[StoreProblem]) -> list[str]:
    """The paths that bring the lost runs back, each once."""
    return list(dict.fromkeys(problem.origin for problem in problems if problem.origin))
