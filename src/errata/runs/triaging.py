"""Whether a run has to be triaged, and with which known gaps."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from errata.errors import NotReadyError
from errata.model import StoredRun
from errata.model.identity import fingerprint
from errata.runs.importing import PathSummary
from errata.runs.reports import recorded_gaps
from errata.store.database import Store
from errata.store.runs import runs_by_id, runs_unchanged
from errata.triage.across import KnownGaps
from errata.triage.rulesets import Rules, rules_in_use
from errata.triage.stored import attributions as stored_triage
from errata.triage.stored.peers import has_looked_across

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


def triage_run(stored: StoredRun, store: Store, rules: Rules | None = None) -> int:
    return stored_triage.triage_run(stored, store, rules or rules_in_use(), gaps_for(stored, store))


_triaging: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
"""By run: of the threads of a server, the first one triages; the others wait, and find it done."""


def triage_if_needed(stored: StoredRun, store: Store, *, on_failure: Callable[[int], None] | None = None) -> None:
    """Only where the run was not triaged yet, or with other rules, or other runs or reports show something new.

    `on_failure` hears how many failures have an owner.
    """
    if not stored.counts.failures:
        return
    if is_left_to_background(stored, store) and not has_looked_across(stored, store):
        refuse_to_wait(stored, store, OWNERS)
    rules, gaps = rules_in_use(), gaps_for(stored, store)
    if stored_triage.is_stale(stored, store, rules, gaps):
        refuse_to_wait(stored, store, OWNERS)
        with _triaging[stored.run.id]:
            if stored_triage.is_stale(stored, store, rules, gaps):
                stored_triage.triage_run(stored, store, rules, gaps, on_failure=on_failure)


def is_triaged(stored: StoredRun, store: Store) -> bool:
    """With the present rules, and with all that other runs and reports show."""
    if not stored.counts.failures:
        return True
    if not has_looked_across(stored, store):
        return False
    return not stored_triage.is_stale(stored, store, rules_in_use(), gaps_for(stored, store))


OWNERS = "Owners"


def gaps_for(stored: StoredRun, store: Store) -> KnownGaps:
    if not stored.counts.failures:
        return KnownGaps()
    records = recorded_gaps(stored, store)
    content = sorted(
        (key, gap.where, gap.quote, sorted(gap.checks), sorted(gap.keys or ()))
        for key, gaps in records.items()
        for gap in gaps
    )
    return KnownGaps(records, version=fingerprint(content, size=4) if content else "")


def triage_imported(
    summaries: Iterable[PathSummary], store: Store, *, on_run: Callable[[], None] = lambda: None
) -> None:
    run_ids = list(dict.fromkeys(run.id for summary in summaries for run in summary.runs))
    with store.kept_open(), runs_unchanged():
        for stored in runs_by_id(store, run_ids):
            triage_if_needed(stored, store)
            on_run()
