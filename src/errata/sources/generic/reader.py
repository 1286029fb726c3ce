"""Read a table with its mapping: rows become runs, cases and attempts. The mapping is compiled once per file."""

import fnmatch
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import cast

import msgspec

from errata.errors import SettingsError, SourceError
from errata.model import Harness, Item, SourceRef, Unreadable
from errata.sources.base import LogBasis, Match, Source, convert_each, is_file, unreadable
from errata.sources.generic import FOLDER_MAP, HARNESS, MAP_SUFFIX, NAME, SUFFIXES, TITLE, map_beside
from errata.sources.generic.mapping import Mapping, load, refuse_missing
from errata.sources.generic.rows import RowConverter
from errata.sources.generic.runs import MappedFile, Runs, file_of
from errata.sources.generic.tables import RowTable, join_tables, open_table
from errata.sources.shared.runs import by_neighbours


def read_with_map_beside(path: Path) -> Iterator[Item]:
    beside = map_beside(path)
    if beside is None:
        raise SettingsError(
            f"There is no mapping beside `{path.name}`",
            hint=f"write `{path.name}{MAP_SUFFIX}` or `{FOLDER_MAP}` there, or name one with `--map`",
        )
    mapping = load(beside)
    if path.is_dir():
        yield from _read_files(path, mapping)
    else:
        yield from _read_file(path, mapping, in_folder=False)


def mapped_source(map_path: Path) -> Source:
    return cast(Source, MappedSource(load(map_path)))


class MappedSource(msgspec.Struct, frozen=True):
    mapping: Mapping
    NAME: str = NAME
    TITLE: str = TITLE
    HARNESS: Harness = HARNESS

    def recognise(self, path: Path) -> Match | None:
        try:
            known = path.is_file() or bool(self.mapping.files and matching_files(path, self.mapping.files))
            return Match.sure("the given mapping") if known or _data_files(path) else None
        except (OSError, ValueError):
            return None

    def basis_of(self, path: Path) -> LogBasis | None:
        return basis_of_table(path, self.mapping)

    def read(self, path: Path) -> Iterator[Item]:
        if not path.is_dir():
            yield from _read_file(path, self.mapping, in_folder=False)
            return
        if self.mapping.files:
            yield from _read_files(path, self.mapping)
            return
        files = _data_files(path)
        if not files:
            raise SourceError(f"No data files in `{path}`", hint=f"supported: {', '.join(SUFFIXES)}")
        for file in files:
            yield from _read_file(file, self.mapping, in_folder=True)


def basis_of_table(path: Path, mapping: Mapping) -> LogBasis | None:
    """Transcripts are files of their own."""
    return None if mapping.attempt.transcript or not path.is_file() else LogBasis((path,), mapping)


def _data_files(folder: Path) -> list[Path]:
    files = (path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and not path.name.startswith("."))
    return sorted(path for path in files if path.is_file())


def matching_files(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder that match the pattern, without hidden ones, links and mappings."""
    name = pattern.removeprefix("**/")
    if "/" in name or os.sep in name or "**" in name or not name.strip("."):
        below = (path for path in folder.glob(pattern) if is_file(path))
        visible = (path for path in below if not any(part.startswith(".") for part in path.relative_to(folder).parts))
        files: Iterator[str] = map(str, visible)
    else:
        files = _files_named(folder, name, deep=name != pattern)
    tables = [path for path in files if not path.endswith((MAP_SUFFIX, FOLDER_MAP))]
    return list(map(Path, sorted(tables, key=lambda path: os.path.normcase(path).split(os.sep))))  # noqa: PTH206


def _files_named(folder: Path, name: str, *, deep: bool) -> Iterator[str]:
    """In the folder and, if `deep`, in all below it. `glob` gives the same and takes three times as long."""
    is_meant = re.compile(fnmatch.translate(os.path.normcase(name))).match
    waiting = [str(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as listed:
            for entry in listed:
                if entry.name.startswith("."):
                    continue
                if entry.is_file(follow_symlinks=False):
                    if is_meant(os.path.normcase(entry.name)):
                        yield entry.path
                elif deep and entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _read_files(folder: Path, mapping: Mapping) -> Iterator[Item]:
    """All matching files of a folder as one table."""
    try:
        files = matching_files(folder, mapping.files)
    except (NotImplementedError, ValueError) as error:
        raise SettingsError(f"`files` is not a pattern: {error}", hint='such as `files = "*.json"`') from error
    if not files:
        raise SourceError(f"No file in `{folder}` matches `{mapping.files}`", hint="`files` is relative to the folder")
    table = join_tables(open_table(path, source=NAME, root=folder, mapping=mapping) for path in files)
    origin = MappedFile(
        source=NAME,
        stem=folder.absolute().name,
        file=folder.absolute().name,
        origin=str(folder.absolute()),
        around={},
        in_folder=False,
    )
    yield from _read_table(table, mapping, origin, folder)


def _read_file(path: Path, mapping: Mapping, *, in_folder: bool) -> Iterator[Item]:
    table = open_table(path, source=NAME, root=path, mapping=mapping)
    yield from _read_table(table, mapping, file_of(path, table, in_folder=in_folder), path.parent)


def _read_table(table: RowTable, mapping: Mapping, origin: MappedFile, folder: Path) -> Iterator[Item]:
    if table.columns:
        refuse_missing(mapping, origin.file, table.columns, table.sample, fixed=table.fixed)
    runs = Runs(mapping, table, origin)
    rows = RowConverter(mapping, runs, table.columns, table.sample, folder)
    items = convert_each(table.rows, rows, source=NAME, owner=runs.owner)
    ordered = _run_first(items, runs, origin.file)
    yield from ordered if runs.is_one else by_neighbours(ordered)
    yield from runs.finished()


def _run_first(items: Iterator[Item], runs: Runs, file: str) -> Iterator[Item]:
    """Yield a run before anything unreadable, even if rows name their run. Without a good row there is still a run."""
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
