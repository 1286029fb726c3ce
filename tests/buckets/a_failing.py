"""Failures for the tests of the grouping: only what matters to a test needs to be said."""

from typing import Any

import msgspec

from errata.buckets.failing import Failing
from errata.model import Bucket, FailureKey, Reviewer, Verdict


def a_failing(attempt: str, text: str = "", **changes: Any) -> Failing:
    """A measured failure of the model, in the words of its check."""
    given: dict[str, Any] = {
        "attempt": attempt,
        "case": f"suite/case-{attempt}",
        "suite": "suite",
        "owner": "model",
        "key": FailureKey(exact=f"tests:{text}", coarse="tests"),
        "texts": (text,) if text else (),
    }
    return Failing(**given | changes)


def an_error(attempt: str, message: str, **changes: Any) -> Failing:
    """Something broke, and nobody's rule knows what."""
    kind = changes.pop("kind", "RuntimeError")
    key = FailureKey(exact=f"subject:{kind}:{message}", coarse=f"subject:{kind}")
    return a_failing(attempt, message, **{"owner": "unknown", "key": key} | changes)


def a_verdict(attempt: str, bucket: str = "", cause: str = "", **changes: Any) -> Verdict:
    given: dict[str, Any] = {
        "id": f"verdict of {attempt}",
        "attempt": attempt,
        "taxonomy": "owners",
        "label": "model",
        "owner": "model",
        "cause": cause or f"because of {bucket}",
        "bucket": bucket,
        "confidence": "certain",
        "reviewer": Reviewer(kind="person", name="ada"),
    }
    return Verdict(**given | changes)


def read_as(failing: Failing, bucket: str = "", cause: str = "", *, final: bool = True, **changes: Any) -> Failing:
    """The same failure after somebody has read it."""
    verdict = a_verdict(failing.attempt, bucket, cause, **{"owner": failing.owner} | changes)
    return msgspec.structs.replace(failing, verdict=verdict, owner=verdict.owner, final=final)


def members(bucket: Bucket) -> set[str]:
    return {member.attempt for member in bucket.members}


def together(buckets: list[Bucket]) -> set[frozenset[str]]:
    """Who is with whom, whatever the buckets are called."""
    return {frozenset(members(bucket)) for bucket in buckets if bucket.members}


def bucket_with(attempt: str, buckets: list[Bucket]) -> Bucket:
    (found,) = [bucket for bucket in buckets if attempt in members(bucket)]
    return found
