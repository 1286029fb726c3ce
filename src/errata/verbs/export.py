"""`export`, `writeback`, the Python API: runs as tables, failures as draft regression cases."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from errata.errors import SettingsError
from errata.export.tables import DataTable, attempts_table, checks_table, failures_table, scores_table
from errata.model import StoredRun
from errata.model.filters import Filters
from errata.runs.failures import refuse_unknown
from errata.runs.names import runs_named
from errata.runs.view import RunView
from errata.store.database import Store

if TYPE_CHECKING:
    from errata.export.regression_cases import DatasetFormat, WrittenDrafts
    from errata.writeback.files import WrittenBack

__all__ = [
    "DataTable",
    "TableFile",
    "TableFormat",
    "attempts_table",
    "checks_table",
    "failures_table",
    "scores_table",
    "write_drafts",
    "write_settled",
    "write_tables",
]

TableFormat = Literal["csv", "parquet"]


class TableFile(NamedTuple):
    path: Path
    rows: int


def write_drafts(
    runs: Sequence[StoredRun],
    store: Store,
    folder: Path,
    form: "DatasetFormat",
    filters: Filters,
    *,
    limit: int | None = None,
    force: bool = False,
) -> "WrittenDrafts":
    """Chosen failures as draft regression cases. A filter that nothing can match is an error."""
    from errata.export import regression_cases  # noqa: PLC0415 only these formats need it

    views = [RunView(stored, store) for stored in runs]
    made = regression_cases.write_drafts(views, filters, form, folder, limit=limit, force=force)
    if not made.cases:
        refuse_unknown(filters, views)
    return made


def write_tables(
    runs: Sequence[StoredRun], store: Store, folder: Path, form: TableFormat, *, force: bool = False
) -> list[TableFile]:
    """`attempts`, `checks` and `failures` of all runs. No file is overwritten unless `force` is set."""
    views = [RunView(stored, store) for stored in runs]
    tables = [table(lambda: views) for table in _TABLES]
    paths = [folder / f"{table.name}.{form}" for table in tables]
    existing = next((path for path in paths if path.exists()), None)
    if existing is not None and not force:
        raise SettingsError(f"`{existing}` already exists", hint="choose another folder, or add `--force`")
    return [
        TableFile(path, table.write_csv(path) if form == "csv" else table.write_parquet(path))
        for table, path in zip(tables, paths, strict=True)
    ]


def write_settled(selectors: Iterable[str], store: Store, folder: Path) -> "list[WrittenBack]":
    """What is settled about the failures of runs, as files that their harness takes back."""
    from errata.writeback.files import settled_failures, write_back  # noqa: PLC0415 only `writeback` needs these

    settled = [settled_failures(RunView(stored, store)) for stored in runs_named(selectors, store)]
    return write_back(settled, folder)


_TABLES: tuple[Callable[[Callable[[], Iterable[RunView]]], DataTable[Any]], ...] = (
    attempts_table,
    checks_table,
    failures_table,
)
