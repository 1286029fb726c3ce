"""Files that are named one by one and are all that a folder holds: they are read as the folder, which is one run."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from errata.sources.base import Found, Source
from errata.sources.shared.documents import children

FEW = 2
"""One file alone stands for itself, whatever folder it lies in."""


def joined(found: Sequence[Found], named: Iterable[Path]) -> list[Found]:
    """In the order in which they were named; a folder stands where the first of its files stood.

    `named` are all paths, those too that no source reads alone.
    """
    beside: dict[Path, set[Path]] = {}
    for path in named:
        beside.setdefault(path.absolute().parent, set()).add(path.absolute())
    made: dict[tuple[Path, str], Found | None] = {}
    for one in found:
        place = one.path.absolute().parent, one.source.NAME
        if place not in made:
            made[place] = _whole(one, beside.get(place[0], set()))
    return list(dict.fromkeys(made[one.path.absolute().parent, one.source.NAME] or one for one in found))


def _whole(one: Found, named: set[Path]) -> Found | None:
    folder = one.path.parent
    match = one.source.recognise(folder) if len(named) >= FEW else None
    return Found(folder, one.source, match) if match and not _leaves_out(folder, one.source, named) else None


def _leaves_out(folder: Path, source: Source, named: set[Path]) -> bool:
    """Whether the folder holds more that the source would read."""
    others = (child for child in children(folder) if child.absolute() not in named)
    return any(source.recognise(child) is not None for child in others)
