"""What the members of each bucket have in common besides how they fail, told anew over all runs of a suite."""

from collections.abc import Iterable

import msgspec

from errata.buckets.failing import Failing
from errata.buckets.inputs import failing_in
from errata.buckets.parameters import Parameters
from errata.model import Bucket, StoredRun
from errata.store.bucket_changes import filing
from errata.store.buckets import buckets_of, placements_of_run
from errata.store.database import Store
from errata.store.runs import all_runs


def tell_parameters(store: Store, suite: str) -> None:
    """Written only where they changed; no event, since nobody's opinion changes with it."""
    members: dict[str, list[Failing]] = {}
    for stored in all_runs(store):
        if stored.run.suite == suite and stored.counts.failures:
            for bucket_id, failing in _light(stored, store):
                members.setdefault(bucket_id, []).append(failing)
    told = with_parameters([one for one in buckets_of(store, suite) if one.id in members], members)
    if told:
        with filing(store) as desk:
            for bucket in told:
                now = desk.find(bucket.id)
                if now is not None and not now.gone:
                    desk.file(msgspec.structs.replace(now.bucket, parameters=bucket.parameters))


def with_parameters(buckets: Iterable[Bucket], members: dict[str, list[Failing]]) -> list[Bucket]:
    """Those that change by it."""
    usual = Parameters(failing for some in members.values() for failing in some)
    changed = []
    for bucket in buckets:
        owner = {name: value for name, value in bucket.parameters.items() if name == "owner"}
        found = owner | usual.shared(bucket.suite, [one for one in members[bucket.id] if not one.follows])
        if found != bucket.parameters:
            changed.append(msgspec.structs.replace(bucket, parameters=found))
    return changed


def _light(stored: StoredRun, store: Store) -> Iterable[tuple[str, Failing]]:
    placed = placements_of_run(store, stored.run.id)
    for failing in failing_in(stored, store):
        if failing.attempt in placed:
            light = Failing(
                attempt=failing.attempt, suite=failing.suite, parameters=failing.parameters, follows=failing.follows
            )
            yield placed[failing.attempt].bucket, light
