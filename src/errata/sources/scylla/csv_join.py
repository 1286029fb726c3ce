"""A table of an export joined to the runs by its first columns."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Unreadable
from errata.sources.base import Row, csv_rows, unreadable
from errata.sources.scylla.layout import NAME
from errata.sources.shared.values import text

KEY = ("experiment", "agent_model", "tier", "subtest", "run_number")


class Grouped:
    """Rows by run. A table that keeps the rows of a run together is streamed; any other is held."""

    def __init__(self, path: Path) -> None:
        self._rows = _rows(path)
        self._held: dict[tuple[str, ...], list[Row]] = {}
        self._ahead: Row | None = None
        self.problems: list[Unreadable] = []
        if not _keeps_together(path):
            while self._read_group():
                pass

    def take(self, key: tuple[str, ...]) -> list[Row]:
        while key not in self._held and self._read_group():
            pass
        return self._held.pop(key, [])

    def left(self) -> Iterator[Unreadable]:
        """Rows of runs that `runs.csv` does not have."""
        while self._read_group():
            pass
        for rows in self._held.values():
            yield unreadable(
                NAME, rows[0].ref, f"no such run in runs.csv: {len(rows)} rows", excerpt=repr(rows[0].data)
            )

    def _read_group(self) -> bool:
        first = self._ahead or self._next()
        if first is None:
            return False
        group = self._held.setdefault(row_key(first), [])
        group.append(first)
        while (row := self._next()) is not None and row_key(row) == row_key(first):
            group.append(row)
        self._ahead = row
        return True

    def _next(self) -> Row | None:
        for row in self._rows:
            if isinstance(row, Row):
                return row
            self.problems.append(row)
        return None


def row_key(row: Row) -> tuple[str, ...]:
    return tuple(text(row.data.get(name)) for name in KEY)


def _rows(path: Path) -> Iterator[Row | Unreadable]:
    return csv_rows(path, source=NAME, root=path.parent) if path.is_file() else iter(())


def _keeps_together(path: Path) -> bool:
    seen, last = set[tuple[str, ...]](), None
    for row in _rows(path):
        if isinstance(row, Row) and (key := row_key(row)) != last:
            if key in seen:
                return False
            seen.add(key)
            last = key
    return True
