"""The rows of one judged conversation, counted as its harness counts them; never taken from a judge's summary.

A row fails where any dimension is strictly false. Null is not applicable, and a row of nothing else is incomplete.
"""

from collections import Counter
from collections.abc import Iterable

import msgspec

from errata.compare.consistency import Reading, metrics_of
from errata.compare.patterns import EMPTY, ENDED, ENDED_EARLY
from errata.model import Attempt


class JudgedRows(msgspec.Struct, frozen=True, kw_only=True):
    statuses: Counter[str]
    """`pass`, `fail` and `incomplete` → rows; a turn that has two rows counts twice."""
    markers: Counter[str]
    """What stood in the place of an answer → rows."""
    passes: Counter[str]
    """Dimension → rows."""
    applicable: Counter[str]
    latencies: tuple[float, ...]
    """In milliseconds, of the rows that tell one."""
    ttfbs: tuple[float, ...]

    @property
    def rows(self) -> int:
        return self.statuses.total()


def judged_rows(attempts: Iterable[Attempt], judge: str) -> JudgedRows:
    """`judge` decides; what only another judge or the transcript has is no row of his."""
    found = JudgedRows(
        statuses=Counter(), markers=Counter(), passes=Counter(), applicable=Counter(), latencies=(), ttfbs=()
    )
    times: dict[str, list[float]] = {"latency": [], "ttfb": []}
    for attempt in attempts:
        if not any(one.judge == judge for one in attempt.judgements):
            continue
        readings = dict(metrics_of(attempt))
        found.statuses[_status(readings.values())] += 1
        found.passes.update(name for name, reading in readings.items() if reading == "pass")
        found.applicable.update(name for name, reading in readings.items() if reading != "na")
        if attempt.native_status in _MARKERS:
            found.markers[attempt.native_status] += 1
        for name, values in times.items():
            if name in attempt.durations:
                # seconds in the store; the rows have milliseconds, most of them whole
                values.append(round(1000 * attempt.durations[name], 6))
    return msgspec.structs.replace(found, latencies=tuple(times["latency"]), ttfbs=tuple(times["ttfb"]))


_MARKERS = frozenset((EMPTY, ENDED, ENDED_EARLY))


def _status(readings: Iterable[Reading]) -> str:
    seen = set(readings)
    return "fail" if "fail" in seen else "pass" if "pass" in seen else "incomplete"
