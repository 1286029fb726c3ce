"""What verdicts say of the cause: the bucket that they name, or else their sentence; and how final a bucket is."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from errata.buckets.failure import FailureToGroup
from errata.buckets.similarity import Space, Weights, masked, words_of
from errata.model import Bucket, BucketPlace, CauseSummary, Verdict
from errata.model.words import BucketStatus
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

SLUG = 60
SAME_CAUSE = 0.4
"""How alike the sentences of two reviewers must be, at least one of whom names no bucket."""
_UNFIT = lazy_regex(r"[^a-z0-9]+")


class Review(Protocol):
    """The standing verdict on one failure."""

    @property
    def verdict(self) -> Verdict | None: ...

    @property
    def final(self) -> bool:
        """It counts: read by its reviewer, and seconded where that is needed."""
        ...


class NamedCause(NamedTuple):
    """Failures of one suite whose verdicts name the same cause."""

    suite: str
    owner: str
    keys: list[str]
    """Each spelling, the most frequent first."""
    failures: list[int]
    """Their places in the list of failures."""


def opinions(failures: Sequence[FailureToGroup], read: Iterable[int]) -> list[NamedCause]:
    """The largest first, and of one owner each. Verdicts that name two buckets never mean the same."""
    by_key: dict[tuple[str, str, str], list[int]] = {}
    for at in read:
        by_key.setdefault((failures[at].suite, failures[at].owner, opinion_of(failures[at])), []).append(at)
    ordered = sorted(by_key, key=lambda named: (-len(by_key[named]), *named))
    words = [_cause_words(failures, by_key[named]) for named in ordered]
    weights, space = Weights(words), Space()
    groups: list[NamedCause] = []
    for (suite, owner, key), its_words in zip(ordered, words, strict=True):
        same, vector = by_key[suite, owner, key], weights.vector(its_words)
        near = [(score, -place) for place, score in space.near((suite, owner), vector) if score >= SAME_CAUSE]
        places = [-place for _, place in sorted(near, reverse=True)]
        place = next(
            (one for one in places if not (names_bucket(key) and any(map(names_bucket, groups[one].keys)))), None
        )
        if place is not None:
            groups[place].keys.append(key)
            groups[place].failures.extend(same)
        else:
            place = len(groups)
            groups.append(NamedCause(suite, owner, [key], list(same)))
        space.add((suite, owner), place, vector)
    return groups


def _cause_words(failures: Sequence[FailureToGroup], same: Iterable[int]) -> set[str]:
    verdicts = (failures[at].verdict for at in same)
    return {word for verdict in verdicts if verdict for word in cause_words(verdict)}


def cause_words(verdict: Verdict) -> tuple[str, ...]:
    return words_of(verdict.cause, verdict.bucket.replace("-", " "), verdict.underlying_mistake)


def opinion_of(review: Review) -> str:
    """A key that is equal for verdicts that name the same cause; empty where nobody has read the failure."""
    return key_of(review.verdict) if review.verdict else ""


def key_of(verdict: Verdict) -> str:
    if slug := slug_of(verdict.bucket):
        return f"verdict:{slug}"
    cause = one_line(masked(verdict.cause or verdict.underlying_mistake or verdict.label), 120)
    return f"cause:{verdict.owner}:{cause}"


def is_opinion(key: str) -> bool:
    """A reader's word, and not what a failure shows."""
    return key.startswith(("verdict:", "cause:"))


def names_bucket(key: str) -> bool:
    """A reviewer's name for the bucket, and not only a sentence."""
    return key.startswith("verdict:")


def is_read(review: Review) -> bool:
    """By somebody, for itself."""
    return review.verdict is not None and review.verdict.inherited_from is None


def supports(review: Review, bucket: Bucket) -> bool:
    """Whether its verdict names this bucket as the cause, by its slug now or by one that led there, and its owner."""
    opinion = opinion_of(review)
    named = bool(opinion) and (opinion in bucket.keys or opinion == f"verdict:{slug_of(bucket.slug)}")
    return named and review.verdict is not None and is_owner(review.verdict.owner, bucket)


def agrees(failure: FailureToGroup, bucket: Bucket) -> bool:
    """Whether its verdict names the owner of the bucket that rules put it into, and no other cause."""
    verdict = failure.verdict
    return (
        verdict is not None
        and not verdict.bucket
        and failure.reviewed_cluster in ("", failure.cluster)
        and verdict.owner == bucket.parameters.get("owner")
    )


def is_owner(owner: str, bucket: Bucket) -> bool:
    """Whether a bucket that rules formed is this owner's; what has no known owner, or people formed, is anybody's."""
    return (
        bucket.named_by == "person"
        or bucket.is_of_reviewers
        or bucket.parameters.get("owner") in (None, "", "unknown", owner)
    )


def slug_of(text: str) -> str:
    """Plain letters, digits and hyphens; empty where the text has none."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    slug = _UNFIT.sub("-", plain).strip("-")
    return slug if len(slug) <= SLUG else slug[: SLUG + 1].rpartition("-")[0][:SLUG] or slug[:SLUG]


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
