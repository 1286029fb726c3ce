"""A progress display on stderr, only where a person is watching and only when it takes a while."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

PATIENCE = 0.5
"""Seconds before anything is shown; rich takes a good part of that to import."""


@contextmanager
def progress(what: str) -> Iterator[Callable[[int], None]]:
    """Yields a function that is told how many items were done."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    shown = _Shown(what)
    try:
        yield shown.advance
    finally:
        shown.stop()


class _Shown:
    def __init__(self, what: str) -> None:
        self._what = what
        self._done = 0
        self._since = monotonic()
        self._bar: object | None = None

    def advance(self, items: int) -> None:
        self._done += items
        if self._bar is None and monotonic() - self._since < PATIENCE:
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        if self._bar is None:
            columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._what, total=None)
        assert isinstance(self._bar, Progress)
        rate = self._done / max(monotonic() - self._since, 0.001)
        self._bar.update(self._task, description=f"{self._what} · {self._done:,} items · {rate:,.0f} a second")

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()  # type: ignore[attr-defined]
