"""Parquet row by row, through pyarrow, which is an extra."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from errata.errors import SourceError
from errata.model import SourceRef, Unreadable
from errata.sources.base import Row, describe, relative, unreadable

MAGIC = b"PAR1"
BATCH = 256


def parquet_rows(path: Path, *, source: str, root: Path) -> tuple[tuple[str, ...], Iterator[Row | Unreadable]]:
    """The columns and the rows. A row group that can't be read is one `Unreadable`."""
    parquet, damage = _pyarrow(path)
    name = relative(path, root)
    try:
        file = parquet.ParquetFile(path)
        columns = tuple(str(column) for column in file.schema_arrow.names)
    except damage as error:
        return (), iter((unreadable(source, SourceRef(file=name), _in_words(error)),))
    return columns, _rows(file, name, source, damage)


def _rows(file: Any, name: str, source: str, damage: tuple[type[Exception], ...]) -> Iterator[Row | Unreadable]:
    with file:
        start = 0
        for group in range(file.num_row_groups):
            number = start
            try:
                start += file.metadata.row_group(group).num_rows
                for batch in file.iter_batches(batch_size=BATCH, row_groups=[group]):
                    # dates, decimals and the like become what JSON can hold
                    for data in msgspec.to_builtins(batch.to_pylist()):
                        yield Row(data, SourceRef(file=name, pointer=f"/{number}"))
                        number += 1
            except damage as error:
                ref = SourceRef(file=name, pointer=f"/{number}")
                yield unreadable(source, ref, f"row group {group}: {_in_words(error)}")


def _pyarrow(path: Path) -> tuple[Any, tuple[type[Exception], ...]]:
    try:
        parquet, arrow = import_module("pyarrow.parquet"), import_module("pyarrow")
    except ImportError as error:
        raise SourceError(
            f"`{path.name}` is a Parquet file, and pyarrow is not installed",
            hint="install the extra: `pip install 'errata[parquet]'`",
        ) from error
    return parquet, (arrow.ArrowException, OSError, ValueError, TypeError, OverflowError)


def _in_words(error: Exception) -> str:
    """pyarrow's messages may go over many lines; the first says it."""
    return describe(error).partition("\n")[0]
