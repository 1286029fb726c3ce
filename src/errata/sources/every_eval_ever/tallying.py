"""What the attempts of a run come to: a first pass, in which is decided which numbers are written."""

from collections import Counter

from errata.model import Attempt, Check, Run

OUTCOME = "outcome"


class Tally:
    """The values of one number, without keeping them."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.lowest, self.highest = float("inf"), float("-inf")
        self.is_binary = True

    def add(self, value: float) -> None:
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
            self.main.add(score_of(attempt))
        for check in attempt.checks:
            value = value_of(check)
            if value is not None and not check.is_primary and check.name != self.primary:
                self._checks.setdefault(check.name, Tally()).add(value)

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


def score_of(attempt: Attempt) -> float:
    return float(attempt.outcome == "pass") if attempt.reported is None else attempt.reported


def value_of(check: Check) -> float | None:
    return float(check.value) if isinstance(check.value, bool | int | float) else None
