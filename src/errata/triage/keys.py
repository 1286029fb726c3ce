"""Failure keys: an exact and a coarse fingerprint, so that a thousand identical crashes are one thing to look at."""

from errata.model import Attempt, ErrorInfo, FailureKey
from errata.text.clean import one_line
from errata.text.mask import mask

LONGEST = 160


def failure_key(attempt: Attempt) -> FailureKey:
    """By the first error that was not recovered; else by the checks that failed and the shape of their reasons."""
    error = next((error for error in attempt.errors if not error.recovered), None)
    if error is not None and attempt.outcome != "fail":
        return _of_error(error)
    failed = [check for check in attempt.checks if check.failed or check.status in ("error", "unscored")]
    if not failed:
        told = mask(attempt.native_status) or attempt.outcome
        word = f"{attempt.execution}:{attempt.measurement}"
        return FailureKey(exact=one_line(f"{word}:{told}", LONGEST), coarse=word)
    names = "+".join(sorted(check.name for check in failed))
    reason = next((check.explanation for check in failed if check.explanation), "")
    if not reason and attempt.judgements:
        reason = attempt.judgements[0].reasoning
    shape = mask(reason) if reason else attempt.native_status
    return FailureKey(exact=one_line(f"{names}:{shape}", LONGEST), coarse=names)


def _of_error(error: ErrorInfo) -> FailureKey:
    shape = error.template or mask(error.message, strings=False)
    frame = f"@{mask(error.frame)}" if error.frame else ""
    coarse = f"{error.phase}:{error.type or shape.split(':')[0]}"
    return FailureKey(
        exact=one_line(f"{error.phase}:{error.type}:{shape}{frame}", LONGEST), coarse=one_line(coarse, 80)
    )
