"""What a verdict says of the cause: the bucket that it names, or else its sentence."""

import re
import unicodedata

from errata.buckets.failing import Failing
from errata.buckets.words import masked, words_of
from errata.model import Bucket, Verdict
from errata.text.clean import one_line

SLUG = 60
_UNFIT = re.compile(r"[^a-z0-9]+")


def slug_of(text: str) -> str:
    """Plain letters, digits and hyphens; empty where the text has none."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    slug = _UNFIT.sub("-", plain).strip("-")
    return slug if len(slug) <= SLUG else slug[: SLUG + 1].rpartition("-")[0][:SLUG] or slug[:SLUG]


def opinion_of(failing: Failing) -> str:
    """A key that is equal for verdicts that name the same cause; empty where nobody has read the failure."""
    return key_of(failing.verdict) if failing.verdict else ""


def key_of(verdict: Verdict) -> str:
    if slug := slug_of(verdict.bucket):
        return f"verdict:{slug}"
    cause = one_line(masked(verdict.cause or verdict.underlying_mistake or verdict.label), 120)
    return f"cause:{verdict.owner}:{cause}"


def is_opinion(key: str) -> bool:
    """A reader's word, and not what a failure shows."""
    return key.startswith(("verdict:", "cause:"))


def supports(failing: Failing, bucket: Bucket) -> bool:
    """Whether its verdict names this bucket as the cause, by its slug now or by one that led there before."""
    opinion = opinion_of(failing)
    return bool(opinion) and (opinion in bucket.keys or opinion == f"verdict:{slug_of(bucket.slug)}")


def cause_words(verdict: Verdict) -> tuple[str, ...]:
    return words_of(verdict.cause, verdict.bucket.replace("-", " "), verdict.underlying_mistake)


def is_read(failing: Failing) -> bool:
    """By somebody, for itself."""
    return failing.verdict is not None and failing.verdict.inherited_from is None
