"""Handlers run in a few threads, each with connections of its own to the store."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TypeVar

from errata.settings import Settings, using_store
from errata.verbs.pages import large_runs_in_background
from errata.verbs.store import Store, names_only, open_store

T = TypeVar("T")
THREADS = 8


class Workers:
    def __init__(
        self,
        settings: Settings,
        threads: int = THREADS,
        *,
        deployment: str = "",
        is_derived_here: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`is_derived_here`: of a large run, whether requests derive it after all."""
        self._settings = settings
        self._deployment = deployment
        self._is_derived_here = is_derived_here
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="errata")
        self._own = threading.local()
        self._opened: list[tuple[Store, ExitStack]] = []
        self._lock = threading.Lock()

    @property
    def pool(self) -> ThreadPoolExecutor:
        return self._pool

    def work(self, handler: Callable[[Store], T]) -> T:
        """In a thread of the pool: the handler with the store of this thread."""
        with using_store(self._settings.store), names_only(), large_runs_in_background(self._is_derived_here):
            return handler(self._store())

    def open(self) -> Store:
        """The store, for a thread beside those of the pool."""
        return open_store(self._settings.store, deployment=self._deployment)

    def _store(self) -> Store:
        store: Store | None = getattr(self._own, "store", None)
        if store is None:
            store, connections = self.open(), ExitStack()
            connections.enter_context(store.kept_open())
            with self._lock:
                self._opened.append((store, connections))
            self._own.store = store
        return store

    def close(self) -> None:
        """After the last request: wait for the threads, then close their connections."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for store, connections in self._opened:
            connections.close()
            store.engine.dispose()
