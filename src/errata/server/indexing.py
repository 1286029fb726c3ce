"""In the background of a server: the index of every run is brought up to date, so that pages and searches are quick.

Large runs have a process of their own: `deriving.py`.
"""

import threading
import time
from contextlib import suppress

from errata.errors import ErrataError
from errata.model.filters import FailureFilters
from errata.settings import Settings, using_store
from errata.verbs.pages import (
    close_index,
    count_unreviewed,
    digest_of,
    ensure_searchable_texts,
    forget_missing,
    is_large,
    list_page,
    marks_of,
)
from errata.verbs.store import Store, all_runs, open_store

PAUSE = 2.0
"""Seconds between two looks at the store."""


class Indexer:
    """One thread, which starts with the server and ends with it."""

    def __init__(self, settings: Settings, *, deployment: str = "") -> None:
        self._settings, self._deployment = settings, deployment
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="errata-index", daemon=True)
        self._seen: dict[str, str] = {}
        self._unreviewed: int | None = None
        self._count_again_at = 0.0

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()

    def count_unreviewed(self, store: Store) -> int | None:
        """Failures without a verdict, at most a few seconds old; none before every run is in the index."""
        if time.monotonic() >= self._count_again_at:
            self._unreviewed = count_unreviewed(store)
            self._count_again_at = time.monotonic() + PAUSE
        return self._unreviewed

    def _work(self) -> None:
        with using_store(self._settings.store):
            while not self._stop.is_set():
                with suppress(ErrataError):  # pages report it; a database that was out of reach may be back later
                    self._follow(open_store(self._settings.store, deployment=self._deployment))
                self._stop.wait(PAUSE)

    def _follow(self, store: Store) -> None:
        """Until the server ends, or the store can't be read."""
        try:
            with store.kept_open():
                while not self._stop.wait(0 if not self._seen else PAUSE):
                    self._bring_up_to_date(store)
                    self._seen.setdefault("", "")
        finally:
            close_index(store)
            store.engine.dispose()

    def _bring_up_to_date(self, store: Store) -> None:
        marks = {run_id: mark for run_id, (_, mark) in marks_of(store).items()}
        if all(self._seen.get(run_id) == mark for run_id, mark in marks.items()) and len(self._seen) == len(marks) + 1:
            return
        forget_missing(store)
        for stored in all_runs(store):
            if self._stop.is_set():
                return
            if self._seen.get(stored.run.id) == marks.get(stored.run.id):
                continue
            if is_large(stored) and not store.is_read_only:
                self._seen[stored.run.id] = marks.get(stored.run.id, "")
                continue
            try:
                digest_of(stored, store)
                list_page(stored, store, FailureFilters(), grouping="bucket", order="log")  # its counts are kept
                ensure_searchable_texts(stored, store)
            except ErrataError:  # a page that shows the run reports it
                pass
            self._seen[stored.run.id] = marks_of(store, [stored.run.id]).get(stored.run.id, ("", ""))[1]
        self._seen = {run_id: mark for run_id, mark in self._seen.items() if run_id in marks or not run_id}
