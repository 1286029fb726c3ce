"""Status and words of a bucket as the verdicts on its members have them now: after an edit, an undo or new verdicts."""

from collections.abc import Collection, Iterable, Mapping

from errata.buckets.naming import renamed
from errata.buckets.opinions import Review, carriers, with_status
from errata.model import Bucket, BucketChange, BucketVersion, Placement


def restated(
    bucket: Bucket,
    members: Collection[str],
    reviews: Mapping[str, Review],
    *,
    followers: Collection[str],
    taken: Collection[str],
    may_be_named: bool = False,
) -> Bucket:
    """`members` and `followers` are attempts, `taken` the slugs of other buckets.

    `may_be_named`: whether reviewers may name a bucket that rules have named before.
    """
    bucket = with_status(bucket, members, reviews, followers)
    is_named = may_be_named and bucket.status == "final"
    if bucket.named_by != "reviewer" and not is_named:
        return bucket
    verdicts = [reviews[each].verdict for each in carriers(bucket, members, reviews)]
    return renamed(bucket, [one for one in verdicts if one], taken, is_final=is_named)


def restate(
    versions: Mapping[str, BucketVersion],
    touched: Iterable[str],
    members: Mapping[str, Collection[Placement]],
    reviews: Mapping[str, Review],
    touched_by_persons: Collection[str],
) -> list[BucketChange]:
    """Of each touched bucket that changes, the versions before and after; of all buckets of the suite, `versions`."""
    slugs = {one.bucket.slug for one in versions.values() if not one.gone}
    changes = []
    for old in [versions[each] for each in sorted(touched) if each in versions]:
        placed = members.get(old.bucket.id, ())
        slugs.discard(old.bucket.slug)
        bucket = restated(
            old.bucket,
            [one.attempt for one in placed],
            reviews,
            followers={one.attempt for one in placed if one.follows},
            taken=slugs,
            may_be_named=old.bucket.id not in touched_by_persons,
        )
        slugs.add(bucket.slug)
        if bucket != old.bucket:
            changes.append(BucketChange(versions=((old, BucketVersion(bucket, old.gone)),)))
    return changes
