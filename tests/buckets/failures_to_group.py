"""Failures for the tests of the grouping: only what matters to a test needs to be said."""

from typing import Any

import msgspec

from errata.buckets.failure import FailureToGroup
from errata.buckets.suggest import Suggestion
from errata.model import Bucket, FailureKey, Reviewer, Verdict


def a_failing(attempt: str, text: str = "", **changes: Any) -> FailureToGroup:
    """A measured failure of the model, in the words of its check."""
    given: dict[str, Any] = {
        "attempt": attempt,
        "case": f"suite/case-{attempt}",
        "suite": "suite",
        "owner": "model",
        "key": FailureKey(exact=f"tests:{text}", coarse="tests"),
        "texts": (text,) if text else (),
    }
    return FailureToGroup(**given | changes)


def an_error(attempt: str, message: str, **changes: Any) -> FailureToGroup:
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


def read_as(
    failing: FailureToGroup, bucket: str = "", cause: str = "", *, final: bool = True, **changes: Any
) -> FailureToGroup:
    """The same failure after somebody has read it."""
    verdict = a_verdict(failing.attempt, bucket, cause, **{"owner": failing.owner} | changes)
    rule_owner = failing.rule_owner or failing.owner
    return msgspec.structs.replace(failing, verdict=verdict, owner=verdict.owner, rule_owner=rule_owner, final=final)


def members(bucket: Bucket, suggestion: Suggestion) -> set[str]:
    return {attempt for attempt, place in suggestion.places.items() if place == bucket.id}


def together(suggestion: Suggestion) -> set[frozenset[str]]:
    """Who is with whom, whatever the buckets are called."""
    return {frozenset(found) for bucket in suggestion.buckets if (found := members(bucket, suggestion))}


def bucket_with(attempt: str, suggestion: Suggestion) -> Bucket:
    (found,) = [bucket for bucket in suggestion.buckets if bucket.id == suggestion.places[attempt]]
    return found
