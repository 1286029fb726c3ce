"""Failures in reports that show nothing about a case: infrastructure, and runs that did not work at all."""

from errata.memory.spelling import folded
from errata.model.prior_report import PriorFailure, PriorReport
from errata.text.lazy_regex import lazy_regex

_OWNERS = frozenset(("provider", "environment", "harness", "simulator", "collateral"))
# some call a failure of the provider or of the set-up a known gap, for want of another word; it is none of the case
_WORDS = lazy_regex(
    r"(?i)\b(?:infra\w*|provider|endpoint|rate[ -]?limit\w*|timed? ?out|network|connection|quota|unavailable|sandbox)\b"
)
_LABEL = lazy_regex(r"^(?:infra|provider|environment|harness|time-?out|unavailable|not-measured|flak)")
_NO_STEP = frozenset(("none", "null", "n-a", "install"))
FEWEST = 3
"""Failures of a run where nothing passed that are enough to call it broken."""


def is_infrastructure(failure: PriorFailure | None) -> bool:
    if failure is None:
        return False
    by_words = folded(failure.failed_check) in _NO_STEP or _WORDS.search(failure.reasoning) is not None
    return failure.owner in _OWNERS or _LABEL.match(folded(failure.label)) is not None or by_words


def is_broken_run(report: PriorReport) -> bool:
    """Nothing passed, and no failure is one of the model's work."""
    failures = report.failures
    if report.total is None or report.passed or len(failures) < min(FEWEST, report.total):
        return False
    return all(is_infrastructure(one) or not one.failed_check for one in failures)


def measured_failures(report: PriorReport) -> tuple[PriorFailure, ...]:
    """Those that show something about their cases."""
    if is_broken_run(report):
        return ()
    return tuple(one for one in report.failures if not _is_only_infrastructure(one))


def _is_only_infrastructure(failure: PriorFailure) -> bool:
    """By owner, label or step; words in a reasoning alone may be about anything."""
    return (
        failure.owner in _OWNERS
        or _LABEL.match(folded(failure.label)) is not None
        or folded(failure.failed_check) in ("none", "null")
    )
