"""The verb `import`: paths in, runs in the store."""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

import msgspec

from errata import sources
from errata.errors import ErrataError, SourceError, UnknownFormatError
from errata.model import Unreadable
from errata.pipeline import reading
from errata.store.database import Store
from errata.store.importing import Importing
from errata.store.staged import ImportedRun
from errata.text.nearest import did_you_mean

SHOWN = 20
"""Unreadable items that a summary quotes; the store keeps them all."""


class PathSummary(msgspec.Struct, frozen=True):
    """What one readable path gave."""

    path: str
    source: str
    runs: tuple[ImportedRun, ...]
    attempts: int
    unreadable: int
    examples: tuple[Unreadable, ...]
    passed_over: tuple[str, ...] = ()
    """What lies there, too, and tells of the same evaluation, and less of it."""


def look_for(paths: Iterable[Path], *, source: str = "", map_path: Path | None = None) -> list[reading.Order]:
    """What can be read at the paths. Nothing is changed where one of them is wrong; every wrong one is told."""
    _check_source(source)
    orders: list[reading.Order] = []
    problems: dict[Path, ErrataError] = {}
    good: list[Path] = []
    for path in paths:
        try:
            orders += reading.find(path, source=source, map_path=map_path)
            good.append(path)
        except ErrataError as problem:
            problems[path] = problem
    made = reading.together(orders, good)
    # what no source reads alone may be a part of a folder that is read as a whole
    whole = {Path(order.path).absolute() for order in made} - {path.absolute() for path in good}
    if wrong := [problem for path, problem in problems.items() if not _is_part(path, problem, whole)]:
        raise all_of(wrong, note=_others(good))
    return made


def _is_part(path: Path, problem: ErrataError, whole: Collection[Path]) -> bool:
    return isinstance(problem, UnknownFormatError) and path.absolute().parent in whole


def all_of(problems: Sequence[ErrataError], *, note: str = "") -> ErrataError:
    """One error that tells of several, the hints of each once."""
    if len(problems) == 1 and not note:
        return problems[0]
    message = "\n".join(dict.fromkeys(problem.message for problem in problems))
    hints = dict.fromkeys(problem.hint for problem in problems if problem.hint)
    return type(problems[0])(message, hint="\n".join([*hints, *([note] if note else [])]))


def _others(good: Sequence[Path]) -> str:
    if not good:
        return ""
    told = f"`{good[0]}`" if len(good) == 1 else f"the other {len(good)} paths"
    return f"nothing was imported; {told} can be read, once the rest is left out"


def _check_source(name: str) -> None:
    if name and name not in sources.all_sources():
        meant = did_you_mean(name, sources.all_sources())
        known = f"one of: {', '.join(sources.all_sources())}"
        raise SourceError(f"No source is named `{name}`", hint=f"{meant}\n{known}".strip())


OnItems = Callable[[int], None]


def import_paths(
    paths: Iterable[Path],
    store: Store,
    *,
    source: str = "",
    map_path: Path | None = None,
    on_items: OnItems = lambda _: None,
) -> list[PathSummary]:
    """Read everything at the paths into the store. Recognition comes first, so that a wrong path changes nothing."""
    orders = look_for(paths, source=source, map_path=map_path)
    summaries = [_import_one(order, store, on_items) for order in orders]
    if summaries and not any(summary.runs for summary in summaries):
        first = next((example for summary in summaries for example in summary.examples), None)
        why = f": {first.where}: {first.why}" if first else ""
        raise SourceError(f"Nothing could be read at `{summaries[0].path}`{why}", hint=_NOTHING)
    return summaries


_NOTHING = "the file may be cut off or damaged; nothing was imported"


def _import_one(order: reading.Order, store: Store, on_items: OnItems) -> PathSummary:
    attempts = unreadable = 0
    examples: list[Unreadable] = []
    with Importing(store) as importing:
        for batch in reading.batches(order):
            importing.add(batch)
            attempts += sum(len(part.attempts) for part in batch.parts.values())
            unreadable += len(batch.unreadables)
            examples.extend(item for _, item in batch.unreadables[: SHOWN - len(examples)])
            on_items(batch.items)
        runs = tuple(importing.finish())
    return PathSummary(order.path, order.source, runs, attempts, unreadable, tuple(examples), order.passed_over)
