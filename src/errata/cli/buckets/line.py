"""The buckets of a run in one line."""

from errata.cli.output import plural
from errata.model.bucket import BucketSum, RunBuckets

NAMED = 5


def buckets_line(told: RunBuckets) -> str:
    """`2 final (3 and 2 failures, all read) · 4 failures stand alone`."""
    parts = [
        f"{one.buckets:,} {status} ({_sizes(one)})"
        for status, one in (("final", told.final), ("reviewed", told.reviewed), ("provisional", told.provisional))
        if one.buckets
    ]
    alone = f"{plural(told.alone, 'failure')} {'stands' if told.alone == 1 else 'stand'} alone"
    return " · ".join([*parts, *([alone] if told.alone else [])])


def _sizes(one: BucketSum) -> str:
    total = sum(one.failures)
    first = [f"{size:,}" for size in one.failures[:NAMED]]
    listed = f"{', '.join(first[:-1])} and {first[-1]}" if len(first) > 1 else first[0]
    sizes = listed if len(one.failures) <= NAMED else f"{total:,}"
    read = "all read" if one.read == total else f"{one.read:,} read"
    return f"{sizes} failure{'' if sizes == '1' else 's'}, {read}"
