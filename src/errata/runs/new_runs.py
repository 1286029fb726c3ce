"""Runs that are not in the store yet: found below folders. And stored ones that a mapping no longer makes."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from errata.errors import ErrataError, NotFoundError, UnknownFormatError
from errata.model import Run, StoredRun, UnreadFiles
from errata.model.record import Struct
from errata.model.times import moment_of
from errata.runs.log_search import find
from errata.sources.generic import NAME
from errata.store.database import Store
from errata.store.runs import all_runs

DEEPEST = 3
"""Levels of subfolders to try where a folder can't be read as a whole."""
CLOCK = 1.0


class Search(Struct):
    folders: tuple[Path, ...] = ()
    new: tuple[Path, ...] = ()
    """Paths with a run that the store does not know, or that has changed since it was read."""
    known: tuple[StoredRun, ...] = ()
    """Runs that were found again and are in the store already."""
    problems: tuple[tuple[Path, str], ...] = ()
    unread: tuple[UnreadFiles, ...] = ()
    """Files that no source reads, below the paths that were named."""


def find_new(paths: Iterable[Path], store: Store, *, source: str = "") -> Search:
    """Below the paths; where none is named, in the working folder and beside the runs that are known."""
    stored, paths = all_runs(store), tuple(paths)
    by_origin: dict[Path, list[StoredRun]] = {}
    for earlier in stored:
        if earlier.run.origin:
            by_origin.setdefault(Path(earlier.run.origin), []).append(earlier)
    folders = paths or tuple(_usual_folders(by_origin))
    problems: list[tuple[Path, str]] = []
    unread: list[UnreadFiles] = []
    below = dict.fromkeys(
        path.absolute() for folder in folders for path in _runs_below(folder, source, problems, unread)
    )
    new, known = [], dict[str, StoredRun]()
    for path in below:
        runs = [earlier for origin, some in by_origin.items() if origin.is_relative_to(path) for earlier in some]
        if not runs or _changed_since(path, max(earlier.imported_at for earlier in runs)):
            new.append(path)
        else:
            known |= {earlier.run.id: earlier for earlier in runs}
    return Search(
        folders=folders,
        new=tuple(new),
        known=tuple(known.values()),
        problems=tuple(problems),
        unread=tuple(unread) if paths else (),
    )


def _usual_folders(origins: Iterable[Path]) -> Iterator[Path]:
    wanted = {Path.cwd(), *(origin.parent for origin in origins)}
    for folder in sorted(wanted):
        if folder.is_dir() and not any(other != folder and folder.is_relative_to(other) for other in wanted):
            yield folder


def _runs_below(
    folder: Path, source: str, problems: list[tuple[Path, str]], unread: list[UnreadFiles], depth: int = 0
) -> Iterator[Path]:
    if not folder.exists():
        raise NotFoundError(
            f"No such file or folder: `{folder}`", hint="`--new` looks below the folders that are named"
        )
    try:
        yield from [Path(order.path) for order in find(folder, source=source, on_unread=unread.append)]
    except UnknownFormatError:
        return
    except ErrataError as problem:
        if depth == DEEPEST or not folder.is_dir():
            problems.append((folder, problem.message))
            return
        for child in sorted(_children(folder)):
            yield from _runs_below(child, source, problems, unread, depth + 1)


def _children(folder: Path) -> list[Path]:
    try:
        return [child for child in folder.iterdir() if not child.name.startswith(".") and not child.is_symlink()]
    except OSError:
        return []


def _changed_since(path: Path, imported_at: str) -> bool:
    """Whether anything at a path is newer than its import, folders included: these change with what they hold."""
    then = moment_of(imported_at).timestamp() + CLOCK
    places = [path]
    for folder, names, files in os.walk(path):
        places += [Path(folder, name) for name in (*names, *files)]
        if any(_time_of(place) > then for place in places):
            return True
        places = []
    return any(_time_of(place) > then for place in places)


def _time_of(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def stale_runs(imported: Iterable[str], known: Iterable[StoredRun]) -> list[StoredRun]:
    """Runs among all that are known from the same mapped files as those with the given ids, but not among them."""
    present = set(imported)
    mapped = [one for one in known if one.run.source.name == NAME]
    files = {_file(one.run) for one in mapped if one.run.id in present}
    return [one for one in mapped if one.run.id not in present and _file(one.run) in files]


def _file(run: Run) -> tuple[str, str]:
    return run.origin, run.ref.file if run.ref is not None else ""
