"""A folder of files with results: one attempt in each JSON file, or several tables with the same columns."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from errata.errors import SourceError
from errata.model import Unreadable
from errata.sources.base import children, json_file
from errata.sources.generic import FOLDER_MAP, MAP_SUFFIX, NAME, SUFFIXES
from errata.sources.generic.draft.locate import own_points, places_of_rows
from errata.sources.generic.draft.sample import ROWS_CAP, TableSample, sample_of
from errata.sources.generic.places import file_columns
from errata.sources.generic.tables import format_of

FILES_CAP = 2_000
DEPTH = 6
ALIKE = 0.5


class FolderSample(NamedTuple):
    sample: TableSample
    first: Path
    """A file of the kind that the mapping describes."""
    pattern: str = ""
    """For files with one attempt each: which files these are."""
    others: tuple[str, ...] = ()
    """Files that the mapping does not fit."""
    names: tuple[str, ...] = ()
    """The files, or with one attempt per file their folders, if there are several."""


def sample_of_folder(folder: Path) -> FolderSample:
    files = list(islice(_data_files(folder, 0), FILES_CAP))
    if not files:
        raise SourceError(f"No data files in `{folder}`", hint=f"supported: {', '.join(SUFFIXES)}")
    documents = {path: data for path in files if (data := _single_object(path)) is not None}
    if 2 * len(documents) > len(files):
        return _of_single_objects(folder, documents)
    tables = [path for path in files if path not in documents and path.parent == folder] or files
    kind = Counter(path.suffix.lower() for path in tables).most_common(1)[0][0]
    alike = [path for path in tables if path.suffix.lower() == kind]
    first = alike[0]
    sample = sample_of(first)
    others = [path.name for path in alike[1:50] if not _has_same_columns(path, sample)]
    names = tuple(path.stem for path in alike) if len(alike) > 1 else ()
    return FolderSample(sample, first, others=tuple(others), names=names)


def _data_files(folder: Path, depth: int) -> Iterator[Path]:
    for child in children(folder):
        if child.is_dir() and depth < DEPTH:
            yield from _data_files(child, depth + 1)
        elif child.suffix.lower() in SUFFIXES and not child.name.endswith((MAP_SUFFIX, FOLDER_MAP)):
            yield child


def _single_object(path: Path) -> dict[str, Any] | None:
    if path.suffix.lower() != ".json" or format_of(path) != "document":
        return None
    document = json_file(path, source=NAME, root=path)
    if isinstance(document, Unreadable) or type(document.data) is not dict:
        return None
    places = places_of_rows(document.data)
    return document.data if not places or own_points(document.data) >= places[0].points else None


def _of_single_objects(folder: Path, documents: dict[Path, dict[str, Any]]) -> FolderSample:
    """The files with the commonest fields."""
    shapes = Counter(name for data in documents.values() for name in data)
    common = {name for name, often in shapes.items() if 2 * often >= len(documents)}
    fitting = {path: data for path, data in documents.items() if len(common & set(data)) >= ALIKE * len(common)}
    rows = [{**file_columns(path, folder), **data} for path, data in islice(fitting.items(), ROWS_CAP)]
    pattern = _pattern(folder, list(fitting))
    matched = {path for path in folder.glob(pattern) if path.is_file()}
    others = sorted(path.relative_to(folder).as_posix() for path in matched - set(fitting) if path.suffix == ".json")
    above = dict.fromkeys(path.parent.name for path in fitting)
    by_task = len(above) == len(fitting)
    names = tuple(above) if len(above) > 1 and not by_task else ()
    return FolderSample(TableSample(rows, ".", whole=False), next(iter(fitting)), pattern, tuple(others), names)


def _pattern(folder: Path, files: list[Path]) -> str:
    """The narrowest pattern for the files: `*.json`, `*/result.json`, `task-*.json`."""
    names = {path.name for path in files}
    depths = {len(path.relative_to(folder).parts) for path in files}
    if len(names) == 1 and depths != {1}:
        name = next(iter(names))
        return f"{'*/' * (depths.pop() - 1)}{name}" if len(depths) == 1 else f"**/{name}"
    above = f"{'*/' * (next(iter(depths)) - 1)}" if len(depths) == 1 else "**/"
    here = {path for path in folder.glob(f"{above}*.json") if path.is_file() and not path.name.startswith(".")}
    prefix = _common_start([path.stem for path in files]).rstrip("0123456789")
    if here - set(files) and prefix and not any(path.name.startswith(prefix) for path in here - set(files)):
        return f"{above}{prefix}*.json"
    return f"{above}*.json"


def _common_start(names: list[str]) -> str:
    first, last = min(names), max(names)
    return next((first[:at] for at, letter in enumerate(first) if last[at : at + 1] != letter), first)


def _has_same_columns(path: Path, sample: TableSample) -> bool:
    try:
        other = sample_of(path)
    except SourceError:
        return False
    return set(sample.rows[0]) <= {name for row in other.rows for name in row} and other.place == sample.place
