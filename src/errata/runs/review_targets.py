"""What `errata review next` is asked about: a run, one failure, a folder with a comparison, or a bucket."""

import re
from pathlib import Path

import msgspec

from errata.errors import ErrataError
from errata.model import Attempt, StoredRun
from errata.runs.addresses import locate
from errata.runs.names import is_path, known_run, runs_named
from errata.store.buckets import bucket_runs
from errata.store.database import Store
from errata.store.runs import all_runs, run_by_id

SUFFIXES = (".json", ".jsonl", ".csv", ".md")
LARGEST = 1024 * 1024
MOST_FILES = 50


class ReviewTarget(msgspec.Struct, frozen=True, kw_only=True):
    runs: tuple[StoredRun, ...]
    attempt: Attempt | None = None
    """None where not one failure alone is meant."""
    bucket: str = ""
    """The slug, where a bucket is named."""


def review_target(thing: str, store: Store) -> ReviewTarget:
    """A run's name wins over a bucket's."""
    if is_path(thing) and Path(thing).is_dir():
        return ReviewTarget(runs=tuple(_runs_in(Path(thing), store)))
    if (bucket := bucket_runs(store, thing)) and not _names_a_run(thing, store):
        slug, runs = bucket
        return ReviewTarget(runs=tuple(run_by_id(store, run) for run in runs), bucket=slug)
    located = locate(thing, store)
    return ReviewTarget(runs=(located.stored,), attempt=located.attempt)


def _names_a_run(thing: str, store: Store) -> bool:
    try:
        known_run(thing, store)
    except ErrataError:
        return False
    return True


def _runs_in(folder: Path, store: Store) -> list[StoredRun]:
    """The runs that lie in it; else those of the store that its files name, as the files of a comparison do."""
    try:
        return list(runs_named([str(folder)], store))
    except ErrataError:
        named = _runs_named_in(folder, store)
        if not named:
            raise
        return named


def _runs_named_in(folder: Path, store: Store) -> list[StoredRun]:
    files = [path for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES and path.is_file()][:MOST_FILES]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files if path.stat().st_size <= LARGEST]
    words = {word for text in texts for word in re.findall(r"[^\s\"',|`()\[\]]+", text)}
    return [stored for stored in all_runs(store) if words & {stored.run.id, stored.run.native_id}]
