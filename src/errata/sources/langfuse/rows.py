"""The files of an export, and their rows with the API's field names; rows of a trace are found by its id."""

from collections.abc import Hashable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from errata.model import Unreadable
from errata.sources.base import Row, head_of, is_file
from errata.sources.langfuse import DEPTH, NAME, Kind, camel, files_below, kind_of
from errata.sources.shared.json_rows import HEAD, list_in, long_document
from errata.sources.shared.row_groups import ItemGroups, Lines, lines_of, split_copies
from errata.sources.shared.spans import parse_json_text
from errata.sources.shared.values import moment, sequence, text

_TEXTS = ("input", "output", "expectedOutput", "modelParameters")


class LangfuseExport:
    """The files of an export by kind; a single file is read alone."""

    def __init__(self, path: Path) -> None:
        self.root = path.parent if is_file(path) else path
        listed = iter((path,)) if is_file(path) else files_below(path, DEPTH)
        self.files: dict[Kind, list[Path]] = {}
        for file in listed:
            if kind := kind_of(file):
                self.files.setdefault(kind, []).append(file)

    @property
    def traces(self) -> list[Path]:
        """Files with one row per trace. An experiment item has more than its trace, so these come first."""
        return [*self.files.get("experiment_item", []), *self.files.get("trace", [])]


class _Owner(msgspec.Struct):
    traceId: Any = None  # noqa: N815
    trace_id: Any = None

    def key(self) -> Hashable:
        return text(self.traceId) or text(self.trace_id) or None


class RowsByTrace:
    """The rows of some files, by trace."""

    def __init__(self, files: list[Path], root: Path, stack: ExitStack) -> None:
        self.problems: list[Unreadable] = []
        self._parts: list[Lines | ItemGroups] = []
        for file in files:
            listed = list_in(head_of(file, HEAD), "data")
            if listed is None:
                self._parts.append(stack.enter_context(lines_of(file, _Owner, _Owner.key, source=NAME, root=root)))
                continue
            document = long_document(file, listed, source=NAME, root=root)
            if isinstance(document, Unreadable):
                self.problems.append(document)
            else:
                self._parts.append(ItemGroups(document, _Owner, _Owner.key))

    def of(self, trace: str) -> list[Row]:
        rows = (with_api_names(row) for part in self._parts for row in part.of(trace))
        # an observation that is in an export twice was made, and paid, once
        kept, _ = split_copies(rows, trace, source=NAME)
        return list(kept)

    def together(self) -> Iterator[Row | Unreadable]:
        """One row per trace. A bucket gets a file an hour, so the rows of a trace may be in several files."""
        for at, part in enumerate(self._parts):
            later = self._parts[at + 1 :]
            for group in part.together():
                trace = _trace_of(group.data[0]) if type(group) is Row else None
                if type(group) is not Row or trace is None:
                    yield group
                else:
                    yield Row((*group.data, *(row for other in later for row in other.of(trace))), group.ref)


def _trace_of(row: Row) -> Hashable:
    return _Owner(row.data.get("traceId"), row.data.get("trace_id")).key() if isinstance(row.data, dict) else None


def with_api_names(row: Row) -> Row:
    """The row with the API's field names, and with JSON texts decoded."""
    if not isinstance(row.data, dict):
        raise ValueError("expected an object")
    is_export = any("_" in str(key) for key in row.data)
    data = {camel(str(key)): value for key, value in row.data.items()}
    for name in _TEXTS:
        # an export has an empty text for a missing value
        if name in data:
            data[name] = parse_json_text(data[name]) if data[name] != "" or not is_export else None
    return Row(data, row.ref)


def time_of(value: Any) -> str | None:
    """Exports have UTC times without a time zone."""
    time = text(value)
    return moment(f"{time.replace(' ', 'T')}Z" if " " in time and "+" not in time and "Z" not in time else value)


def nested_rows(data: dict[str, Any], row: Row, name: str) -> list[Row]:
    listed = enumerate(sequence(data.get(name)))
    return [with_api_names(Row(one, row.ref.below(name, at))) for at, one in listed if isinstance(one, dict)]
