"""A review while it goes on: how far it is and what it costs, on stderr; and its end, however it ends."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from errata.cli.output import money
from errata.cli.review.run_page import show_tally
from errata.review.plan import Plan
from errata.review.run import Tally


@contextmanager
def watched(plan: Plan, tally: Tally, *, as_json: bool) -> Iterator[Callable[[Tally], None]]:
    """What was done is told also where it was broken off: it is kept."""
    bar = _Bar(tally.planned) if sys.stderr.isatty() and tally.planned and not as_json else None
    try:
        yield bar.update if bar else lambda _: None
    finally:
        if bar:
            bar.stop()
        if as_json or tally.calls or tally.done or tally.capped:
            show_tally(plan, tally, as_json=as_json)


class _Bar:
    def __init__(self, planned: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("reading", total=planned)
        self._bar.start()

    def update(self, tally: Tally) -> None:
        self._bar.update(self._task, completed=tally.done, description=" · ".join(told(tally)))

    def stop(self) -> None:
        self._bar.stop()


def told(tally: Tally) -> list[str]:
    """`12 reviewed · 1 refused · $0.0312 so far`."""
    parts = [f"{tally.reviewed:,} reviewed"]
    parts += [f"{count:,} {word}" for word, count in (("refused", tally.refused), ("failed", tally.failed)) if count]
    unknown = f" and {tally.unpriced:,} of unknown price" if tally.unpriced else ""
    return [*parts, f"{money(tally.cost)} so far{unknown}"]
