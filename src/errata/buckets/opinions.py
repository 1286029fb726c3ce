"""What verdicts say of the cause: the bucket that they name, or else their sentence; read failures grouped by that."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from errata.buckets.failure import FailureToGroup
from errata.buckets.similarity import Space, Weights, masked, words_of
from errata.model import Bucket, Verdict
from errata.text.clean import one_line

SLUG = 60
SAME_CAUSE = 0.4
"""How alike the sentences of two readers must be who name no bucket, or name it differently."""
_UNFIT = re.compile(r"[^a-z0-9]+")


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
    """The largest first."""
    by_key: dict[tuple[str, str], list[int]] = {}
    for at in read:
        by_key.setdefault((failures[at].suite, opinion_of(failures[at])), []).append(at)
    ordered = sorted(by_key, key=lambda named: (-len(by_key[named]), *named))
    words = [_cause_words(failures, by_key[named]) for named in ordered]
    weights, space = Weights(words), Space()
    groups: list[NamedCause] = []
    for (suite, key), its_words in zip(ordered, words, strict=True):
        same = by_key[suite, key]
        owner, vector = _owner(failures, same), weights.vector(its_words)
        near = [(score, -place) for place, score in space.near((suite, owner), vector) if score >= SAME_CAUSE]
        if near:
            place = -max(near)[1]
            groups[place].keys.append(key)
            groups[place].failures.extend(same)
        else:
            place = len(groups)
            groups.append(NamedCause(suite, owner, [key], list(same)))
        space.add((suite, owner), place, vector)
    return groups


def _owner(failures: Sequence[FailureToGroup], same: Iterable[int]) -> str:
    often = Counter(failures[at].owner for at in same)
    return min(often, key=lambda owner: (-often[owner], owner))


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


def is_read(review: Review) -> bool:
    """By somebody, for itself."""
    return review.verdict is not None and review.verdict.inherited_from is None


def supports(review: Review, bucket: Bucket) -> bool:
    """Whether its verdict names this bucket as the cause, by its slug now or by one that led there before."""
    opinion = opinion_of(review)
    return bool(opinion) and (opinion in bucket.keys or opinion == f"verdict:{slug_of(bucket.slug)}")


def slug_of(text: str) -> str:
    """Plain letters, digits and hyphens; empty where the text has none."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    slug = _UNFIT.sub("-", plain).strip("-")
    return slug if len(slug) <= SLUG else slug[: SLUG + 1].rpartition("-")[0][:SLUG] or slug[:SLUG]
