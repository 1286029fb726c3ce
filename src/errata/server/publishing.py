"""Makes reported attempts visible while a run goes on, and marks runs that nobody reports about any more."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from errata.errors import StoreError
from errata.settings import Settings
from errata.verbs.live import mark_stuck, publish, unpublished_runs
from errata.verbs.store import Store

OFTEN = 1.0
"""Seconds between two imports of one run, at least."""
SHARE = 5
"""An import may take a fifth of the time: a large run is imported less often."""
LOOK_EVERY = 5.0
"""Seconds between two looks for runs that are stuck."""


class Publisher:
    """A thread of its own, with a store of its own."""

    def __init__(self, settings: Settings, open_own: Callable[[], Store], *, stuck_after: float) -> None:
        self._settings = settings
        self._open = open_own
        self._silence = stuck_after
        self._due: dict[str, float] = {}
        self._not_before: dict[str, float] = {}
        self._changed = threading.Condition()
        self._one_at_a_time = threading.Lock()
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._work, name="errata-publisher", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """What is still to be published is in the journal; the next start finds it."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def publish_soon(self, run_id: str) -> None:
        with self._changed:
            self._due.setdefault(run_id, max(time.monotonic(), self._not_before.get(run_id, 0.0)))
            self._changed.notify()

    def publish_now(self, run_id: str, store: Store) -> None:
        """In the thread of the caller."""
        with self._one_at_a_time:
            publish(run_id, store)
        with self._changed:
            self._due.pop(run_id, None)
            self._not_before.pop(run_id, None)

    def _work(self) -> None:
        store = self._open()
        try:
            with store.kept_open():
                for run_id in unpublished_runs(store):
                    self.publish_soon(run_id)
                look_at = 0.0
                while not self._is_closed:
                    if time.monotonic() >= look_at:
                        look_at = time.monotonic() + min(LOOK_EVERY, self._silence / 2)
                        self._mark_stuck(store)
                    due = self._next(look_at)
                    if due is not None:
                        self._publish(due, store)
        finally:
            store.engine.dispose()

    def _next(self, until: float) -> str | None:
        with self._changed:
            run_id = min(self._due, key=self._due.__getitem__, default=None)
            wait = min(until, self._due[run_id] if run_id else until) - time.monotonic()
            if wait > 0:
                self._changed.wait(wait)
                return None
            if run_id is None or self._due[run_id] > time.monotonic():
                return None
            del self._due[run_id]
            return run_id

    def _publish(self, run_id: str, store: Store) -> None:
        began = time.monotonic()
        try:
            with self._one_at_a_time:
                publish(run_id, store)
        except StoreError:  # locked by a long import, or the disk is full: the journal keeps it
            self.publish_soon(run_id)
        ended = time.monotonic()
        with self._changed:
            self._not_before[run_id] = ended + max(OFTEN, SHARE * (ended - began))
            if run_id in self._due:
                self._due[run_id] = max(self._due[run_id], self._not_before[run_id])

    def _mark_stuck(self, store: Store) -> None:
        try:
            for run_id in mark_stuck(store, silence=self._silence, now=datetime.now(UTC)):
                self.publish_soon(run_id)
        except StoreError:
            return
