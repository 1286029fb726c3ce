"""Known gaps: a limitation of a case that somebody has put on record explains why it fails again."""

from collections.abc import Iterator, Mapping

import msgspec

from errata.model import Attempt, SourceRef
from errata.triage.observed import Observed, signal

SHOWN = 8
"""Records that are named one by one."""


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """Where a gap stands on record, and in which words."""

    where: str
    quote: str
    ref: SourceRef | None = None


class Gaps:
    def __init__(self, cases: Mapping[str, tuple[Recorded, ...]] | None = None, *, version: str = "") -> None:
        self.cases = cases or {}
        """By the case's key."""
        self.version = version
        """Changes with the records; empty where there is none."""

    def __bool__(self) -> bool:
        return bool(self.cases)

    def observe(self, attempt: Attempt) -> Iterator[Observed]:
        """Only of what was measured: a gap of the case says nothing about a crash."""
        if attempt.outcome not in ("fail", "partial") or attempt.measurement != "scored":
            return
        for one in self.cases.get(attempt.case, ())[:SHOWN]:
            yield Observed(signal=signal("known_gap", "likely", one.where, one.quote, one.ref), owner="task")
