"""Failures in time: a lane for each owner, a dot for each failure; long pauses are cut out and hatched."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

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
