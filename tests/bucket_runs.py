"""Short ways to a store with failures in buckets."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.engines import ON_POSTGRES

from errata.buckets.edit import Author
from errata.model import (
    Attempt,
    BucketPlace,
    ErrorInfo,
    Reviewer,
    Run,
    SourceInfo,
    StoredRun,
    Subject,
    Verdict,
    attempt_id,
)
from errata.runs.bucketing import ensure_all_buckets
from errata.runs.view import RunView
from errata.store.bucket_changes import bucket_transaction
from errata.store.buckets import bucket_places, buckets_of
from errata.store.database import Store, open_store
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.reviews import keep_verdicts
from errata.store.runs import all_runs, run_by_id

ANA = Author(name="ana", at="2026-03-01T10:00:00Z")


@contextmanager
def store_of_an_example() -> Iterator[Store]:
    """A fresh store for one example of a property: a copy, with connections that are kept open."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "errata.db"
        path.write_bytes(_empty_store())
        store = open_store(path)
        with store.kept_open():
            yield store


@cache
def _empty_store() -> bytes:
    if ON_POSTGRES:  # an empty file becomes a new database; the one of another file ends with its test
        return b""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "errata.db"
        open_store(path).engine.dispose()
        return path.read_bytes()


def a_stored_run(
    store: Store, name: str = "run-1", *, suite: str = "suite", model: str = "m", **errors: str
) -> StoredRun:
    """Case → the error that it died of; one attempt each. An empty error is a pass."""
    run = Run(native_id=name, source=SourceInfo(name="test"), suite=suite, subject=Subject(model=model))
    with Importing(store) as importing:
        for batch in seal(pack_items([run, *(_attempt(run, case, error) for case, error in errors.items())])):
            importing.add(batch)
        importing.finish()
    return run_by_id(store, run.id)


def _attempt(run: Run, case: str, error: str) -> Attempt:
    if not error:
        facts = {"execution": "completed", "measurement": "scored", "outcome": "pass"}
        return Attempt(run=run.id, case=f"{run.suite}/{case}", **facts)
    kind, _, message = error.partition(":")
    died = ErrorInfo(type=kind, message=message or kind, phase="setup")
    facts = {"execution": "error", "measurement": "not_run", "outcome": "none"}
    return Attempt(run=run.id, case=f"{run.suite}/{case}", errors=(died,), **facts)


def suggested(store: Store) -> None:
    ensure_all_buckets([RunView(stored, store) for stored in all_runs(store)], store)


def places(store: Store, stored: StoredRun) -> dict[str, BucketPlace]:
    """Case → its bucket."""
    found = bucket_places(store, stored.run.id)
    return {attempt.partition("/")[2].partition("#")[0]: place for attempt, place in found.items()}


def bucket_at(store: Store, stored: StoredRun, case: str):
    wanted = places(store, stored)[case].id
    return next(one for one in buckets_of(store) if one.id == wanted)


def attempt(stored: StoredRun, case: str) -> str:
    return attempt_id(stored.run.id, f"{stored.run.suite}/{case}")


def a_verdict(stored: StoredRun, case: str, bucket: str = "", *, name: str = "ben", **changes) -> Verdict:
    at = changes.pop("at", "2026-04-01T10:00:00Z")
    whole = {"id": f"{name}-{stored.run.native_id}-{case}-{at}", "attempt": attempt(stored, case), "taxonomy": "owners"}
    whole |= {
        "label": "environment",
        "owner": "environment",
        "cause": f"what {bucket or case} says",
        "confidence": "certain",
    }
    return Verdict(**whole | {"bucket": bucket, "reviewer": Reviewer(kind="person", name=name), "at": at} | changes)


def read(store: Store, *verdicts: Verdict) -> None:
    keep_verdicts(store, verdicts)
    suggested(store)


def state(store: Store) -> tuple:
    """All that a user can see: living buckets as they are, and where every failure lies."""
    with bucket_transaction(store, keep=False) as transaction:
        suites = sorted({one.suite for one in buckets_of(store)})
        living = [one.bucket for suite in suites for one in transaction.versions(suite) if not one.gone]
        members = {one.attempt: one for bucket in living for one in transaction.members(bucket.id)}
    return tuple(living), tuple(members[each] for each in sorted(members))
