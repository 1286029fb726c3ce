"""A verdict taken over by identical failures: only where an exception or the machinery speaks, never for an opinion."""

from collections.abc import Iterable, Iterator

import msgspec

from errata.model import Attribution, Verdict
from errata.model.identity import fingerprint
from errata.model.words import Owner

MACHINERY: frozenset[Owner] = frozenset(("provider", "environment", "harness", "simulator", "collateral"))
"""What a model, a grader or a task did has to be read in each case."""


def may_be_inherited(verdict: Verdict, attribution: Attribution) -> bool:
    """The verdict names the machinery, triage does too, and the key holds the error itself."""
    return (
        verdict.inherited_from is None
        and not verdict.needs_second
        and verdict.owner in MACHINERY
        and passes_on(attribution)
    )


def passes_on(attribution: Attribution) -> bool:
    """Whether a verdict on this failure may go for others, before it is known."""
    return attribution.owner in MACHINERY and _has_an_error(attribution)


def inherited(verdict: Verdict, source: Attribution, others: Iterable[Attribution], *, at: str) -> Iterator[Verdict]:
    """For each other failure of the same exact key and owner, without what was copied from the one that was read."""
    if not may_be_inherited(verdict, source):
        return
    for other in others:
        same = other.failure_key.exact == source.failure_key.exact and other.owner == source.owner
        if same and other.attempt != verdict.attempt and _has_an_error(other):
            yield msgspec.structs.replace(
                verdict,
                id=fingerprint(verdict.id, other.attempt),
                attempt=other.attempt,
                inherited_from=verdict.id,
                supersedes=None,
                usage=None,
                decisive_step=None,
                error_line="",
                model_snippet="",
                expected_snippet="",
                fix=None,
                evidence=(),
                at=at,
            )


def _has_an_error(attribution: Attribution) -> bool:
    """The key of an error begins with its phase; that of a measured failure with the names of its checks."""
    return any(signal.where.startswith(("errors[", "checks[")) and signal.quote for signal in attribution.signals) and (
        attribution.failure_key.exact.partition(":")[0] in _PHASES
    )


_PHASES = frozenset(("setup", "subject", "tool", "environment", "simulator", "scoring", "aggregation"))
