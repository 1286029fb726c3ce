"""A sample of which only its line in the summaries is left: shortened by Inspect, but with its scores."""

from typing import Any

from msgspec.structs import replace

from errata.model import Attempt, Case, SourceRef
from errata.sources.inspect_ai.samples import Reading, attempt_of, case_of
from errata.sources.shared.values import count, mapping

_FINISHED = ("completed", "completed_at", "scores", "error", "limit")


def from_summary(reading: Reading, summary: dict[str, Any], ref: SourceRef) -> tuple[Attempt, Case]:
    """Error and limit are one text each there. Without a sign of its end the sample was under way."""
    sample = {**summary, **_widened(summary)}
    attempt = attempt_of(reading, sample, ref, count(summary.get("epoch")) or 1)
    if not any(summary.get(name) for name in _FINISHED):
        attempt = replace(attempt, execution="unfinished", measurement="not_run", outcome="none")
    return replace(attempt, extra=attempt.extra | {"read_from": "summary"}), case_of(reading, summary, ref)


def _widened(summary: dict[str, Any]) -> dict[str, Any]:
    error, limit = summary.get("error"), summary.get("limit")
    return {
        "error": {"message": error} if type(error) is str and error else mapping(error),
        "limit": {"type": limit, "reason": summary.get("limit_reason")} if type(limit) is str and limit else {},
    }
