"""How far the buckets of one run are, for those who tell of its review."""

from collections.abc import Sequence

from errata.buckets.suggest import bucket_if_cheap
from errata.model import StoredRun
from errata.model.bucket import BucketSum, RunBuckets
from errata.store.bucket_table import Counted, bucket_table
from errata.store.database import Store


def buckets_of_run(stored: StoredRun, store: Store) -> RunBuckets:
    bucket_if_cheap(stored, store)
    listed = bucket_table(store, run_ids=[stored.run.id], alone=True).listed
    shared = [one for one in listed if one.rows + one.elsewhere > 1]
    final, reviewed, provisional = (
        _sum([one for one in shared if one.bucket.status == status]) for status in ("final", "reviewed", "provisional")
    )
    alone = len(listed) - len(shared)
    return RunBuckets(final=final, reviewed=reviewed, provisional=provisional, alone=alone)


def _sum(some: Sequence[Counted]) -> BucketSum:
    return BucketSum(buckets=len(some), failures=tuple(one.rows for one in some), read=sum(one.read for one in some))
