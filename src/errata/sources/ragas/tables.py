"""A table of ragas, as CSV or as JSON lines: its rows by the present names of the columns, and which are measures."""

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Unreadable
from errata.model.identity import fingerprint
from errata.sources.base import Row, csv_rows, head_of, json_lines, number_or_none
from errata.sources.ragas import ANSWER, HEAD, IDS, INPUT, NAME, NUMBERING, OLD, SAMPLE, is_lines
from errata.sources.shared.documents import children
from errata.sources.shared.values import as_text

LOOKS = 200
WRITTEN_CAP = 1024 * 1024
DIGITS = 9
"""pandas writes ten of them into JSON, and all of them into CSV."""
_LISTS = frozenset(
    ("user_input", "retrieved_contexts", "reference_contexts", "retrieved_context_ids", "reference_context_ids",
     "multi_responses", "rubrics", "reference_tool_calls", "reference_topics")
)  # fmt: skip
# numpy puts no comma between its items, and what Python then reads is one text
_WITHOUT_COMMAS = re.compile(r"""['"]\s+['"]""")


class Columns(NamedTuple):
    measures: tuple[str, ...]
    """In the order of the table."""
    ident: str
    """The column that names a row; empty where none does."""

    @property
    def primary(self) -> str:
        return self.measures[0] if self.measures else ""


def columns_of(rows: Iterable[dict[str, Any]]) -> Columns:
    """A measure holds nothing but numbers and gaps. One that is all gaps was measured of no row."""
    names: dict[str, bool] = {}
    told: set[str] = set()
    for row in rows:
        for name, value in row.items():
            if value is None or value == "":
                names.setdefault(name, True)
                continue
            told.add(name)
            names[name] = names.get(name, True) and (_is_gap(value) or number_or_none(value) is not None)
    own = [name for name in names if name not in SAMPLE and name not in OLD]
    ident = next((name for name in IDS if name in told), "")
    return Columns(tuple(one for one in own if names[one] and one not in IDS and not NUMBERING.fullmatch(one)), ident)


def _is_gap(value: Any) -> bool:
    return value != value or (isinstance(value, str) and value.lower() == "nan")


class Table:
    """Gone through twice: what a column holds depends on all rows."""

    def __init__(self, path: Path, root: Path) -> None:
        self._path, self._root = path, root
        self._lines = is_lines(head_of(path, HEAD))
        self.columns: Columns = columns_of(self._told())

    def rows(self) -> Iterator[Row | Unreadable]:
        read = json_lines if self._lines else csv_rows
        for row in read(self._path, source=NAME, root=self._root):
            if isinstance(row, Row) and isinstance(row.data, dict):
                named = {OLD.get(name) or name: value for name, value in row.data.items()}
                yield Row(named if self._lines else {key: _cell(key, one) for key, one in named.items()}, row.ref)
            else:
                yield row

    @property
    def mark(self) -> str:
        """Of what both forms tell alike; ragas gives a table no id and no time."""
        return fingerprint([self._mark_of(row) for row in self._told()], size=6)

    def _told(self) -> Iterator[dict[str, Any]]:
        """What is a row of the table; the rest is unreadable when it is converted."""
        return (row.data for row in self.rows() if isinstance(row, Row) and isinstance(row.data, dict))

    def _mark_of(self, row: dict[str, Any]) -> list[Any]:
        values = [number_or_none(row.get(name)) for name in self.columns.measures]
        said = [as_text(row[name]) if row.get(name) is not None else "" for name in (INPUT, ANSWER)]
        return [*said, *(None if one is None else f"{round(one, DIGITS):g}" for one in values)]


def same_table_beside(path: Path) -> Path | None:
    """JSON lines in the folder of a CSV that hold what it holds."""
    beside = (file for file in islice(children(path.parent), LOOKS) if file != path and is_lines(head_of(file, HEAD)))
    mine = ""
    for file in beside:
        mine = mine or Table(path, path.parent).mark
        if Table(file, file.parent).mark == mine:
            return file
    return None


def _cell(name: str, value: Any) -> Any:
    """A cell is a text, and an empty one is nothing; lists stand there as Python writes them."""
    if value == "":
        return None
    written = name in _LISTS and isinstance(value, str) and value.startswith(("[", "{")) and len(value) <= WRITTEN_CAP
    if not written or _WITHOUT_COMMAS.search(value):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value
