"""`make bench-analysis`: triage, a first comparison and a first grouping as a suite grows, each beside a floor.

20 models try every case ten times, and four attempts of ten fail. The floors read the same rows: triage is shown beside
the import of the same logs, a comparison beside one SQL statement that groups the attempts, and a grouping beside one
that decodes every failure and counts equal error texts. Seconds are of the processor, of a command and all its
processes: other work on the machine changes them less than the clock.
"""

import argparse
import math
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from bench import measure
from bench.comparing.__main__ import MODELS, TRIES, grouped, log_of_model
from errata.runs.view import RunView
from errata.store.attempts import attempts_of
from errata.store.database import open_store
from errata.store.runs import all_runs

SIZES = (10_000, 100_000, 1_000_000)
TRIAGE, COMPARING, GROUPING = 0.5, 8.0, 20.0
"""Aims: triage beside the import; seconds of a first comparison and a first grouping of a million attempts."""


class Point(NamedTuple):
    """What one size costs."""

    attempts: int
    importing: measure.Cost
    triage: measure.Cost
    comparing: measure.Cost
    grouping: measure.Cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="attempts in all, separated by commas")
    parser.add_argument("--folder", type=Path, help="where the data is made; a temporary folder otherwise")
    chosen = parser.parse_args()
    points = []
    for size in map(int, chosen.sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="errata-analysis-", dir=chosen.folder) as folder:
            points.append(report(Path(folder), size))
    if len(points) > 1:
        print_slopes(points)


def report(folder: Path, size: int) -> Point:
    store = folder / "suite.db"
    importing = measure.Cost(0.0, 0.0)
    for model in range(MODELS):
        log = log_of_model(folder, model, max(1, size // (MODELS * TRIES)))
        words = ("import", log, "--map", folder / "map.toml", "--no-triage", "--store", store)
        importing = _sum(importing, measure.run(measure.errata(*words)))
        log.unlink()
    names = [f"model-{number}" for number in range(MODELS)]
    triage = _cost(lambda: _triage(store))
    comparing = measure.run(measure.errata("compare", *names, "--json", "--store", store))
    grouping = measure.run(measure.errata("buckets", "list", "--json", "--store", store))
    point = Point(size, importing, triage, comparing, grouping)
    by_query, by_text = _cost(lambda: grouped(store)), _cost(lambda: _equal_texts(store))
    print_point(point, by_query.cpu_seconds, by_text.cpu_seconds)
    return point


def print_point(point: Point, by_query: float, by_text: float) -> None:
    ratio = point.triage.cpu_seconds / point.importing.cpu_seconds
    compared, grouped_ = point.comparing, point.grouping
    print(f"{point.attempts:,} attempts of {MODELS} models (seconds of the processor, in brackets of the clock)")
    print(f"  import      {_figures(point.importing)}")
    print(f"  triage      {_figures(point.triage)}   {ratio:.2f}× the import (aim: {TRIAGE})")
    floor = f"{compared.cpu_seconds / by_query:.0f}× one grouping query ({by_query:.2f} s)"
    print(f"  comparison  {_figures(compared)}   {floor}; aim for a million: {COMPARING:.0f} s")
    floor = f"{grouped_.cpu_seconds / by_text:.0f}× counting equal error texts ({by_text:.2f} s)"
    print(f"  grouping    {_figures(grouped_)}   {floor}; aim for a million: {GROUPING:.0f} s")


def print_slopes(points: list[Point]) -> None:
    """1 is linear: twice the attempts cost twice as much. Below it, the start of the programs still counts."""
    print("slope of the cost over the number of attempts, in logarithms, between neighbouring sizes")
    for name in ("importing", "triage", "comparing", "grouping"):
        costs = [(point.attempts, getattr(point, name).cpu_seconds) for point in points]
        slopes = [
            f"{math.log(later / earlier) / math.log(more / fewer):.2f}"
            for (fewer, earlier), (more, later) in pairwise(costs)
            if earlier > 0 and later > 0
        ]
        print(f"  {name:<10}  {'  '.join(slopes)}")


def _equal_texts(store: Path) -> None:
    opened = open_store(store)
    texts: Counter[str] = Counter()
    for stored in all_runs(opened):
        for attempt in attempts_of(opened, stored.pk, failures=True):
            texts.update(check.explanation for check in attempt.checks[:1])
    assert texts


def _triage(store: Path) -> None:
    opened = open_store(store)
    for stored in all_runs(opened):
        RunView(stored, opened).ensure_triaged()


def _cost(work: Callable[[], None]) -> measure.Cost:
    """Of work in this process; its memory is that of the process so far."""
    started, used = time.perf_counter(), time.process_time()
    work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return measure.Cost(time.perf_counter() - started, peak, time.process_time() - used)


def _sum(first: measure.Cost, second: measure.Cost) -> measure.Cost:
    return measure.Cost(
        first.seconds + second.seconds,
        max(first.peak_mb, second.peak_mb),
        first.cpu_seconds + second.cpu_seconds,
    )


def _figures(cost: measure.Cost) -> str:
    return f"{cost.cpu_seconds:7.2f} s ({cost.seconds:.1f} s), {cost.peak_mb:.0f} MB"


if __name__ == "__main__":
    main()
