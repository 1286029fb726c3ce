"""The causes of a run, and whether each is provisional, reviewed or final: how many members support it."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import msgspec

from errata.buckets.opinions import Review, is_read, supports
from errata.model import Bucket, BucketPlace, CauseSummary, Verdict
from errata.model.words import BucketStatus

ENOUGH = 3
"""Members that must be reviewed before a bucket is final; all members of a smaller bucket."""

StandingVerdict = Callable[[Iterable[Verdict]], Review | None]
"""Picks the standing verdict among those on one failure. Passed in by the caller, since it belongs to the review."""


class Support(NamedTuple):
    status: BucketStatus
    supported_by: tuple[str, ...]
    """The members that were read and carry it, by attempt id."""


NOTHING = Support("provisional", ())


def support_of(
    bucket: Bucket, members: Collection[str], reviews: Mapping[str, Review], followers: Collection[str] = ()
) -> Support:
    """Members are attempts. For those without a review, what was known before stays true.

    A verdict that was inherited carries nothing. One that lacks its second reader, or is about a knock-on failure,
    makes a bucket reviewed, never final.
    """
    own = {each for each in members if each not in followers}
    known = {attempt for attempt in bucket.supported_by if attempt in own and attempt not in reviews}
    carrying = carriers(bucket, members, reviews)
    supported_by = tuple(sorted(known | {each for each in carrying if each in own and reviews[each].final}))
    if own and len(supported_by) >= needed(len(own)):
        return Support("final", supported_by)
    return Support("reviewed", supported_by) if carrying or supported_by else NOTHING


def carriers(bucket: Bucket, members: Iterable[str], reviews: Mapping[str, Review]) -> list[str]:
    """The members whose own verdicts name it."""
    reviewed = (each for each in members if each in reviews and is_read(reviews[each]))
    return [each for each in reviewed if supports(reviews[each], bucket)]


def needed(members: int) -> int:
    """How many of its members, without knock-on failures, must be reviewed before a bucket is final."""
    return min(ENOUGH, members)


def with_status(
    bucket: Bucket, members: Collection[str], reviews: Mapping[str, Review], followers: Collection[str] = ()
) -> Bucket:
    """As the verdicts on its members have it now, whatever was known before."""
    bucket = msgspec.structs.replace(bucket, supported_by=())
    reviewed = any(each in reviews for each in members)
    support = support_of(bucket, members, reviews, followers) if reviewed else NOTHING
    return msgspec.structs.replace(bucket, status=support.status, supported_by=support.supported_by)


def summarise_causes(
    places: Mapping[str, BucketPlace], failures: Iterable[tuple[str, str]], owners: Mapping[str, str]
) -> list[CauseSummary]:
    """`failures` are the failed attempts in the order of the log, each with the name of its case.

    Of causes with equal counts, the slug decides, as in every list of causes. Attempts in no bucket are left out.
    Unreviewed members of a bucket that reviewers named are apart, under the words of rules.
    """
    members: dict[tuple[str, str, str], list[str]] = {}
    owners_of: dict[tuple[str, str, str], Counter[str]] = {}
    for attempt, case in failures:
        place = places.get(attempt)
        if place is not None:
            cause = place.slug, place.title, place.id
            members.setdefault(cause, []).append(case)
            owners_of.setdefault(cause, Counter())[owners.get(attempt) or "unknown"] += 1
    return [
        CauseSummary(
            bucket=bucket,
            title=title,
            owner=_owner(owners_of[slug, title, bucket]),
            count=len(cases),
            knock_on=owners_of[slug, title, bucket]["collateral"],
            cases=tuple(dict.fromkeys(cases)),
        )
        for (slug, title, bucket), cases in sorted(members.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    ]


def _owner(owners: Counter[str]) -> str:
    """The most frequent one; that of knock-on failures only where there is no other."""
    return max(owners, key=lambda owner: (owner != "collateral", owners[owner]))
