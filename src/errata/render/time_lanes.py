"""Charts of many failures: in time, a lane for each owner, long pauses cut out; and a matrix as thin lines."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from html import escape
from itertools import groupby
from typing import NamedTuple

import msgspec

from errata.render.palette import OWNERS, letter_of

LANE, DOT, PAUSE = 26, 4, 0.03
"""Heights in pixels, and the width of a pause that was cut out."""
CUT_FROM, SHORTEST = 0.08, 600
"""A pause is cut out from this share of the whole on, and from this many seconds."""
STEPS = 400
"""Dots are placed on this many columns, and drawn once for each."""


class Segment(NamedTuple):
    start: float
    end: float
    left: float
    """Between 0 and 1."""
    wide: float


def segments_of(times: Sequence[float]) -> list[Segment]:
    """The stretches of time without a long pause, side by side."""
    ordered = sorted(times)
    if not ordered:
        return []
    whole = ordered[-1] - ordered[0]
    cuts = [0]
    for at in range(1, len(ordered)):
        if ordered[at] - ordered[at - 1] > max(SHORTEST, CUT_FROM * whole):
            cuts.append(at)
    spans = [ordered[start:end] for start, end in zip(cuts, [*cuts[1:], len(ordered)], strict=True)]
    pauses = PAUSE * (len(spans) - 1)
    lasted = [max(span[-1] - span[0], 0.06 * whole, 1) for span in spans]
    left, segments = 0.0, []
    for span, long in zip(spans, lasted, strict=True):
        wide = (1 - pauses) * long / sum(lasted)
        segments.append(Segment(span[0], span[-1], left, wide))
        left += wide + PAUSE
    return segments


def place_in(segments: Sequence[Segment], time: float) -> float:
    """Between 0 and 1, a little inside of its segment."""
    for segment in segments:
        if segment.start <= time <= segment.end:
            lasted = segment.end - segment.start
            share = (time - segment.start) / lasted if lasted else 0.5
            return segment.left + segment.wide * (0.03 + 0.94 * share)
    return 1.0


def time_lanes(dots: Sequence[tuple[str, float]], text: Callable[[str], str]) -> str:
    """`dots` are owners with seconds since 1970."""
    segments = segments_of([at for _, at in dots])
    owners = [owner for owner in OWNERS if any(each == owner for each, _ in dots)]
    owners.sort(key=lambda owner: -sum(each == owner for each, _ in dots))
    height = LANE * len(owners)
    lanes = []
    for row, owner in enumerate(owners):
        places = {round(STEPS * place_in(segments, at)) for each, at in dots if each == owner}
        y = LANE * row + LANE / 2
        drawn = "".join(f'<circle cx="{100 * at / STEPS:g}%" cy="{y:g}" r="{DOT}"/>' for at in sorted(places))
        line = f'<rect class="lane" width="100%" y="{LANE * row}" height="1"/>'
        lanes.append(f'{line}<g class="{letter_of(owner)}">{drawn}</g>')
    pauses = "".join(
        f'<rect class="pause" x="{100 * (each.left + each.wide):.2f}%" width="{100 * PAUSE:.1f}%" height="{height}"/>'
        for each in segments[:-1]
    )
    counts = ", ".join(f"{owner} {sum(each == owner for each, _ in dots)}" for owner in owners)
    names = "".join(
        f'<span class="own"><b class="k {letter_of(owner)}" aria-hidden="true">{letter_of(owner)}</b>'
        f"<span>{text(owner)}</span></span>"
        for owner in owners
    )
    svg = (
        f'<svg height="{height + 18}" role="img" aria-label="{text("Failures in time: " + counts)}">'
        f"{pauses}{''.join(lanes)}{_ticks(segments, height)}</svg>"
    )
    return f'<div class="lanes"><div class="names" aria-hidden="true">{names}</div>{svg}</div>'


def _ticks(segments: Sequence[Segment], height: int) -> str:
    """When the first and the last stretch begin and end; a day where it is another one."""
    if not segments:
        return ""
    first, last = _moment(segments[0].start), _moment(segments[-1].end)
    days = first.date() != last.date()
    start = _spelled(first, with_day=days)
    end = _spelled(last, with_day=days)
    line = f'<rect class="lane" width="100%" y="{height}" height="1"/>'
    return f'{line}<text y="{height + 14}">{start}</text><text class="end" x="100%" y="{height + 14}">{end}</text>'


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _spelled(moment: datetime, *, with_day: bool) -> str:
    day = f"{moment.day} {moment:%b} " if with_day else ""
    return f"{day}{moment:%H:%M}"


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
