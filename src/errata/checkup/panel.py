"""Several judges of the same attempts: how far they say the same, counted in one pass."""

from collections.abc import Iterator
from dataclasses import dataclass

from errata.model import Attempt


@dataclass
class Panel:
    shared: int = 0
    """Attempts with the word of two judges or more."""
    disputed: int = 0
    passes: int = 0
    fails: int = 0
    apart: float = 0.0

    def add(self, attempt: Attempt) -> None:
        verdicts = list(_verdicts(attempt))
        if len(verdicts) < 2:
            return
        passed, failed = verdicts.count(True), verdicts.count(False)
        self.shared += 1
        self.disputed += bool(passed and failed)
        self.passes += passed
        self.fails += failed
        self.apart += 2 * passed * failed / (len(verdicts) - 1)

    @property
    def alpha(self) -> float | None:
        """Krippendorff's, for two words; None where all say one word, so that chance would agree everywhere."""
        votes = self.passes + self.fails
        by_chance = 2 * self.passes * self.fails
        return 1 - (votes - 1) * self.apart / by_chance if by_chance else None


def _verdicts(attempt: Attempt) -> Iterator[bool]:
    """A judge's word on the whole; where none gives one, whether it passed all that two judges were asked."""
    whole = [one.passed for one in attempt.judgements if one.valid and one.passed is not None]
    if whole:
        yield from whole
        return
    asked: dict[str, dict[str, bool]] = {}
    for check in attempt.checks:
        if check.judge and check.status in ("pass", "fail"):
            asked.setdefault(check.name, {})[check.judge] = check.status == "pass"
    shared = [said for said in asked.values() if len(said) > 1]
    for judge in sorted({judge for said in shared for judge in said}):
        yield all(said.get(judge, True) for said in shared)
