"""Assertions that ask nothing of an answer, but set a limit: what a call may cost, and how long it may take."""

from collections.abc import Sequence

from errata.model import Check, Limit
from errata.model.words import CheckKind

_LIMITS = {"cost": "cost", "latency": "time", "trace-span-duration": "time"}
_MILLISECONDS = 1000


def check_kind(assertion_type: str) -> CheckKind:
    return "limit" if assertion_type in _LIMITS else "assertion"


def only_limits(failed: Sequence[Check]) -> bool:
    return bool(failed) and all(check.kind == "limit" for check in failed)


def limit_of(checks: Sequence[Check]) -> Limit | None:
    """The limit that was missed, where everything that was asked of the answer itself held."""
    if not only_limits([check for check in checks if check.failed]):
        return None
    missed = next((check for check in checks if check.status == "fail" and check.scorer in _LIMITS), None)
    if missed is None:
        return None
    kind, value = _LIMITS[missed.scorer], missed.threshold
    if kind == "time" and value is not None:
        value /= _MILLISECONDS
    return Limit(type=kind, value=value, reason=missed.explanation)
