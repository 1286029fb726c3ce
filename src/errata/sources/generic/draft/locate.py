"""Find the rows of an unknown JSON document: a list of results, results by key, or lists inside each run."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from errata.sources.generic.draft.names import MEASURE_GROUP, rank
from errata.sources.generic.draft.profiles import ColumnProfile, profiles_of
from errata.sources.generic.mapping import Mapping
from errata.sources.generic.places import PlacedRow, placed_rows

DEPTH = 4
LOOKED = 40
"""The most elements of a list that are looked at for lists inside them."""
_EMPTY = Mapping()
VERDICT, SCORE, OUTPUT, NAME, CHECKS = 6, 4, 2, 2, -4


class RowLocation(NamedTuple):
    path: str
    rows: int
    points: float
    """How much its rows look like attempts."""


def places_of_rows(document: Any) -> list[RowLocation]:
    """Where rows may be, the likeliest first; empty if nowhere."""
    places = []
    for path in dict.fromkeys(_paths(document, "", DEPTH)):
        rows = [row.data for row in rows_at(document, path)]
        objects = [row for row in islice(rows, LOOKED) if type(row) is dict]
        if objects:
            places.append(
                RowLocation(
                    path, len(rows), _points(objects) + _is_list_of_checks(path, objects) + min(len(rows), 20) / 20
                )
            )
        elif rows and path.endswith("[]") and _are_verdicts(rows):
            places.append(RowLocation(path, len(rows), VERDICT))
    return sorted(places, key=lambda place: -place.points)


def rows_at(document: Any, path: str) -> list[PlacedRow]:
    placed = placed_rows(document, path, _EMPTY)
    return [] if placed is None else [row for row in placed if row.data is not None]


def _paths(value: Any, path: str, depth: int) -> Iterator[str]:
    if not depth:
        return
    if type(value) is list:
        children = [child for child in value[:LOOKED] if type(child) is dict]
        if children and not _is_chat(children):
            yield f"{path}[]"
        for child in children:
            yield from _inside(child, f"{path}[]", depth)
    elif type(value) is dict:
        values = list(value.values())
        if len(values) > 1 and _are_alike(values):
            yield f"{path}[]"
            for child in values[:LOOKED]:
                if type(child) is dict:
                    yield from _inside(child, f"{path}[]", depth)
                else:
                    yield from _paths(child, f"{path}[]", depth - 1)
        else:
            yield from _inside(value, path, depth)


def _inside(value: dict[str, Any], path: str, depth: int) -> Iterator[str]:
    for name, child in value.items():
        if isinstance(child, (list, dict)) and not any(sign in str(name) for sign in ".[]"):
            yield from _paths(child, f"{path}.{name}" if path else str(name), depth - 1)


def _are_alike(values: list[Any]) -> bool:
    """Whether the values of an object are rows by key: objects with the same keys, lists of them, or verdicts."""
    if all(type(value) is dict for value in values):
        first = set(values[0])
        return bool(first) and all(2 * len(first & set(value)) > len(first) for value in values[1:LOOKED])
    if all(type(value) is list for value in values):
        return all(type(child) is dict for value in values[:LOOKED] for child in value[:3]) and any(values)
    return len(values) > 2 and _are_verdicts(values)


def _are_verdicts(values: list[Any]) -> bool:
    profile = ColumnProfile("", values)
    return (
        len(values) > 2
        and (profile.is_flag and profile.distinct > 1)
        and (bool(profile.words) or profile.kinds["bool"] > 0)
    )


def _is_chat(children: list[dict[str, Any]]) -> bool:
    return all("role" in child for child in children) and any("content" in child for child in children)


def _is_list_of_checks(path: str, rows: list[dict[str, Any]]) -> int:
    """A list such as `scores: [{name, score}]` inside each row has no output and no trials of its own."""
    inside = path.count("[]") > 1 and MEASURE_GROUP.search(path.removesuffix("[]").rpartition(".")[2])
    names = {name for row in rows for name in row}
    is_row = any(rank(role, name) is not None for role in ("output", "index") for name in names)
    return CHECKS if inside and not is_row else 0


def _points(rows: list[dict[str, Any]]) -> float:
    """Rows of attempts have a verdict or a score, an output, and a name."""
    profiles = profiles_of(rows)
    points = 0.0
    points += max(map(_verdict_points, profiles.values()), default=0)
    if any(
        (profile.is_text or profile.is_messages) and rank("output", path) is not None
        for path, profile in profiles.items()
    ):
        points += OUTPUT
    if any(rank("name", path) in (0, 1) and profile.is_scalar for path, profile in profiles.items()):
        points += NAME
    return points


def own_points(document: dict[str, Any]) -> float:
    """How much an object looks like an attempt itself."""
    return _points([document])


def _verdict_points(profile: ColumnProfile) -> int:
    if rank("passed", profile.path) is not None and (profile.is_flag or profile.is_verdict):
        return VERDICT
    return SCORE if rank("score", profile.path) is not None and profile.numbers else 0
