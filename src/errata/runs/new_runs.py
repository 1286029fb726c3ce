"""Runs that are not in the store yet: found below folders, without naming each."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from errata.errors import ErrataError, NotFoundError, UnknownFormatError
from errata.model import StoredRun
from errata.model.times import moment_of
from errata.runs.importing import OnItems, PathSummary, import_paths
from errata.runs.reading import find
from errata.runs.summary import Analysis, summarise
from errata.store.database import Store
from errata.store.runs import all_runs, run_by_id

DEEPEST = 3
"""Folders below a folder that can't be read as a whole are tried one by one, so many levels down."""
CLOCK = 1.0
"""Seconds that the times of files and of the store may be apart."""


class Search(msgspec.Struct, frozen=True, kw_only=True):
    folders: tuple[Path, ...] = ()
    new: tuple[Path, ...] = ()
    """Paths with a run that the store does not know, or that has changed since it was read."""
    known: tuple[StoredRun, ...] = ()
    """Runs that were found again and are in the store already."""
    problems: tuple[tuple[Path, str], ...] = ()


class Analysed(msgspec.Struct, frozen=True, kw_only=True):
    search: Search
    summaries: tuple[PathSummary, ...] = ()
    analyses: tuple[Analysis, ...] = ()
    unchanged: int = 0
    """Runs that were read again and had nothing new."""


def find_new(paths: Iterable[Path], store: Store, *, source: str = "") -> Search:
    """Below the paths; where none is named, in the working folder and beside the runs that are known."""
    stored = all_runs(store)
    by_origin: dict[Path, list[StoredRun]] = {}
    for one in stored:
        if one.run.origin:
            by_origin.setdefault(Path(one.run.origin), []).append(one)
    folders = tuple(paths) or tuple(_usual_folders(by_origin))
    problems: list[tuple[Path, str]] = []
    found = dict.fromkeys(path.absolute() for folder in folders for path in _runs_below(folder, source, problems))
    new, known = [], dict[str, StoredRun]()
    for path in found:
        runs = [one for origin, some in by_origin.items() if origin.is_relative_to(path) for one in some]
        if not runs or _changed_since(path, max(one.imported_at for one in runs)):
            new.append(path)
        else:
            known |= {one.run.id: one for one in runs}
    return Search(folders=folders, new=tuple(new), known=tuple(known.values()), problems=tuple(problems))


def analyze_new(
    paths: Iterable[Path],
    store: Store,
    *,
    source: str = "",
    on_items: OnItems = lambda _: None,
    on_found: Callable[[Search], None] = lambda _: None,
) -> Analysed:
    """Import what is new, and analyse it; one path that can't be read keeps nobody from reading the others."""
    search = find_new(paths, store, source=source)
    on_found(search)
    summaries, problems = _imported(search.new, store, source, on_items)
    changes = {run.id: run.change for summary in summaries for run in summary.runs}
    fresh = [run_id for run_id, change in changes.items() if change in ("new", "grown")]
    return Analysed(
        search=msgspec.structs.replace(search, problems=(*search.problems, *problems)),
        summaries=tuple(summaries),
        analyses=tuple(summarise(run_by_id(store, run_id), store) for run_id in fresh),
        unchanged=len(changes) - len(fresh),
    )


def _imported(
    paths: Iterable[Path], store: Store, source: str, on_items: OnItems
) -> tuple[list[PathSummary], list[tuple[Path, str]]]:
    summaries: list[PathSummary] = []
    problems = []
    for path in paths:
        try:
            summaries += import_paths([path], store, source=source, on_items=on_items)
        except ErrataError as problem:
            problems.append((path, problem.message))
    return summaries, problems


def _usual_folders(origins: Iterable[Path]) -> Iterator[Path]:
    """Each once, and none that lies in another."""
    wanted = {Path.cwd(), *(origin.parent for origin in origins)}
    for folder in sorted(wanted):
        if folder.is_dir() and not any(other != folder and folder.is_relative_to(other) for other in wanted):
            yield folder


def _runs_below(folder: Path, source: str, problems: list[tuple[Path, str]], depth: int = 0) -> Iterator[Path]:
    if not folder.exists():
        raise NotFoundError(
            f"No such file or folder: `{folder}`", hint="`--new` looks below the folders that are named"
        )
    try:
        yield from [Path(order.path) for order in find(folder, source=source)]
    except UnknownFormatError:
        return
    except ErrataError as problem:
        if depth == DEEPEST or not folder.is_dir():
            problems.append((folder, problem.message))
            return
        for child in sorted(_children(folder)):
            yield from _runs_below(child, source, problems, depth + 1)


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
