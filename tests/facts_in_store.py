"""Everything that a store knows about its runs from their logs, without numbers of runs and times of imports."""

from pathlib import Path
from typing import Any

from sqlalchemy import select

from errata.store.database import open_store
from errata.store.schema import (
    attempts,
    blob_uses,
    blocks,
    case_versions,
    cases,
    checks,
    runs,
    unreadables,
    version_starts,
)

TABLES = (attempts, checks, blocks, cases, case_versions, version_starts, unreadables, blob_uses)
_NOT_COMPARED = ("pk", "imported_at", "importer")


def facts_in(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    store = open_store(path)
    with store.reading() as connection:
        columns = [column for column in runs.columns if column.name not in _NOT_COMPARED]
        facts = {"runs": [tuple(row) for row in connection.execute(select(*columns))]}
        for table in TABLES:
            rows = connection.execute(select(table).order_by(*list(table.primary_key.columns)))
            facts[table.name] = [tuple(row)[1:] for row in rows]
    store.engine.dispose()
    return facts
