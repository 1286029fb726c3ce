"""A status line on stderr while a command works: only on a terminal, only after a while, and gone at the end."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic

from errata.cli.fitting import WIDTH, cut

PATIENCE = 1.0
"""Seconds without output before the line is shown."""
REDRAW = 0.15
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
ASKING = ("rm", "next", "run", "watch")
"""Commands that wait for an answer, or show a line of their own."""

HIDE_CURSOR, SHOW_CURSOR, CLEAR_LINE = "\x1b[?25l", "\x1b[?25h", "\r\x1b[2K"


class StatusLine:
    """What a command is doing and for how long. It disappears before anything else is printed."""

    def __init__(self, label: str) -> None:
        self.label, self.detail = label, ""
        self._stream = sys.stderr
        self._lock, self._end = Lock(), Event()
        self._since = self._quiet_since = monotonic()
        self._drawn = False
        self._thread: Thread | None = None

    def start(self) -> None:
        self._thread = Thread(target=self._redraw, name="status line", daemon=True)
        self._thread.start()

    def show(self, detail: str) -> None:
        """Say how far it is; drawn at once where the line is due."""
        self.detail = detail
        if self._thread is None or PATIENCE == 0:
            self._draw_if_due()

    def clear(self) -> None:
        """Make room for other output."""
        with self._lock:
            if self._drawn:
                self._write(CLEAR_LINE + SHOW_CURSOR)
                self._drawn = False
            self._quiet_since = monotonic()

    def stop(self) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()
        self.clear()

    def _redraw(self) -> None:
        while not self._end.wait(REDRAW):
            self._draw_if_due()

    def _draw_if_due(self) -> None:
        with self._lock:
            now = monotonic()
            if now - self._quiet_since < PATIENCE or self._end.is_set():
                return
            seconds = now - self._since
            frame = FRAMES[int(seconds / REDRAW) % len(FRAMES)]
            parts = [self.label, *([self.detail] if self.detail else []), f"{seconds:,.0f} s"]
            hide = "" if self._drawn else HIDE_CURSOR
            self._write(hide + CLEAR_LINE + cut(f"{frame} {' · '.join(parts)}", WIDTH - 1))
            self._drawn = True

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


_current: list[StatusLine] = []


def is_watched() -> bool:
    """Whether a person looks at a terminal that can redraw a line."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


@contextmanager
def status_line(label: str) -> Iterator[StatusLine | None]:
    """Show a line for as long as this takes; the one of the whole command, where it has one already."""
    if not is_watched():
        yield None
        return
    if _current:
        line = _current[-1]
        before, line.label, line.detail = (line.label, line.detail), label, ""
        try:
            yield line
        finally:
            line.label, line.detail = before
        return
    line = StatusLine(label)
    _current.append(line)
    line.start()
    try:
        yield line
    finally:
        _current.pop()
        line.stop()


@contextmanager
def progress(what: str) -> Iterator[Callable[[int], None]]:
    """Count items: yields a function to call with how many more are done."""
    with status_line(what) as line:
        since, done = monotonic(), 0

        def advance(items: int) -> None:
            nonlocal done
            done += items
            if line is not None:
                rate = done / max(monotonic() - since, 0.001)
                line.show(f"{done:,} items · {rate:,.0f} a second")

        yield advance


def clear_status_line() -> None:
    """Before anything is printed."""
    if _current:
        _current[-1].clear()


def end_status_line() -> None:
    """Before others write to the terminal."""
    if _current:
        _current[-1].stop()
