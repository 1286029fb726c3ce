"""What the attempts of a run come to: a first pass, in which is decided which numbers are written."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from errata.model import Attempt, Check, Run

OUTCOME = "outcome"


class Tally:
    """The values of one number, without keeping them."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.lowest, self.highest = float("inf"), float("-inf")
        self.is_binary = True
        self.is_averaged = False
        """Whether some attempts have several values of it, of several judges, which are one by their mean."""

    def add(self, value: float, *, of: int = 1) -> None:
        self.is_averaged = self.is_averaged or of > 1
        self.count += 1
        self.total += value
        self.lowest, self.highest = min(self.lowest, value), max(self.highest, value)
        self.is_binary = self.is_binary and value in (0, 1)

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.count else None


class Tallies:
    """Of a run: its headline, and each check that is made of most attempts and has a number."""

    def __init__(self, run: Run) -> None:
        self.headline = next((one for one in run.reported if one.headline), None)
        self.main = Tally()
        self._graded = Tally()
        self.losses: Counter[str] = Counter()
        self._attempts = 0
        self._checks: dict[str, Tally] = {}
        self._scorers = {one.name for one in run.scorers}

    @property
    def primary(self) -> str:
        return self.headline.name if self.headline and self.headline.name else OUTCOME

    def add(self, attempt: Attempt) -> None:
        self._attempts += 1
        if self.counts(attempt):
            self.main.add(self.score_of(attempt))
            if attempt.reported is not None:
                self._graded.add(attempt.reported)
        for name, checks in self.checks_of(attempt).items():
            self._checks.setdefault(name, Tally()).add(mean_of(checks), of=len(checks))

    def checks_of(self, attempt: Attempt) -> dict[str, list[Check]]:
        """Those with a number, by their name; the headline's own is told by it."""
        found: dict[str, list[Check]] = {}
        for check in attempt.checks:
            if value_of(check) is not None and not check.is_primary and check.name != self.primary:
                found.setdefault(check.name, []).append(check)
        return found

    def score_of(self, attempt: Attempt) -> float:
        """What the main number is made of: passes where it is a pass rate, whatever else the attempt was given."""
        if attempt.reported is None or self._is_rate:
            return float(attempt.outcome == "pass")
        return attempt.reported

    @property
    def _is_rate(self) -> bool:
        return self.headline is not None and self.headline.metric == "pass_rate"

    @property
    def graded(self) -> tuple[str, Tally] | None:
        """The values beside a pass rate, which are more than passed or not, and what they are called."""
        if not self._is_rate or self._graded.is_binary or self.headline is None:
            return None
        return self.headline.scorer or "score", self._graded

    def counts(self, attempt: Attempt) -> bool:
        """Whether the harness's own number takes this attempt in; where it gives none, whether it was measured."""
        if self.headline is not None and attempt.reported_counted is not None:
            return attempt.reported_counted
        return attempt.measurement == "scored" and attempt.outcome != "none"

    @property
    def measures(self) -> dict[str, Tally]:
        """A check of a few cases only, such as a test of one task, is no number of the run."""
        return {
            name: tally
            for name, tally in self._checks.items()
            if name in self._scorers or 2 * tally.count > self._attempts
        }


def mean_of(checks: Sequence[Check]) -> float:
    return fmean(value for check in checks if (value := value_of(check)) is not None)


def value_of(check: Check) -> float | None:
    return float(check.value) if isinstance(check.value, bool | int | float) else None
