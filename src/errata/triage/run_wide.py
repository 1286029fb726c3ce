"""Signals that only a whole run shows: an unavailable subject, and one crash that drags others along."""

import re
from collections import Counter
from collections.abc import Iterable

from errata.model import Attempt, Signal
from errata.text.mask import mask
from errata.triage.facts import Observed

FEW = 3
# what a crash leaves behind, for the next attempts to stumble over
_LEFT_OVER = re.compile(
    r"already exists|file exists|index\.lock|already in use|already checked out|is locked|lock file|left over"
    r"|not clean",
    re.IGNORECASE,
)


class RunWide:
    """What a first pass over a run's failures has found."""

    def __init__(self) -> None:
        self.unavailable = ""
        """The one error that every attempt ended in."""
        self.roots: dict[str, str] = {}
        """Shape of the followers' error → id of the attempt that crashed first."""

    def observe(self, attempt: Attempt) -> Iterable[Observed]:
        if not attempt.errors:
            return
        message = attempt.errors[0].message
        if self.unavailable and message == self.unavailable:
            yield _observed(attempt, "unavailable_run", "every attempt of the run ended in this error: ")
        root = self.roots.get(mask(message))
        if root is not None and root != attempt.id:
            quote = f"after {root.rpartition('/')[2]}: {message}"
            signal = Signal(
                name="cascade", rule="cascade", where="errors[0].message", quote=quote[:240], strength="certain",
                ref=attempt.errors[0].ref,
            )  # fmt: skip
            yield Observed(signal=signal, owner="collateral", also=("harness",))


def look_over(failures: Iterable[Attempt], *, made: int | None = None) -> RunWide:
    """One pass over the failures. `made` is how many attempts the run has in all; by default these are all."""
    found = RunWide()
    rows = served = 0
    messages: Counter[str] = Counter()
    crashes: list[tuple[str, str, str]] = []
    for attempt in failures:
        if not attempt.counted or attempt.execution == "missing":
            continue
        rows += 1
        served += bool(attempt.usage.subject.tokens) or attempt.outcome != "none"
        if attempt.errors:
            error = attempt.errors[0]
            messages[error.message] += 1
            crashes.append((error.at or attempt.started_at or "", attempt.id, mask(error.message)))
    all_failed = made is None or rows == made
    if all_failed and rows >= FEW and not served and len(messages) == 1 and messages.total() == rows:
        found.unavailable = next(iter(messages))
    found.roots = _roots(crashes)
    return found


def _roots(crashes: list[tuple[str, str, str]]) -> dict[str, str]:
    """Many crashes of one shape that speaks of left-overs, and exactly one other crash before them all."""
    shapes = Counter(shape for _, _, shape in crashes)
    roots = {}
    for shape, often in shapes.items():
        if often < FEW or not _LEFT_OVER.search(shape):
            continue
        others = sorted(crash for crash in crashes if crash[2] != shape)
        first = min((crash for crash in crashes if crash[2] == shape), default=None)
        before = [crash for crash in others if first is not None and crash[0] <= first[0]]
        if before:
            roots[shape] = before[-1][1]
    return roots


def _observed(attempt: Attempt, name: str, told: str) -> Observed:
    error = attempt.errors[0]
    signal = Signal(
        name=name,
        rule=name,
        where="errors[0].message",
        quote=f"{told}{error.message}"[:240],
        strength="certain",
        ref=error.ref,
    )
    return Observed(signal=signal, owner="provider")
