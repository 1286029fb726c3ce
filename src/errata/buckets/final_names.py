"""A bucket that became final gets the name that its readers use; before that, nobody has read enough to name it."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import msgspec

from errata.buckets.opinions import slug_of
from errata.buckets.readable import readable
from errata.buckets.slugs import free_slug
from errata.model import Bucket, Verdict


def named_by_readers(bucket: Bucket, verdicts: Sequence[Verdict], taken: Collection[str]) -> Bucket:
    """The slug that most give, and their sentence where they all say the same; the old slug still leads here."""
    called = _most(slug_of(one.bucket) for one in verdicts)
    causes = {one.cause for one in verdicts}
    title = readable(causes.pop()) if len(causes) == 1 else readable(called.replace("-", " "))
    if not title:
        return bucket
    slug = free_slug(called or slug_of(title) or bucket.slug, taken)
    old = f"verdict:{slug_of(bucket.slug)}"
    keys = bucket.keys if slug == bucket.slug else tuple(dict.fromkeys((*bucket.keys, old)))
    return msgspec.structs.replace(bucket, title=title, slug=slug, keys=keys)


def _most(slugs: Iterable[str]) -> str:
    often = Counter(slug for slug in slugs if slug)
    return min(often, key=lambda slug: (-often[slug], slug), default="")
