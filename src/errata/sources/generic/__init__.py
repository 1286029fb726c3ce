"""Home-made logs: JSONL, JSON, CSV, TSV or Parquet, described by a small mapping file."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import cast

import msgspec

from errata.errors import SettingsError, SourceError
from errata.model import Item, SourceRef, Unreadable
from errata.sources.base import Match, Source, convert_each, unreadable
from errata.sources.generic.columns import refuse_missing
from errata.sources.generic.mapping import Mapping, load
from errata.sources.generic.rows import Rows
from errata.sources.generic.runs import Place, Runs
from errata.sources.generic.tables import open_table
from errata.sources.shared.runs import by_neighbours

NAME = "generic"
TITLE = "Your own tables: JSONL, JSON, CSV, TSV or Parquet, described by a mapping file"

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
MAP_SUFFIX = ".map.toml"
FOLDER_MAP = "errata.map.toml"


def recognise(path: Path) -> Match | None:
    try:
        beside = _map_beside(path) if path.is_file() else None
    except (OSError, ValueError):
        return None
    return Match.maybe(f"`{beside.name}` beside it") if beside else None


def read(path: Path) -> Iterator[Item]:
    beside = _map_beside(path)
    if beside is None:
        raise SettingsError(
            f"No mapping lies beside `{path.name}`",
            hint=f"write `{path.name}{MAP_SUFFIX}` or `{FOLDER_MAP}` there, or name one with `--map`",
        )
    yield from _read_file(path, load(beside), in_folder=False)


def with_map(map_path: Path) -> Source:
    """A source that reads any file, and every data file of a folder, with this mapping."""
    return cast(Source, MappedSource(load(map_path)))


class MappedSource(msgspec.Struct, frozen=True):
    mapping: Mapping
    NAME: str = NAME
    TITLE: str = TITLE

    def recognise(self, path: Path) -> Match | None:
        try:
            return Match.sure("the mapping that was named") if path.is_file() or _data_files(path) else None
        except (OSError, ValueError):
            return None

    def read(self, path: Path) -> Iterator[Item]:
        if not path.is_dir():
            yield from _read_file(path, self.mapping, in_folder=False)
            return
        files = _data_files(path)
        if not files:
            raise SourceError(f"No data file lies in `{path}`", hint=f"a folder is read for {', '.join(SUFFIXES)}")
        for file in files:
            yield from _read_file(file, self.mapping, in_folder=True)


def _map_beside(path: Path) -> Path | None:
    own, shared = path.with_name(path.name + MAP_SUFFIX), path.with_name(FOLDER_MAP)
    if own.is_file():
        return own
    return shared if path.suffix.lower() in SUFFIXES and shared.is_file() else None


def _data_files(folder: Path) -> list[Path]:
    files = (path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and not path.name.startswith("."))
    return sorted(path for path in files if path.is_file())


def _read_file(path: Path, mapping: Mapping, *, in_folder: bool) -> Iterator[Item]:
    table = open_table(path, source=NAME, root=path, rows=mapping.rows)
    if table.columns:
        refuse_missing(mapping, path.name, table.columns, table.sample, fixed=table.fixed)
    place = Place(
        source=NAME,
        stem=path.stem,
        file=path.name,
        origin=str(path.parent.absolute()),
        around=table.around,
        in_folder=in_folder,
    )
    runs = Runs(mapping, table.columns, place)
    rows = Rows(mapping, runs, table.columns, table.sample, path.parent)
    items = convert_each(table.rows, rows, source=NAME, owner=runs.owner)
    found = _run_first(items, runs, path.name)
    yield from found if runs.is_one else by_neighbours(found)
    yield from runs.finished()


def _run_first(items: Iterator[Item], runs: Runs, file: str) -> Iterator[Item]:
    """Where rows name their run, what can't be read before a good row waits. No good row: a run all the same."""
    waiting: list[Item] = []
    first: Item | None = runs.announce({}) if runs.is_one else None
    while first is None:
        item = next(items, None)
        if isinstance(item, Unreadable):
            waiting.append(item)
        else:
            first = item or runs.announce({})
    yield first
    others = chain(waiting, items)
    yield next(others, None) or unreadable(NAME, SourceRef(file=file), "no rows")
    yield from others


__all__ = ["NAME", "TITLE", "MappedSource", "read", "recognise", "with_map"]
