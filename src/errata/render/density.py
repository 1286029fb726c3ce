"""A matrix too large for letters: each run is a band, each case a thin line in the colour of its owner."""

from collections.abc import Callable, Sequence
from html import escape
from itertools import groupby

import msgspec

from errata.render.palette import letter_of

BAND, GAP = 14, 4
LINES = 1_200
"""Lines of a band, at most; of several cases in one line, the first that failed is shown."""


class DensityRow(msgspec.Struct, frozen=True):
    name: str
    owners: Sequence[str]
    """Of each case the owner of its failure; empty where it passed or was not measured."""


class DensityParts(msgspec.Struct, frozen=True):
    """Parts of the matrix that can be opened one at a time."""

    size: int
    current: int
    """The first case of the open one."""
    address: Callable[[int], str]
    """Of the part that begins with this case."""


def density(rows: Sequence[DensityRow], parts: DensityParts, text: Callable[[str], str]) -> str:
    count = len(rows[0].owners) if rows else 0
    height = len(rows) * (BAND + GAP)
    failed = sum(bool(owner) for row in rows for owner in row.owners)
    names = "".join(f'<div title="{text(row.name)}">{text(row.name)}</div>' for row in rows)
    bands = "".join(_band(at * (BAND + GAP), row.owners, count) for at, row in enumerate(rows))
    links = "".join(_part(first, parts, count, height) for first in range(0, count, parts.size))
    return (
        f'<figure class="density"><div class="names">{names}</div><svg height="{height}" role="group"'
        f' aria-label="{len(rows)} runs, {count:,} cases, {failed:,} failures; choose a part to see its cases">'
        f"{bands}{links}</svg></figure>"
    )


def _band(y: int, owners: Sequence[str], count: int) -> str:
    every, at = max(1, -(-count // LINES)), 0
    lines = [next(filter(None, owners[start : start + every]), "") for start in range(0, count, every)]
    parts = [f'<rect class="ground" y="{y}" width="100%" height="{BAND}"/>']
    for owner, same in groupby(lines):
        wide = sum(1 for _ in same) * every
        if owner:
            parts.append(
                f'<rect class="{letter_of(owner)}" x="{100 * at / count:.3f}%" y="{y}"'
                f' width="{100 * min(wide, count - at) / count:.3f}%" height="{BAND}"/>'
            )
        at += wide
    return "".join(parts)


def _part(first: int, parts: DensityParts, count: int, height: int) -> str:
    last = min(count, first + parts.size)
    current = ' aria-current="true"' if first == parts.current else ""
    return (
        f'<a href="{escape(parts.address(first))}"{current} aria-label="Cases {first + 1:,} to {last:,}">'
        f'<rect class="part" x="{100 * first / count:.3f}%" width="{100 * (last - first) / count:.3f}%"'
        f' height="{height}"/></a>'
    )
