"""Custom logs: JSONL, JSON, CSV, TSV or Parquet, described by a small mapping file."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import LogBasis, Match, Source

NAME = "generic"
TITLE = "Your own tables: JSONL, JSON, CSV, TSV or Parquet, described by a mapping file"
HARNESS = Harness(name=NAME, title=NAME)

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
MAP_SUFFIX = ".map.toml"
FOLDER_MAP = "errata.map.toml"


def recognise(path: Path) -> Match | None:
    try:
        if path.is_dir():
            return Match.maybe(f"`{FOLDER_MAP}` in it names `files`") if _is_one_table(path) else None
        beside = map_beside(path) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return None
    return Match.maybe(f"`{beside.name}` beside it") if beside else None


def _is_one_table(folder: Path) -> bool:
    import tomllib

    own = folder / FOLDER_MAP
    return own.is_file() and bool(tomllib.loads(own.read_text(encoding="utf-8")).get("files"))


def read(path: Path) -> Iterator[Item]:
    from errata.sources.generic.reader import read_with_map_beside

    return read_with_map_beside(path)


def basis_of(path: Path) -> LogBasis | None:
    from errata.sources.generic.mapping import load
    from errata.sources.generic.reader import basis_of_table

    beside = map_beside(path)
    return None if beside is None else basis_of_table(path, load(beside))


def with_map(map_path: Path) -> Source:
    """A source that reads any file, and every data file of a folder, with this mapping."""
    from errata.sources.generic.reader import mapped_source

    return mapped_source(map_path)


def map_beside(path: Path) -> Path | None:
    if path.is_dir():
        own = path / FOLDER_MAP
        return own if own.is_file() else None
    own, shared = path.with_name(path.name + MAP_SUFFIX), path.with_name(FOLDER_MAP)
    if own.is_file():
        return own
    return shared if path.suffix.lower() in SUFFIXES and shared.is_file() else None
