"""The verbs `buckets list` and `buckets show`: the table, and one bucket with its members and what they say."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from errata.buckets.history import Told, history
from errata.buckets.member_names import short_names
from errata.buckets.suggest import bucket_if_needed
from errata.model import Bucket, Run, StoredRun
from errata.model.identity import split_attempt_id
from errata.model.run import case_name
from errata.model.standing import Standing
from errata.runs.standings import standing_now
from errata.store.bucket_table import Counted, Table, bucket_table, count_bucket
from errata.store.buckets import Placement, placements_in
from errata.store.database import Store
from errata.store.failures import loaded, number_of
from errata.store.runs import all_runs
from errata.triage.reasons import reason_of


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One member: where it is, what was said of it, and the words that tell most."""

    placement: Placement
    run: Run
    name: str
    """RUN/CASE, as commands take it."""
    quote: str
    standing: Standing | None
    supports: bool

    def as_json(self) -> dict[str, Any]:
        verdict = self.standing.verdict if self.standing else None
        return {
            "run": self.run.native_id,
            "run_id": self.run.id,
            "model": self.run.subject.model,
            "case": case_name(self.run, self.placement.case),
            "attempt_id": self.placement.attempt,
            "role": self.placement.role,
            "owner": self.placement.owner,
            "follows": self.placement.follows,
            "placed_by": self.placement.author or None,
            "supports": self.supports,
            "verdict": {"id": verdict.id, "label": verdict.label, "cause": verdict.cause, "bucket": verdict.bucket}
            if verdict
            else None,
            "quote": self.quote,
        }


class ShownBucket(msgspec.Struct, frozen=True, kw_only=True):
    counted: Counted
    members: tuple[Shown, ...]
    history: tuple[Told, ...]


def list_buckets(
    store: Store, runs: Sequence[StoredRun] = (), *, alone: bool = False, limit: int | None = None
) -> Table:
    """Over these runs, or over all; what was not suggested yet is suggested first."""
    bucket_if_needed(runs or all_runs(store), store)
    run_ids = [one.run.id for one in runs] if runs else None
    return bucket_table(store, run_ids=run_ids, alone=alone, limit=limit)


def show_bucket(bucket: Bucket, store: Store, *, most: int | None) -> ShownBucket:
    bucket_if_needed(all_runs(store, suite=bucket.suite), store)
    counted = count_bucket(store, bucket)
    members = sorted(placements_in(store, bucket.id), key=_order)
    return ShownBucket(
        counted=counted,
        members=tuple(_shown(store, counted.bucket, members if most is None else members[:most])),
        history=tuple(history(store, bucket=bucket)),
    )


def _order(one: Placement) -> tuple[bool, bool, str]:
    """What was read comes first, what only follows last."""
    return one.follows, one.role != "reviewed", one.attempt


def _shown(store: Store, bucket: Bucket, members: Sequence[Placement]) -> Iterator[Shown]:
    known = {one.run.id: one for one in all_runs(store)}
    names = short_names([one.attempt for one in members], store)
    read = {run: standing_now(known[run], store) for run in {one.run for one in members}}
    for one in members:
        stored = known[one.run]
        stood = read[one.run].get(one.attempt)
        yield Shown(
            placement=one,
            run=stored.run,
            name=names[one.attempt],
            quote=_quote(store, stored, one.attempt, stood.standing if stood else None),
            standing=stood.standing if stood else None,
            supports=one.attempt in bucket.supported_by,
        )


def _quote(store: Store, stored: StoredRun, attempt: str, stood: Standing | None) -> str:
    """What its reader quotes, else what its log says."""
    if stood is not None and stood.verdict.evidence:
        return stood.verdict.evidence[0].quote
    seq = number_of(store, stored.pk, split_attempt_id(attempt))
    found = loaded(store, stored.pk, [seq]) if seq is not None else []
    return reason_of(found[0].attempt, found[0].attribution).text if found else ""
