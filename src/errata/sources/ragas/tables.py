"""A ragas table, as CSV or JSON lines: its rows under current column names, and which columns are measures."""

import ast
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Unreadable
from errata.model.identity import fingerprint
from errata.sources.base import Row, children, csv_rows, head_of, json_lines, number_or_none
from errata.sources.ragas import ANSWER, HEAD, IDS, INPUT, NAME, NUMBERING, OLD, SAMPLE, is_lines
from errata.sources.shared.values import as_text
from errata.text.lazy_regex import lazy_regex

LOOKS = 200
WRITTEN_CAP = 1024 * 1024
DIGITS = 9
"""pandas writes ten digits to JSON, and all digits to CSV."""
_LISTS = frozenset(
    ("user_input", "retrieved_contexts", "reference_contexts", "retrieved_context_ids", "reference_context_ids",
     "multi_responses", "rubrics", "reference_tool_calls", "reference_topics")
)  # fmt: skip
# numpy writes lists without commas, which Python would read as a single text
_WITHOUT_COMMAS = lazy_regex(r"""['"]\s+['"]""")


class RagasColumns(NamedTuple):
    measures: tuple[str, ...]
    """In the order of the table."""
    ident: str
    """The column with the id of a row; empty if there is none."""

    @property
    def primary(self) -> str:
        return self.measures[0] if self.measures else ""


def columns_of(rows: Iterable[dict[str, Any]]) -> RagasColumns:
    """A measure has only numbers and gaps. A column with only gaps was measured for no row."""
    names: dict[str, bool] = {}
    filled: set[str] = set()
    for row in rows:
        for name, value in row.items():
            if value is None or value == "":
                names.setdefault(name, True)
                continue
            filled.add(name)
            names[name] = names.get(name, True) and (_is_gap(value) or number_or_none(value) is not None)
    own = [name for name in names if name not in SAMPLE and name not in OLD]
    ident = next((name for name in IDS if name in filled), "")
    return RagasColumns(
        tuple(one for one in own if names[one] and one not in IDS and not NUMBERING.fullmatch(one)), ident
    )


def _is_gap(value: Any) -> bool:
    return value != value or (isinstance(value, str) and value.lower() == "nan")


class RagasTable:
    """Read twice: what a column holds depends on all rows."""

    def __init__(self, path: Path, root: Path) -> None:
        self._path, self._root = path, root
        self._lines = is_lines(head_of(path, HEAD))
        self.columns: RagasColumns = columns_of(self._valid_rows())

    def rows(self) -> Iterator[Row | Unreadable]:
        read = json_lines if self._lines else csv_rows
        for row in read(self._path, source=NAME, root=self._root):
            if isinstance(row, Row) and isinstance(row.data, dict):
                renamed = {OLD.get(name) or name: value for name, value in row.data.items()}
                yield Row(renamed if self._lines else {key: _cell(key, one) for key, one in renamed.items()}, row.ref)
            else:
                yield row

    @property
    def mark(self) -> str:
        """A hash of what both formats have; a ragas table has neither an id nor a time."""
        return fingerprint([self._mark_of(row) for row in self._valid_rows()], size=6)

    def _valid_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of the table; others are reported as unreadable when they are converted."""
        return (row.data for row in self.rows() if isinstance(row, Row) and isinstance(row.data, dict))

    def _mark_of(self, row: dict[str, Any]) -> list[Any]:
        values = [number_or_none(row.get(name)) for name in self.columns.measures]
        texts = [as_text(row[name]) if row.get(name) is not None else "" for name in (INPUT, ANSWER)]
        return [*texts, *(None if one is None else f"{round(one, DIGITS):g}" for one in values)]


def same_table_beside(path: Path) -> Path | None:
    """JSON lines in the folder of a CSV with the same content."""
    beside = (file for file in islice(children(path.parent), LOOKS) if file != path and is_lines(head_of(file, HEAD)))
    own_mark = ""
    for file in beside:
        own_mark = own_mark or RagasTable(path, path.parent).mark
        if RagasTable(file, file.parent).mark == own_mark:
            return file
    return None


def _cell(name: str, value: Any) -> Any:
    """A cell is a text, and an empty cell means no value; lists are written as Python literals."""
    if value == "":
        return None
    written = name in _LISTS and isinstance(value, str) and value.startswith(("[", "{")) and len(value) <= WRITTEN_CAP
    if not written or _WITHOUT_COMMAS.search(value):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value
