"""Import orders: which source reads which path, and which paths are read together."""

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from errata import sources
from errata.errors import ErrataError, SourceError, UnknownFormatError, did_you_mean
from errata.model import Run, UnreadFiles
from errata.sources import PassedOver, RecognisedPath
from errata.sources.base import Match
from errata.sources.generic import with_map


class RunChange(msgspec.Struct, frozen=True):
    run: str
    apart: Run | None = None
    """Where its results differ: itself, named by a folder."""
    tried: tuple[str, ...] = ()
    prefix: str = ""
    """Where it is a part of that run: the way from that run's place to its files."""
    known: frozenset[tuple[Any, ...]] = frozenset()
    """Attempts that the other parts have."""


class Order(msgspec.Struct, frozen=True):
    path: str
    source: str
    map: str = ""
    passed_over: tuple[str, ...] = ()
    """Files with a part of the same evaluation."""
    changes: tuple[RunChange, ...] = ()


def found_by(order: Order) -> RecognisedPath:
    path = Path(order.path)
    source = with_map(Path(order.map)) if order.map else sources.source_named(order.source)
    return RecognisedPath(path, source, Match.sure("as ordered"))


OnUnread = Callable[[UnreadFiles], None]


def find(
    path: Path, *, source: str = "", map_path: Path | None = None, on_unread: OnUnread = lambda _: None
) -> list[Order]:
    if map_path is not None:
        if not path.exists():
            raise SourceError(f"No such file or folder: `{path}`", hint="check the path")
        return [Order(str(path), "generic", str(map_path))]
    readable, over, unread = sources.look(path, source=source)
    if unread:
        on_unread(unread)
    return [_order(one, over) for one in readable]


def together(orders: Sequence[Order], named: Collection[Path]) -> list[Order]:
    """Several paths at once: what belongs to one run is read as one, and once."""
    if len(named) < 2 or any(order.map for order in orders):
        return list(orders)
    known = {order.path: order.passed_over for order in orders}
    readable = [found_by(order) for order in orders]
    # what was found in a folder that was looked into is whole already
    own = sources.join_folders([one for one in readable if one.path in named], named)
    left, over = sources.sift([*own, *(one for one in readable if one.path not in named)])
    return [_order(one, over, known.get(str(one.path), ())) for one in left]


def _order(readable: RecognisedPath, over: Iterable[PassedOver], known: tuple[str, ...] = ()) -> Order:
    also = (str(one.path) for one in over if one.instead == readable.path)
    return Order(str(readable.path), readable.source.NAME, passed_over=(*known, *also))


def look_for(
    paths: Iterable[Path], *, source: str = "", map_path: Path | None = None, on_unread: OnUnread = lambda _: None
) -> list[Order]:
    """What can be read at the paths. If any path is wrong, nothing is imported and every problem is reported."""
    _check_source(source)
    orders: list[Order] = []
    problems: dict[Path, ErrataError] = {}
    good: list[Path] = []
    for path in map(_straight, paths):
        try:
            orders += find(path, source=source, map_path=map_path, on_unread=on_unread)
            good.append(path)
        except ErrataError as problem:
            problems[path] = problem
    made = together(orders, (*good, *problems))
    # what no source reads alone may be a part of a folder that is read as a whole
    whole = {Path(order.path).absolute() for order in made} - {path.absolute() for path in good} if problems else set()
    if wrong := [problem for path, problem in problems.items() if not _is_part(path, problem, whole)]:
        raise all_of(wrong, note=_others(good))
    return made


def _straight(path: Path) -> Path:
    """`all/../s` is `s`, unless `all` is a link to elsewhere: a run is known, and repeated, by its path."""
    if ".." not in path.parts or not path.exists():
        return path
    short = Path(os.path.normpath(path))
    return short if short.exists() and short.samefile(path) else path.resolve()


def _is_part(path: Path, problem: ErrataError, whole: Collection[Path]) -> bool:
    return isinstance(problem, UnknownFormatError) and path.absolute().parent in whole


def all_of(problems: Sequence[ErrataError], *, note: str = "") -> ErrataError:
    """Several errors as one, each hint once."""
    if len(problems) == 1 and not note:
        return problems[0]
    message = "\n".join(dict.fromkeys(problem.message for problem in problems))
    hints = dict.fromkeys(problem.hint for problem in problems if problem.hint)
    together = type(problems[0])(message, hint="\n".join([*hints, *([note] if note else [])]))
    together.message = message  # a line for each problem
    return together


def _others(good: Sequence[Path]) -> str:
    if not good:
        return ""
    good_paths = f"`{good[0]}`" if len(good) == 1 else f"the other {len(good)} paths"
    return f"nothing was imported; {good_paths} can be read, once the rest is left out"


def _check_source(name: str) -> None:
    if name and name not in sources.all_sources():
        meant = did_you_mean(name, sources.all_sources())
        known = f"one of: {', '.join(sources.all_sources())}"
        raise SourceError(f"No source is named `{name}`", hint=f"{meant}\n{known}".strip())
