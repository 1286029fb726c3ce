"""Files that are named one by one and are all that a folder holds: they are read as the folder, which is one run."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from errata.sources.base import Found, Source
from errata.sources.shared.documents import children

FEW = 2
"""One file alone stands for itself, whatever folder it lies in."""


def joined(named: Sequence[Found]) -> list[Found]:
    """In the order in which they were named; a folder stands where the first of its files stood."""
    beside: dict[tuple[Path, str], list[Found]] = {}
    for one in named:
        beside.setdefault((one.path.absolute().parent, one.source.NAME), []).append(one)
    made: dict[Path, Found] = {}
    for (folder, _), parts in beside.items():
        whole = _whole(folder, parts) if len(parts) >= FEW else None
        made |= {one.path: whole or one for one in parts}
    return list(dict.fromkeys(made[one.path] for one in named))


def _whole(folder: Path, parts: list[Found]) -> Found | None:
    source = parts[0].source
    match = source.recognise(folder)
    if match is None or _leaves_out(folder, source, (one.path for one in parts)):
        return None
    return Found(parts[0].path.parent, source, match)


def _leaves_out(folder: Path, source: Source, named: Iterable[Path]) -> bool:
    """Whether the folder holds more that the source would read."""
    known = {path.absolute() for path in named}
    return any(child not in known and source.recognise(child) is not None for child in children(folder))
