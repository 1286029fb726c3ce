"""Checks without a value in attempts that others measured: their scorer broke, or their metric is NaN."""

from collections import Counter
from dataclasses import dataclass, field

from errata.model import Attempt, Check, SourceRef

MOST_NAMES = 1_000
VALUELESS = ("error", "unscored")


@dataclass
class CheckGaps:
    asked: Counter[str] = field(default_factory=Counter)
    """Check → attempts that it was asked about."""
    empty: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[str, SourceRef | None]] = field(default_factory=dict)
    """Check → the text of the first empty result, and its place."""

    def add(self, attempt: Attempt) -> None:
        if attempt.measurement != "scored" or attempt.execution != "completed":
            return
        for check in attempt.checks:
            if check.name in self.asked or len(self.asked) < MOST_NAMES:
                self.asked[check.name] += 1
                if check.status in VALUELESS and not _has_number(check):
                    self.empty[check.name] += 1
                    self.first.setdefault(check.name, _text_and_place(check, attempt))


def _has_number(check: Check) -> bool:
    """A measured number without a pass rule is a value."""
    value = check.value
    return check.status == "unscored" and isinstance(value, (int, float)) and value == value


def _text_and_place(check: Check, attempt: Attempt) -> tuple[str, SourceRef | None]:
    if check.error is not None:
        return check.error.message or check.error.type, check.error.ref or check.ref
    return check.explanation, check.ref or attempt.ref
