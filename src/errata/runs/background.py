"""Large runs on a server: requests do not wait while their owners, lists, scores and causes are derived.

A process beside the server derives them (`derive_run`). Requests run inside `large_runs_in_background`, where whatever
needs a large run that is not ready raises `NotReadyError` instead of deriving it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from errata.errors import NotReadyError
from errata.model import StoredRun
from errata.store.database import Store

LARGE = 2_000
"""Failures from which on a request does not wait; fewer take less than a second."""

_is_derived_here: ContextVar[Callable[[str], bool] | None] = ContextVar("is_derived_here", default=None)


@contextmanager
def large_runs_in_background(is_derived_here: Callable[[str], bool] = lambda _: False) -> Iterator[None]:
    """`is_derived_here`: of a run's id, whether a request derives it after all, since the background could not."""
    token = _is_derived_here.set(is_derived_here)
    try:
        yield
    finally:
        _is_derived_here.reset(token)


def is_large(stored: StoredRun) -> bool:
    return stored.counts.failures >= LARGE


def is_left_to_background(stored: StoredRun, store: Store) -> bool:
    """Never of a store that can only be read: each thread derives its own copy of it."""
    is_derived_here = _is_derived_here.get()
    return (
        is_derived_here is not None
        and is_large(stored)
        and not store.is_read_only
        and not is_derived_here(stored.run.id)
    )


def refuse_to_wait(stored: StoredRun, store: Store, what: str) -> None:
    """Raise where the background derives this run; `what` begins the sentence."""
    if is_left_to_background(stored, store):
        message = f"{what} of run `{stored.run.native_id}` are being worked out"
        raise NotReadyError(message, hint="ask again in a few seconds", run=stored.run.id)
